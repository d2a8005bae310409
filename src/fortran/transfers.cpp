// Put, get and put with notification. The descriptors of both sides become the levels of a strided transfer.

#include <utility>

#include "fortran/array.hpp"
#include "fortran/correspondence.hpp"
#include "fortran/numbers.hpp"
#include "fortran/outcome.hpp"
#include "util/try.hpp"

namespace rma::fortran {
namespace {

/// Computes the levels and calls `transfer(dst, src, levels)`.
template <typename Transfer>
Status moved(Result<Side> dst, Result<Side> src, const Transfer& transfer) {
  if (!dst.ok()) return std::move(dst).status();
  if (!src.ok()) return std::move(src).status();
  auto levels = correspond(dst.value(), src.value());
  if (!levels.ok()) return std::move(levels).status();
  return outcome(transfer(dst.value().base, src.value().base, levels.value()));
}

/// Calls the contiguous or the strided form. `rest` holds the last arguments, which both forms have.
template <typename Contiguous, typename Strided, typename... Rest>
auto either(Contiguous contiguous, Strided strided, Rest... rest) {
  return [=](std::byte* dst, std::byte* src, const Levels& shape) {
    if (shape.levels == 0) return contiguous(dst, src, shape.counts[0], rest...);
    return strided(dst, shape.dst_strides.data(), src, shape.src_strides.data(), shape.counts.data(),
                   shape.levels, rest...);
  };
}

/// Checks the flag of a put with notification.
Status check_flag(const RemoteArray& flag, int rank) {
  RMA_TRY(flag.check("flag"));
  if (flag.type != CFI_type_int64_t || flag.bytes() != sizeof(std::uint64_t) || flag.rank != rank) {
    return {RMA_ERR_ARGUMENT, "flag has to be one integer of 8 bytes in the memory of dst's rank"};
  }
  return {};
}

Status put_notify(const RemoteArray& dst, const CFI_cdesc_t& src, const RemoteArray& flag,
                  const CFI_cdesc_t& value) {
  RMA_TRY(check_flag(flag, dst.rank));
  auto number = integer(value, "value");
  if (!number.ok()) return std::move(number).status();
  return moved(remote_side(dst, "dst"), local_side(src, "src"),
               either(rma_put_notify, rma_put_strided_notify, reinterpret_cast<std::uint64_t*>(flag.address),
                      static_cast<std::uint64_t>(number.value()), static_cast<int>(dst.rank)));
}

}  // namespace
}  // namespace rma::fortran

using rma::fortran::conclude;
using rma::fortran::either;
using rma::fortran::local_side;
using rma::fortran::moved;
using rma::fortran::remote_side;
using rma::fortran::RemoteArray;

extern "C" {

void rma_fortran_put(const RemoteArray* dst, const CFI_cdesc_t* src, int* stat, CFI_cdesc_t* errmsg) {
  conclude("rma_put",
           moved(remote_side(*dst, "dst"), local_side(*src, "src"),
                 either(rma_put, rma_put_strided, static_cast<int>(dst->rank))),
           {stat, errmsg});
}

void rma_fortran_put_nb(const RemoteArray* dst, const CFI_cdesc_t* src, rma_request_t* request, int* stat,
                        CFI_cdesc_t* errmsg) {
  *request = RMA_REQUEST_NULL;
  conclude("rma_put_nb",
           moved(remote_side(*dst, "dst"), local_side(*src, "src"),
                 either(rma_put_nb, rma_put_strided_nb, static_cast<int>(dst->rank), request)),
           {stat, errmsg});
}

void rma_fortran_put_nbi(const RemoteArray* dst, const CFI_cdesc_t* src, int* stat, CFI_cdesc_t* errmsg) {
  conclude("rma_put_nbi",
           moved(remote_side(*dst, "dst"), local_side(*src, "src"),
                 either(rma_put_nbi, rma_put_strided_nbi, static_cast<int>(dst->rank))),
           {stat, errmsg});
}

void rma_fortran_get(const CFI_cdesc_t* dst, const RemoteArray* src, int* stat, CFI_cdesc_t* errmsg) {
  conclude("rma_get",
           moved(local_side(*dst, "dst"), remote_side(*src, "src"),
                 either(rma_get, rma_get_strided, static_cast<int>(src->rank))),
           {stat, errmsg});
}

void rma_fortran_get_nb(const CFI_cdesc_t* dst, const RemoteArray* src, rma_request_t* request, int* stat,
                        CFI_cdesc_t* errmsg) {
  *request = RMA_REQUEST_NULL;
  conclude("rma_get_nb",
           moved(local_side(*dst, "dst"), remote_side(*src, "src"),
                 either(rma_get_nb, rma_get_strided_nb, static_cast<int>(src->rank), request)),
           {stat, errmsg});
}

void rma_fortran_get_nbi(const CFI_cdesc_t* dst, const RemoteArray* src, int* stat, CFI_cdesc_t* errmsg) {
  conclude("rma_get_nbi",
           moved(local_side(*dst, "dst"), remote_side(*src, "src"),
                 either(rma_get_nbi, rma_get_strided_nbi, static_cast<int>(src->rank))),
           {stat, errmsg});
}

void rma_fortran_put_notify(const RemoteArray* dst, const CFI_cdesc_t* src, const RemoteArray* flag,
                            const CFI_cdesc_t* value, int* stat, CFI_cdesc_t* errmsg) {
  conclude("rma_put_notify", rma::fortran::put_notify(*dst, *src, *flag, *value), {stat, errmsg});
}

}  // extern "C"
