// Contiguous put and get. Each call first tries the usual case inline. All other cases, failures included,
// are in a separate function, so that the usual case saves no registers for them.

#include <limits>

#include "api/call.hpp"
#include "api/check.hpp"
#include "core/one_sided/copy.hpp"
#include "core/one_sided/operation.hpp"
#include "rma/direct.h"
#include "util/try.hpp"

namespace rma {
namespace {

Status check_ending(const Ending& ending) {
  return ending.kind == Ending::Kind::request ? check_not_null(ending.request, "request") : Status();
}

/// These two functions move data to and from memory that is not mapped here.
Status put_elsewhere(Runtime& runtime, void* dst, const void* src, std::size_t bytes, int rank,
                     const Ending& ending) {
  if (ending.kind == Ending::Kind::implicit &&
      Operation::defer(*runtime.job, *runtime.remote_access, transport::Direction::write, rank,
                       static_cast<std::byte*>(dst),
                       const_cast<std::byte*>(static_cast<const std::byte*>(src)), bytes)) {
    return {};
  }
  Operation operation(*runtime.job, *runtime.remote_access, rank);
  RMA_TRY(operation.put(dst, src, bytes));
  return operation.end(ending);
}

Status get_elsewhere(Runtime& runtime, void* dst, const void* src, std::size_t bytes, int rank,
                     const Ending& ending) {
  if (ending.kind == Ending::Kind::implicit &&
      Operation::defer(*runtime.job, *runtime.remote_access, transport::Direction::read, rank,
                       const_cast<std::byte*>(static_cast<const std::byte*>(src)),
                       static_cast<std::byte*>(dst), bytes)) {
    return {};
  }
  Operation operation(*runtime.job, *runtime.remote_access, rank);
  RMA_TRY(operation.get(dst, src, bytes));
  return operation.end(ending);
}

/// Returns where the `bytes` bytes at `remote` of `rank` are mapped here, if the call only has to count and
/// copy them. Returns null in all other cases, for example for a wrong argument.
[[gnu::always_inline]] inline std::byte* usual_case(const void* remote, const void* local, std::size_t bytes,
                                                    int rank) {
  const Runtime* const runtime =
      current_runtime.load(std::memory_order_acquire);  // pairs with the store in rma_init
  if (runtime == nullptr || runtime->trace != nullptr || bytes == 0 || local == nullptr ||
      bytes > std::numeric_limits<std::uintptr_t>::max() - reinterpret_cast<std::uintptr_t>(local)) {
    return nullptr;
  }
  return static_cast<std::byte*>(rma_direct_address(remote, bytes, rank));
}

[[gnu::always_inline]] inline void put_mapped(std::byte* here, const void* src, std::size_t bytes, int rank) {
  count(Counter::put_bytes, bytes);
  count(Counter::put_direct);
  copy_bytes(here, src, bytes);
  rma_wake_after_store(rank);
}

[[gnu::always_inline]] inline void get_mapped(void* dst, const std::byte* here, std::size_t bytes) {
  count(Counter::get_bytes, bytes);
  count(Counter::get_direct);
  copy_bytes(dst, here, bytes);
}

/// These two functions execute all other cases. `name` is the name of the call.
[[gnu::noinline]] rma_status_t put(const char* name, void* dst, const void* src, std::size_t bytes, int rank,
                                   const Ending& ending) {
  return call(name, rank, bytes, [&](Runtime& runtime) -> Status {
    RMA_TRY(check_ending(ending));
    RMA_TRY(check_transfer(runtime, dst, src, bytes, rank));
    if (ending.kind == Ending::Kind::request) *ending.request = RMA_REQUEST_NULL;
    if (bytes == 0) return complete(ending);
    if (std::byte* const here = runtime.job->direct(dst, bytes, rank); here != nullptr) {
      put_mapped(here, src, bytes, rank);
      return complete(ending);
    }
    count(Counter::put_bytes, bytes);
    return put_elsewhere(runtime, dst, src, bytes, rank, ending);
  });
}

[[gnu::noinline]] rma_status_t get(const char* name, void* dst, const void* src, std::size_t bytes, int rank,
                                   const Ending& ending) {
  return call(name, rank, bytes, [&](Runtime& runtime) -> Status {
    RMA_TRY(check_ending(ending));
    RMA_TRY(check_transfer(runtime, dst, src, bytes, rank));
    if (ending.kind == Ending::Kind::request) *ending.request = RMA_REQUEST_NULL;
    if (bytes == 0) return complete(ending);
    if (const std::byte* const here = runtime.job->direct(src, bytes, rank); here != nullptr) {
      get_mapped(dst, here, bytes);
      return complete(ending);
    }
    count(Counter::get_bytes, bytes);
    return get_elsewhere(runtime, dst, src, bytes, rank, ending);
  });
}

}  // namespace
}  // namespace rma

using rma::Ending;

extern "C" {

rma_status_t rma_put(void* dst, const void* src, size_t bytes, int rank) {
  if (std::byte* const here = rma::usual_case(dst, src, bytes, rank); here != nullptr) [[likely]] {
    rma::put_mapped(here, src, bytes, rank);
    return RMA_SUCCESS;
  }
  return rma::put(__func__, dst, src, bytes, rank, {.kind = Ending::Kind::blocking});
}

rma_status_t rma_put_nb(void* dst, const void* src, size_t bytes, int rank, rma_request_t* request) {
  if (std::byte* const here = rma::usual_case(dst, src, bytes, rank); here != nullptr && request != nullptr)
      [[likely]] {
    rma::put_mapped(here, src, bytes, rank);
    *request = rma::kCompleteRequest;
    return RMA_SUCCESS;
  }
  return rma::put(__func__, dst, src, bytes, rank, {.kind = Ending::Kind::request, .request = request});
}

rma_status_t rma_put_nbi(void* dst, const void* src, size_t bytes, int rank) {
  if (std::byte* const here = rma::usual_case(dst, src, bytes, rank); here != nullptr) [[likely]] {
    rma::put_mapped(here, src, bytes, rank);
    return RMA_SUCCESS;
  }
  return rma::put(__func__, dst, src, bytes, rank, {.kind = Ending::Kind::implicit});
}

rma_status_t rma_get(void* dst, const void* src, size_t bytes, int rank) {
  if (std::byte* const here = rma::usual_case(src, dst, bytes, rank); here != nullptr) [[likely]] {
    rma::get_mapped(dst, here, bytes);
    return RMA_SUCCESS;
  }
  return rma::get(__func__, dst, src, bytes, rank, {.kind = Ending::Kind::blocking});
}

rma_status_t rma_get_nb(void* dst, const void* src, size_t bytes, int rank, rma_request_t* request) {
  if (std::byte* const here = rma::usual_case(src, dst, bytes, rank); here != nullptr && request != nullptr)
      [[likely]] {
    rma::get_mapped(dst, here, bytes);
    *request = rma::kCompleteRequest;
    return RMA_SUCCESS;
  }
  return rma::get(__func__, dst, src, bytes, rank, {.kind = Ending::Kind::request, .request = request});
}

rma_status_t rma_get_nbi(void* dst, const void* src, size_t bytes, int rank) {
  if (std::byte* const here = rma::usual_case(src, dst, bytes, rank); here != nullptr) [[likely]] {
    rma::get_mapped(dst, here, bytes);
    return RMA_SUCCESS;
  }
  return rma::get(__func__, dst, src, bytes, rank, {.kind = Ending::Kind::implicit});
}

}  // extern "C"
