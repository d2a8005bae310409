// Memory that other ranks can access, and Fortran pointers to it.

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "fortran/calls.hpp"
#include "fortran/numbers.hpp"
#include "fortran/outcome.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma::fortran {
namespace {

/// The address of arrays without elements. A pointer to a null address would count as disassociated.
alignas(64) std::byte nowhere;

/// Associates `pointer` with the memory at `base`, with the layout of `array`.
Status associate(CFI_cdesc_t& pointer, std::byte* base, const RemoteArray& array) {
  CFI_CDESC_T(CFI_MAX_RANK) room;
  auto* const target = reinterpret_cast<CFI_cdesc_t*>(&room);
  std::array<CFI_index_t, CFI_MAX_RANK> extents;
  std::array<CFI_index_t, CFI_MAX_RANK> lower;
  std::copy(array.extent.begin(), array.extent.end(), extents.begin());
  std::copy(array.lower.begin(), array.lower.end(), lower.begin());
  int failed = CFI_establish(target, array.bytes() > 0 ? base : &nowhere, CFI_attribute_other, pointer.type,
                             pointer.elem_len, pointer.rank, extents.data());
  for (std::size_t d = 0; d < static_cast<std::size_t>(array.dimensions); ++d) {
    target->dim[d].sm = array.stride[d];
  }
  if (failed == CFI_SUCCESS) failed = CFI_setpointer(&pointer, target, lower.data());
  if (failed == CFI_SUCCESS) return {};
  return {RMA_ERR_ARGUMENT, fmt::format("the pointer cannot be associated: Fortran's error {}", failed)};
}

/// Checks that `pointer` has the number of dimensions and the type of `array`.
Status check_pointer(const CFI_cdesc_t& pointer, const RemoteArray& array, const char* bounds) {
  if (pointer.rank != array.dimensions) {
    return {RMA_ERR_ARGUMENT, fmt::format("the pointer has {} dimensions, {} {}",
                                          static_cast<int>(pointer.rank), bounds, array.dimensions)};
  }
  return check_same_type(pointer.type, pointer.elem_len, "the pointer", static_cast<CFI_type_t>(array.type),
                         static_cast<std::size_t>(array.element_bytes), "the array");
}

/// Returns the array that this rank asks rma_malloc for, still without an address.
RemoteArray wanted(const CFI_cdesc_t& pointer, const CFI_cdesc_t& upper, const CFI_cdesc_t* lower) {
  RemoteArray array = RemoteArray::contiguous(0, rma_rank(), pointer.type, pointer.elem_len, &upper, lower);
  if (array.mark == RemoteArray::kArray && array.dimensions != pointer.rank) {
    return RemoteArray::refused(RemoteArray::kDimensions, array.dimensions, pointer.rank);
  }
  return array;
}

/// Allocates `mine` together with the team, and fills `parts` with all members' arrays. A member whose
/// arguments are refused takes part too, because the others would wait for it.
Status allocate(rma_team_t team, RemoteArray& mine, std::vector<RemoteArray>& parts) {
  int size = 0;
  RMA_TRY(outcome(rma_team_info(team, nullptr, &size)));
  parts.resize(static_cast<std::size_t>(size));
  const std::size_t bytes = mine.mark == RemoteArray::kArray ? mine.bytes() : 0;
  void* address = nullptr;
  RMA_TRY(outcome(rma_malloc(team, bytes, 0, nullptr, &address)));
  mine.address = reinterpret_cast<std::intptr_t>(address);
  Status status = outcome(rma_allgather(team, parts.data(), &mine, sizeof mine));
  for (std::size_t member = 0; status.ok() && member < parts.size(); ++member) {
    status = parts[member].check("the array").within(fmt::format("team rank {}", member));
  }
  if (status.ok()) return status;
  // All members find the same result, so all of them come here.
  RMA_TRY(outcome(rma_free(team, address)));
  return status;
}

/// Returns this process's address of the bytes of `array`, whose owner is this rank or one whose heap
/// is mapped here.
Result<std::byte*> here(const RemoteArray& array) {
  auto* const address = reinterpret_cast<std::byte*>(array.address);
  if (array.rank == rma_rank() || array.bytes() == 0) return address;
  std::int64_t below = 0;
  std::int64_t above = array.element_bytes;
  for (std::size_t d = 0; d < static_cast<std::size_t>(array.dimensions); ++d) {
    const std::int64_t way = (array.extent[d] - 1) * array.stride[d];
    (way < 0 ? below : above) += way;
  }
  void* mapped = nullptr;
  RMA_TRY(outcome(rma_map(address + below, static_cast<std::size_t>(above - below), array.rank, &mapped)));
  return static_cast<std::byte*>(mapped) - below;
}

}  // namespace

Status malloc(CFI_cdesc_t& pointer, CFI_cdesc_t& parts, const CFI_cdesc_t& upper, const CFI_cdesc_t* lower,
              rma_team_t team) {
  RemoteArray mine = wanted(pointer, upper, lower);
  std::vector<RemoteArray> all;
  RMA_TRY(allocate(team, mine, all));
  const CFI_index_t first = 0;
  const auto last = static_cast<CFI_index_t>(all.size()) - 1;
  if (CFI_allocate(&parts, &first, &last, sizeof(RemoteArray)) != CFI_SUCCESS) {
    return {RMA_ERR_NO_MEMORY, fmt::format("no memory for the descriptions of {} arrays", all.size())};
  }
  std::copy(all.begin(), all.end(), static_cast<RemoteArray*>(parts.base_addr));
  return associate(pointer, reinterpret_cast<std::byte*>(mine.address), mine);
}

Status free(CFI_cdesc_t& parts, rma_team_t team) {
  int size = 0;
  int rank = 0;
  RMA_TRY(outcome(rma_team_info(team, &rank, &size)));
  if (parts.base_addr == nullptr || parts.dim[0].extent != size) {
    return {RMA_ERR_ARGUMENT, "parts is not what rma_malloc gave this team"};
  }
  const RemoteArray& mine = static_cast<const RemoteArray*>(parts.base_addr)[rank];
  Status status = outcome(rma_free(team, reinterpret_cast<void*>(mine.address)));
  CFI_deallocate(&parts);
  return status;
}

Status malloc_local(CFI_cdesc_t& pointer, RemoteArray& part, const CFI_cdesc_t& upper,
                    const CFI_cdesc_t* lower) {
  part = wanted(pointer, upper, lower);
  RMA_TRY(part.check("the array"));
  void* address = nullptr;
  RMA_TRY(outcome(rma_malloc_local(part.bytes(), 0, &address)));
  part.address = reinterpret_cast<std::intptr_t>(address);
  return associate(pointer, static_cast<std::byte*>(address), part);
}

Status free_local(RemoteArray& part) {
  RMA_TRY(part.check("part"));
  Status status = outcome(rma_free_local(reinterpret_cast<void*>(part.address)));
  if (status.ok()) part.mark = 0;
  return status;
}

Status map(const RemoteArray& array, CFI_cdesc_t& pointer) {
  RMA_TRY(array.check("array"));
  RMA_TRY(check_pointer(pointer, array, "the array"));
  RMA_TRY_ASSIGN(base, here(array));
  return associate(pointer, base, array);
}

Status enroll(const CFI_cdesc_t& array, RemoteArray& part) {
  if (array.rank > 0 && CFI_is_contiguous(&array) == 0) {
    return {RMA_ERR_ARGUMENT, "array has gaps: only what is contiguous can be registered"};
  }
  part = RemoteArray::contiguous(reinterpret_cast<std::intptr_t>(array.base_addr), rma_rank(), array.type,
                                 array.elem_len, nullptr, nullptr);
  std::int64_t stride = part.element_bytes;
  for (std::size_t d = 0; d < static_cast<std::size_t>(array.rank); ++d) {
    if (array.dim[d].extent < 0) {
      part = {};
      return {RMA_ERR_ARGUMENT, "array has an assumed size: pass a section that says where it ends"};
    }
    part.dimensions = static_cast<int>(d) + 1;
    part.extent[d] = array.dim[d].extent;
    part.stride[d] = stride;
    stride *= part.extent[d];
  }
  Status status = outcome(rma_register(array.base_addr, part.bytes()));
  if (!status.ok()) part = {};
  return status;
}

Status strike(RemoteArray& part) {
  RMA_TRY(part.check("part"));
  Status status = outcome(rma_unregister(reinterpret_cast<void*>(part.address)));
  if (status.ok()) part.mark = 0;
  return status;
}

}  // namespace librma::fortran
