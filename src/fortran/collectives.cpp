// Collectives. Their dummy arguments are declared contiguous, so the compiler packs buffers that are not.

#include <fmt/format.h>

#include <cstddef>
#include <utility>

#include "fortran/numbers.hpp"
#include "fortran/outcome.hpp"
#include "fortran/team.hpp"
#include "util/try.hpp"

namespace rma::fortran {
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

Status broadcast(const CFI_cdesc_t& buffer, int root, rma_team_t team) {
  auto count = elements(buffer, "buffer");
  if (!count.ok()) return std::move(count).status();
  return outcome(rma_broadcast(team, buffer.base_addr, count.value() * buffer.elem_len, root));
}

/// Checks the buffers and calls `reduce(dst, src, count, type)`. If `src` is null, `dst` holds the input.
template <typename Reduce>
Status reduction(const CFI_cdesc_t& dst, const CFI_cdesc_t* src, const Reduce& reduce) {
  const CFI_cdesc_t& from = src != nullptr ? *src : dst;
  auto count = elements(dst, "dst");
  if (!count.ok()) return std::move(count).status();
  auto given = elements(from, "src");
  if (!given.ok()) return std::move(given).status();
  if (count.value() != given.value()) {
    return {RMA_ERR_SIZE,
            fmt::format("dst has {} elements, src {}: expected as many", count.value(), given.value())};
  }
  Status same = check_same_type(dst.type, dst.elem_len, "dst", from.type, from.elem_len, "src");
  if (!same.ok()) return same;
  const auto type = element_type(dst.type);
  if (!type) {
    return {RMA_ERR_ARGUMENT, fmt::format("dst is {}: integer, real and complex of C's kinds can be reduced",
                                          type_name(dst.type, dst.elem_len))};
  }
  return outcome(reduce(dst.base_addr, from.base_addr, count.value(), *type));
}

Status allgather(const CFI_cdesc_t& dst, const CFI_cdesc_t& src, rma_team_t team) {
  auto room = elements(dst, "dst");
  if (!room.ok()) return std::move(room).status();
  auto given = elements(src, "src");
  if (!given.ok()) return std::move(given).status();
  Status same = check_same_type(dst.type, dst.elem_len, "dst", src.type, src.elem_len, "src");
  if (!same.ok()) return same;
  int size = 0;
  RMA_TRY(outcome(rma_team_info(team, nullptr, &size)));
  if (room.value() != given.value() * static_cast<std::size_t>(size)) {
    return {RMA_ERR_SIZE,
            fmt::format("dst has {} elements: expected {}, those of src once for each of {} members",
                        room.value(), given.value() * static_cast<std::size_t>(size), size)};
  }
  return outcome(rma_allgather(team, dst.base_addr, src.base_addr, given.value() * src.elem_len));
}

}  // namespace
}  // namespace rma::fortran

using rma::fortran::conclude;
using rma::fortran::Team;
using rma::fortran::team_or_world;

extern "C" {

void rma_fortran_broadcast(const CFI_cdesc_t* buffer, int root, const Team* team, int* stat,
                           CFI_cdesc_t* errmsg) {
  conclude("rma_broadcast", rma::fortran::broadcast(*buffer, root, team_or_world(team)), {stat, errmsg});
}

void rma_fortran_reduce(const CFI_cdesc_t* dst, const CFI_cdesc_t* src, int op, int root, const Team* team,
                        int* stat, CFI_cdesc_t* errmsg) {
  const auto reduce = [&](void* to, const void* from, std::size_t count, rma_type_t type) {
    return rma_reduce(team_or_world(team), to, from, count, type, static_cast<rma_reduction_t>(op), root);
  };
  conclude("rma_reduce", rma::fortran::reduction(*dst, src, reduce), {stat, errmsg});
}

void rma_fortran_allreduce(const CFI_cdesc_t* dst, const CFI_cdesc_t* src, int op, const Team* team,
                           int* stat, CFI_cdesc_t* errmsg) {
  const auto reduce = [&](void* to, const void* from, std::size_t count, rma_type_t type) {
    return rma_allreduce(team_or_world(team), to, from, count, type, static_cast<rma_reduction_t>(op));
  };
  conclude("rma_allreduce", rma::fortran::reduction(*dst, src, reduce), {stat, errmsg});
}

void rma_fortran_allgather(const CFI_cdesc_t* dst, const CFI_cdesc_t* src, const Team* team, int* stat,
                           CFI_cdesc_t* errmsg) {
  conclude("rma_allgather", rma::fortran::allgather(*dst, *src, team_or_world(team)), {stat, errmsg});
}

}  // extern "C"
