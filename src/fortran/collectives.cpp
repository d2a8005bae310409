// Teams and collectives. The dummy arguments of collectives are declared contiguous, so the compiler packs
// buffers that are not.

#include <fmt/format.h>

#include <cstddef>

#include "fortran/calls.hpp"
#include "fortran/numbers.hpp"
#include "fortran/outcome.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma::fortran {
namespace {

/// Returns the number of elements of a contiguous array.
Result<std::size_t> elements(const CFI_cdesc_t& array, const char* name) {
  std::size_t total = 1;
  for (int d = 0; d < array.rank; ++d) {
    if (array.dim[d].extent < 0) {
      return Status(RMA_ERR_ARGUMENT,
                    fmt::format("{} has an assumed size: pass a section that says where it ends", name));
    }
    total *= static_cast<std::size_t>(array.dim[d].extent);
  }
  return total;
}

/// Checks the buffers and calls `reduce(dst, src, count, type)`. If `src` is null, `dst` holds the input.
template <typename Reduce>
Status reduction(const CFI_cdesc_t& dst, const CFI_cdesc_t* src, const Reduce& reduce) {
  const CFI_cdesc_t& from = src != nullptr ? *src : dst;
  RMA_TRY_ASSIGN(count, elements(dst, "dst"));
  RMA_TRY_ASSIGN(given, elements(from, "src"));
  if (count != given) {
    return {RMA_ERR_SIZE, fmt::format("dst has {} elements, src {}: expected as many", count, given)};
  }
  RMA_TRY(check_same_type(dst.type, dst.elem_len, "dst", from.type, from.elem_len, "src"));
  const auto type = element_type(dst.type);
  if (!type) {
    return {RMA_ERR_ARGUMENT, fmt::format("dst is {}: integer, real and complex of C's kinds can be reduced",
                                          type_name(dst.type, dst.elem_len))};
  }
  return outcome(reduce(dst.base_addr, from.base_addr, count, *type));
}

}  // namespace

rma_status_t create_team(const CFI_cdesc_t& ranks, rma_team_t& team) {
  return rma_team_create(static_cast<const int*>(ranks.base_addr), static_cast<int>(ranks.dim[0].extent),
                         &team);
}

Status broadcast(const CFI_cdesc_t& buffer, int root, rma_team_t team) {
  RMA_TRY_ASSIGN(count, elements(buffer, "buffer"));
  return outcome(rma_broadcast(team, buffer.base_addr, count * buffer.elem_len, root));
}

Status reduce(const CFI_cdesc_t& dst, const CFI_cdesc_t* src, int op, int root, rma_team_t team) {
  return reduction(dst, src, [&](void* to, const void* from, std::size_t count, rma_type_t type) {
    return rma_reduce(team, to, from, count, type, static_cast<rma_reduction_t>(op), root);
  });
}

Status allreduce(const CFI_cdesc_t& dst, const CFI_cdesc_t* src, int op, rma_team_t team) {
  return reduction(dst, src, [&](void* to, const void* from, std::size_t count, rma_type_t type) {
    return rma_allreduce(team, to, from, count, type, static_cast<rma_reduction_t>(op));
  });
}

Status allgather(const CFI_cdesc_t& dst, const CFI_cdesc_t& src, rma_team_t team) {
  RMA_TRY_ASSIGN(room, elements(dst, "dst"));
  RMA_TRY_ASSIGN(given, elements(src, "src"));
  RMA_TRY(check_same_type(dst.type, dst.elem_len, "dst", src.type, src.elem_len, "src"));
  int size = 0;
  RMA_TRY(outcome(rma_team_info(team, nullptr, &size)));
  if (room != given * static_cast<std::size_t>(size)) {
    return {RMA_ERR_SIZE,
            fmt::format("dst has {} elements: expected {}, those of src once for each of {} members", room,
                        given * static_cast<std::size_t>(size), size)};
  }
  return outcome(rma_allgather(team, dst.base_addr, src.base_addr, given * src.elem_len));
}

}  // namespace librma::fortran
