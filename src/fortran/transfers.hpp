// Put, get and accumulate. Each function gets the forms of rma.h for the call (the blocking one, or one of
// those that do not block), and `rest`, the arguments that such a form has behind the rank.
#pragma once

#include <ISO_Fortran_binding.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "fortran/array.hpp"
#include "fortran/correspondence.hpp"
#include "fortran/numbers.hpp"
#include "fortran/outcome.hpp"
#include "util/status.hpp"
#include "util/try_assign.hpp"

namespace librma::fortran {

/// Calls `contiguous(dst, src, bytes, rest...)`, or the strided form if one of the sides has gaps.
template <typename Contiguous, typename Strided, typename... Rest>
Status transfer(Result<Side> found_dst, Result<Side> found_src, Contiguous contiguous, Strided strided,
                Rest... rest) {
  RMA_TRY_ASSIGN(dst, std::move(found_dst));
  RMA_TRY_ASSIGN(src, std::move(found_src));
  RMA_TRY_ASSIGN(shape, correspond(dst, src));
  if (shape.levels == 0) return outcome(contiguous(dst.base, src.base, shape.counts[0], rest...));
  return outcome(strided(dst.base, shape.dst_strides.data(), src.base, shape.src_strides.data(),
                         shape.counts.data(), shape.levels, rest...));
}

template <typename Contiguous, typename Strided, typename... Rest>
Status put(const RemoteArray& dst, const CFI_cdesc_t& src, Contiguous contiguous, Strided strided,
           Rest... rest) {
  return transfer(remote_side(dst, "dst"), local_side(src, "src"), contiguous, strided,
                  static_cast<int>(dst.rank), rest...);
}

template <typename Contiguous, typename Strided, typename... Rest>
Status get(const CFI_cdesc_t& dst, const RemoteArray& src, Contiguous contiguous, Strided strided,
           Rest... rest) {
  return transfer(local_side(dst, "dst"), remote_side(src, "src"), contiguous, strided,
                  static_cast<int>(src.rank), rest...);
}

template <typename Contiguous, typename Strided, typename... Rest>
Status accumulate(const RemoteArray& dst, const CFI_cdesc_t& src, const CFI_cdesc_t* scale,
                  Contiguous contiguous, Strided strided, Rest... rest) {
  RMA_TRY_ASSIGN(type, addend_type(src, scale));
  const auto of_elements = [&](void* to, const void* from, std::size_t bytes, auto... last) {
    return contiguous(to, from, bytes / src.elem_len, last...);
  };
  const void* const factor = scale != nullptr ? scale->base_addr : nullptr;
  return transfer(remote_side(dst, "dst"), local_side(src, "src"), of_elements, strided, type, factor,
                  static_cast<int>(dst.rank), rest...);
}

/// Puts `src`, then stores `value` into `flag`.
[[nodiscard]] Status put_notify(const RemoteArray& dst, const CFI_cdesc_t& src, const RemoteArray& flag,
                                const CFI_cdesc_t& value);

/// The addresses of a vector transfer's elements. Those of the remote side are addresses of the rank.
struct Elements {
  std::vector<void*> remote;
  std::vector<void*> local;
  std::size_t bytes = 0;  ///< of each
  int rank = 0;
};

/// Returns the elements of both sides: `subscripts` names those of the remote one. The names are those of the
/// dummy arguments.
[[nodiscard]] Result<Elements> pair_up(const RemoteArray& remote, const CFI_cdesc_t& subscripts,
                                       const CFI_cdesc_t& local, const char* remote_name,
                                       const char* local_name);

template <typename Form, typename... Rest>
Status put_elements(const RemoteArray& dst, const CFI_cdesc_t& subscripts, const CFI_cdesc_t& src, Form form,
                    Rest... rest) {
  RMA_TRY_ASSIGN(all, pair_up(dst, subscripts, src, "dst", "src"));
  const rma_iov_t iov = {all.remote.data(), all.local.data(), all.remote.size(), all.bytes};
  return outcome(form(&iov, 1, all.rank, rest...));
}

template <typename Form, typename... Rest>
Status get_elements(const CFI_cdesc_t& dst, const RemoteArray& src, const CFI_cdesc_t& subscripts, Form form,
                    Rest... rest) {
  RMA_TRY_ASSIGN(all, pair_up(src, subscripts, dst, "src", "dst"));
  const rma_iov_t iov = {all.local.data(), all.remote.data(), all.remote.size(), all.bytes};
  return outcome(form(&iov, 1, all.rank, rest...));
}

template <typename Form, typename... Rest>
Status accumulate_elements(const RemoteArray& dst, const CFI_cdesc_t& subscripts, const CFI_cdesc_t& src,
                           const CFI_cdesc_t* scale, Form form, Rest... rest) {
  RMA_TRY_ASSIGN(type, addend_type(src, scale));
  const auto bound = [&](const rma_iov_t* iov, std::size_t count, int rank) {
    return form(iov, count, type, scale != nullptr ? scale->base_addr : nullptr, rank, rest...);
  };
  return put_elements(dst, subscripts, src, bound);
}

}  // namespace librma::fortran
