// Vector transfers: subscripts name each element of a remote array.

#include <fmt/format.h>

#include <new>
#include <vector>

#include "fortran/transfers.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma::fortran {
namespace {

/// Returns how many elements `subscripts` names: one for each column, or one for each number if the array
/// has one dimension.
Result<std::int64_t> named(const CFI_cdesc_t& subscripts, const RemoteArray& array, const char* name) {
  const bool list = subscripts.rank == 1 && array.dimensions == 1;
  const bool columns = subscripts.rank == 2 && subscripts.dim[0].extent == array.dimensions;
  if (array.dimensions > 0 && (list || columns)) {
    const std::int64_t count = subscripts.dim[list ? 0 : 1].extent;
    if (count > 0 && subscripts.base_addr == nullptr) {
      return Status(RMA_ERR_ARGUMENT, "subscripts is not allocated or associated");
    }
    if (count >= 0) return count;  // not of assumed size
  }
  return Status(
      RMA_ERR_ARGUMENT,
      fmt::format("subscripts is no array of {} x the number of elements, for the {} dimensions of {}",
                  array.dimensions, array.dimensions, name));
}

/// Returns the address of the element that column number `column` names.
Result<std::intptr_t> element(const RemoteArray& array, const char* name, const CFI_cdesc_t& subscripts,
                              std::int64_t column) {
  std::intptr_t address = array.address;
  const bool list = subscripts.rank == 1;
  const auto* const first =
      static_cast<const char*>(subscripts.base_addr) + column * subscripts.dim[list ? 0 : 1].sm;
  for (std::size_t d = 0; d < static_cast<std::size_t>(array.dimensions); ++d) {
    RMA_TRY_ASSIGN(index, integer_at(first + (list ? 0 : static_cast<std::int64_t>(d) * subscripts.dim[0].sm),
                                     subscripts, "subscripts"));
    const std::int64_t end = array.lower[d] + array.extent[d] - 1;
    if (index < array.lower[d] || index > end) {
      return Status(
          RMA_ERR_ARGUMENT,
          fmt::format("subscript {} of dimension {}, of element {}, is outside of {}'s bounds {}:{}", index,
                      d + 1, column + 1, name, array.lower[d], end));
    }
    address += (index - array.lower[d]) * array.stride[d];
  }
  return address;
}

/// Appends the addresses of all elements of a local array, in array element order.
void list_elements(const Side& array, std::vector<void*>& addresses) {
  std::array<std::int64_t, CFI_MAX_RANK> at = {};
  std::byte* here = array.base;
  for (void*& address : addresses) {
    address = here;
    for (std::size_t d = 0; d < static_cast<std::size_t>(array.dimensions); ++d) {
      here += array.stride[d];
      if (++at[d] < array.extent[d]) break;
      here -= at[d] * array.stride[d];
      at[d] = 0;
    }
  }
}

}  // namespace

Result<Elements> pair_up(const RemoteArray& remote, const CFI_cdesc_t& subscripts, const CFI_cdesc_t& local,
                         const char* remote_name, const char* local_name) try {
  RMA_TRY(remote.check(remote_name));
  RMA_TRY_ASSIGN(here, local_side(local, local_name));
  RMA_TRY(check_same_type(static_cast<CFI_type_t>(remote.type),
                          static_cast<std::size_t>(remote.element_bytes), remote_name, here.type,
                          here.element_bytes, local_name));
  RMA_TRY_ASSIGN(count, named(subscripts, remote, remote_name));
  if (const auto given = here.elements(); given != count) {
    return Status(RMA_ERR_SIZE, fmt::format("subscripts name {} elements of {}, {} has {}: expected as many",
                                            count, remote_name, local_name, here.shape()));
  }
  Elements elements = {.remote = {}, .local = {}, .bytes = here.element_bytes, .rank = remote.rank};
  elements.remote.resize(static_cast<std::size_t>(count));
  elements.local.resize(elements.remote.size());
  for (std::int64_t i = 0; i < count; ++i) {
    RMA_TRY_ASSIGN(address, element(remote, remote_name, subscripts, i));
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the owner's
    elements.remote[static_cast<std::size_t>(i)] = reinterpret_cast<void*>(address);
  }
  list_elements(here, elements.local);
  return elements;
} catch (const std::bad_alloc&) {
  return Status(RMA_ERR_NO_MEMORY, "no memory for the list of elements");
}

}  // namespace librma::fortran
