// Vector transfers: subscripts name each element of a remote array.

#include <fmt/format.h>

#include <new>
#include <utility>
#include <vector>

#include "fortran/array.hpp"
#include "fortran/correspondence.hpp"
#include "fortran/numbers.hpp"
#include "fortran/outcome.hpp"
#include "util/try.hpp"

namespace rma::fortran {
namespace {

/// The addresses of a vector transfer's elements. Those of the remote side are addresses of the rank.
struct Elements {
  std::vector<void*> remote;
  std::vector<void*> local;
  std::size_t bytes = 0;  ///< of each
  int rank = 0;
};

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
    auto index = integer_at(first + (list ? 0 : static_cast<std::int64_t>(d) * subscripts.dim[0].sm),
                            subscripts, "subscripts");
    if (!index.ok()) return std::move(index).status();
    const std::int64_t end = array.lower[d] + array.extent[d] - 1;
    if (index.value() < array.lower[d] || index.value() > end) {
      return Status(
          RMA_ERR_ARGUMENT,
          fmt::format("subscript {} of dimension {}, of element {}, is outside of {}'s bounds {}:{}",
                      index.value(), d + 1, column + 1, name, array.lower[d], end));
    }
    address += (index.value() - array.lower[d]) * array.stride[d];
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

/// Returns the elements of both sides. The names are those of the dummy arguments.
Result<Elements> pair_up(const RemoteArray& remote, const CFI_cdesc_t& subscripts, const CFI_cdesc_t& local,
                         const char* remote_name, const char* local_name) try {
  RMA_TRY(remote.check(remote_name));
  auto here = local_side(local, local_name);
  if (!here.ok()) return std::move(here).status();
  Status alike =
      check_same_type(static_cast<CFI_type_t>(remote.type), static_cast<std::size_t>(remote.element_bytes),
                      remote_name, here->type, here->element_bytes, local_name);
  if (!alike.ok()) return alike;
  auto count = named(subscripts, remote, remote_name);
  if (!count.ok()) return std::move(count).status();
  if (const auto given = here->elements(); given != count.value()) {
    return Status(RMA_ERR_SIZE, fmt::format("subscripts name {} elements of {}, {} has {}: expected as many",
                                            count.value(), remote_name, local_name, here->shape()));
  }
  Elements elements = {.remote = {}, .local = {}, .bytes = here->element_bytes, .rank = remote.rank};
  elements.remote.resize(static_cast<std::size_t>(count.value()));
  elements.local.resize(elements.remote.size());
  for (std::int64_t i = 0; i < count.value(); ++i) {
    auto address = element(remote, remote_name, subscripts, i);
    if (!address.ok()) return std::move(address).status();
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the owner's
    elements.remote[static_cast<std::size_t>(i)] = reinterpret_cast<void*>(address.value());
  }
  list_elements(here.value(), elements.local);
  return elements;
} catch (const std::bad_alloc&) {
  return Status(RMA_ERR_NO_MEMORY, "no memory for the list of elements");
}

/// Calls one of the forms. `rest` holds the arguments after the rank.
template <typename Form, typename... Rest>
Status put(const RemoteArray& dst, const CFI_cdesc_t& subscripts, const CFI_cdesc_t& src, Form form,
           Rest... rest) {
  auto all = pair_up(dst, subscripts, src, "dst", "src");
  if (!all.ok()) return std::move(all).status();
  const rma_iov_t iov = {all->remote.data(), all->local.data(), all->remote.size(), all->bytes};
  return outcome(form(&iov, 1, all->rank, rest...));
}

template <typename Form, typename... Rest>
Status get(const CFI_cdesc_t& dst, const RemoteArray& src, const CFI_cdesc_t& subscripts, Form form,
           Rest... rest) {
  auto all = pair_up(src, subscripts, dst, "src", "dst");
  if (!all.ok()) return std::move(all).status();
  const rma_iov_t iov = {all->local.data(), all->remote.data(), all->remote.size(), all->bytes};
  return outcome(form(&iov, 1, all->rank, rest...));
}

template <typename Form, typename... Rest>
Status accumulate(const RemoteArray& dst, const CFI_cdesc_t& subscripts, const CFI_cdesc_t& src,
                  const CFI_cdesc_t* scale, Form form, Rest... rest) {
  auto type = addend_type(src, scale);
  if (!type.ok()) return std::move(type).status();
  const void* const factor = scale != nullptr ? scale->base_addr : nullptr;
  const auto bound = [&](const rma_iov_t* iov, std::size_t count, int rank) {
    return form(iov, count, type.value(), factor, rank, rest...);
  };
  return put(dst, subscripts, src, bound);
}

}  // namespace
}  // namespace rma::fortran

using rma::fortran::conclude;
using rma::fortran::RemoteArray;

extern "C" {

void rma_fortran_put_vector(const RemoteArray* dst, const CFI_cdesc_t* subscripts, const CFI_cdesc_t* src,
                            int* stat, CFI_cdesc_t* errmsg) {
  conclude("rma_put_vector", rma::fortran::put(*dst, *subscripts, *src, rma_put_vector), {stat, errmsg});
}

void rma_fortran_put_vector_nb(const RemoteArray* dst, const CFI_cdesc_t* subscripts, const CFI_cdesc_t* src,
                               rma_request_t* request, int* stat, CFI_cdesc_t* errmsg) {
  *request = RMA_REQUEST_NULL;
  conclude("rma_put_vector_nb", rma::fortran::put(*dst, *subscripts, *src, rma_put_vector_nb, request),
           {stat, errmsg});
}

void rma_fortran_put_vector_nbi(const RemoteArray* dst, const CFI_cdesc_t* subscripts, const CFI_cdesc_t* src,
                                int* stat, CFI_cdesc_t* errmsg) {
  conclude("rma_put_vector_nbi", rma::fortran::put(*dst, *subscripts, *src, rma_put_vector_nbi),
           {stat, errmsg});
}

void rma_fortran_get_vector(const CFI_cdesc_t* dst, const RemoteArray* src, const CFI_cdesc_t* subscripts,
                            int* stat, CFI_cdesc_t* errmsg) {
  conclude("rma_get_vector", rma::fortran::get(*dst, *src, *subscripts, rma_get_vector), {stat, errmsg});
}

void rma_fortran_get_vector_nb(const CFI_cdesc_t* dst, const RemoteArray* src, const CFI_cdesc_t* subscripts,
                               rma_request_t* request, int* stat, CFI_cdesc_t* errmsg) {
  *request = RMA_REQUEST_NULL;
  conclude("rma_get_vector_nb", rma::fortran::get(*dst, *src, *subscripts, rma_get_vector_nb, request),
           {stat, errmsg});
}

void rma_fortran_get_vector_nbi(const CFI_cdesc_t* dst, const RemoteArray* src, const CFI_cdesc_t* subscripts,
                                int* stat, CFI_cdesc_t* errmsg) {
  conclude("rma_get_vector_nbi", rma::fortran::get(*dst, *src, *subscripts, rma_get_vector_nbi),
           {stat, errmsg});
}

void rma_fortran_acc_vector(const RemoteArray* dst, const CFI_cdesc_t* subscripts, const CFI_cdesc_t* src,
                            const CFI_cdesc_t* scale, int* stat, CFI_cdesc_t* errmsg) {
  conclude("rma_acc_vector", rma::fortran::accumulate(*dst, *subscripts, *src, scale, rma_acc_vector),
           {stat, errmsg});
}

void rma_fortran_acc_vector_nb(const RemoteArray* dst, const CFI_cdesc_t* subscripts, const CFI_cdesc_t* src,
                               rma_request_t* request, const CFI_cdesc_t* scale, int* stat,
                               CFI_cdesc_t* errmsg) {
  *request = RMA_REQUEST_NULL;
  conclude("rma_acc_vector_nb",
           rma::fortran::accumulate(*dst, *subscripts, *src, scale, rma_acc_vector_nb, request),
           {stat, errmsg});
}

void rma_fortran_acc_vector_nbi(const RemoteArray* dst, const CFI_cdesc_t* subscripts, const CFI_cdesc_t* src,
                                const CFI_cdesc_t* scale, int* stat, CFI_cdesc_t* errmsg) {
  conclude("rma_acc_vector_nbi", rma::fortran::accumulate(*dst, *subscripts, *src, scale, rma_acc_vector_nbi),
           {stat, errmsg});
}

}  // extern "C"
