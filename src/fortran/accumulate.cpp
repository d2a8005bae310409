// Accumulate. It works as put does, for elements of types that can be added.

#include <utility>

#include "fortran/array.hpp"
#include "fortran/correspondence.hpp"
#include "fortran/numbers.hpp"
#include "fortran/outcome.hpp"

namespace rma::fortran {
namespace {

/// Calls one of the forms of rma_acc and rma_acc_strided. `rest` holds the arguments after the rank.
template <typename Contiguous, typename Strided, typename... Rest>
Status accumulate(const RemoteArray& to, const CFI_cdesc_t& from, const CFI_cdesc_t* scale,
                  Contiguous contiguous, Strided strided, Rest... rest) {
  auto dst = remote_side(to, "dst");
  if (!dst.ok()) return std::move(dst).status();
  auto src = local_side(from, "src");
  if (!src.ok()) return std::move(src).status();
  auto type = addend_type(from, scale);
  if (!type.ok()) return std::move(type).status();
  auto levels = correspond(dst.value(), src.value());
  if (!levels.ok()) return std::move(levels).status();
  const void* const factor = scale != nullptr ? scale->base_addr : nullptr;
  const int rank = to.rank;
  const Levels& shape = levels.value();
  if (shape.levels == 0) {
    return outcome(contiguous(dst->base, src->base, shape.counts[0] / src->element_bytes, type.value(),
                              factor, rank, rest...));
  }
  return outcome(strided(dst->base, shape.dst_strides.data(), src->base, shape.src_strides.data(),
                         shape.counts.data(), shape.levels, type.value(), factor, rank, rest...));
}

}  // namespace
}  // namespace rma::fortran

using rma::fortran::accumulate;
using rma::fortran::conclude;
using rma::fortran::RemoteArray;

extern "C" {

void rma_fortran_acc(const RemoteArray* dst, const CFI_cdesc_t* src, const CFI_cdesc_t* scale, int* stat,
                     CFI_cdesc_t* errmsg) {
  conclude("rma_acc", accumulate(*dst, *src, scale, rma_acc, rma_acc_strided), {stat, errmsg});
}

void rma_fortran_acc_nb(const RemoteArray* dst, const CFI_cdesc_t* src, rma_request_t* request,
                        const CFI_cdesc_t* scale, int* stat, CFI_cdesc_t* errmsg) {
  *request = RMA_REQUEST_NULL;
  conclude("rma_acc_nb", accumulate(*dst, *src, scale, rma_acc_nb, rma_acc_strided_nb, request),
           {stat, errmsg});
}

void rma_fortran_acc_nbi(const RemoteArray* dst, const CFI_cdesc_t* src, const CFI_cdesc_t* scale, int* stat,
                         CFI_cdesc_t* errmsg) {
  conclude("rma_acc_nbi", accumulate(*dst, *src, scale, rma_acc_nbi, rma_acc_strided_nbi), {stat, errmsg});
}

}  // extern "C"
