// Contiguous put and get.

#include "api/call.hpp"
#include "api/check.hpp"
#include "core/copy.hpp"
#include "core/operation.hpp"

namespace rma {
namespace {

/// What the fast path did not take: memory that is not mapped here.
[[gnu::noinline]] Status put_elsewhere(Runtime& runtime, void* dst, const void* src, std::size_t bytes,
                                       int rank, const Ending& ending) {
  Operation operation(*runtime.job, *runtime.device, rank);
  if (Status status = operation.put(dst, src, bytes); !status.ok()) return status;
  return operation.end(ending);
}

[[gnu::noinline]] Status get_elsewhere(Runtime& runtime, void* dst, const void* src, std::size_t bytes,
                                       int rank, const Ending& ending) {
  Operation operation(*runtime.job, *runtime.device, rank);
  if (Status status = operation.get(dst, src, bytes); !status.ok()) return status;
  return operation.end(ending);
}

[[gnu::always_inline]] inline Status put(Runtime& runtime, void* dst, const void* src, std::size_t bytes,
                                         int rank, const Ending& ending) {
  if (Status status = check_transfer(runtime, dst, src, bytes, rank); !status.ok()) [[unlikely]]
    return status;
  if (ending.kind == Ending::Kind::request) *ending.request = RMA_REQUEST_NULL;
  if (bytes == 0) return complete(ending);
  count(Counter::put_bytes, bytes);
  if (std::byte* const here = runtime.job->direct(dst, bytes, rank); here != nullptr) [[likely]] {
    count(Counter::put_direct);
    copy_bytes(here, src, bytes);
    return complete(ending);
  }
  return put_elsewhere(runtime, dst, src, bytes, rank, ending);
}

[[gnu::always_inline]] inline Status get(Runtime& runtime, void* dst, const void* src, std::size_t bytes,
                                         int rank, const Ending& ending) {
  if (Status status = check_transfer(runtime, dst, src, bytes, rank); !status.ok()) [[unlikely]]
    return status;
  if (ending.kind == Ending::Kind::request) *ending.request = RMA_REQUEST_NULL;
  if (bytes == 0) return complete(ending);
  count(Counter::get_bytes, bytes);
  if (std::byte* const here = runtime.job->direct(src, bytes, rank); here != nullptr) [[likely]] {
    count(Counter::get_direct);
    copy_bytes(dst, here, bytes);
    return complete(ending);
  }
  return get_elsewhere(runtime, dst, src, bytes, rank, ending);
}

}  // namespace
}  // namespace rma

using rma::Ending;
using rma::Runtime;
using rma::Status;

extern "C" {

rma_status_t rma_put(void* dst, const void* src, size_t bytes, int rank) {
  return rma::call(__func__, rank, bytes, [&](Runtime& runtime) {
    return rma::put(runtime, dst, src, bytes, rank, {.kind = Ending::Kind::blocking});
  });
}

rma_status_t rma_put_nb(void* dst, const void* src, size_t bytes, int rank, rma_request_t* request) {
  return rma::call(__func__, rank, bytes, [&](Runtime& runtime) {
    if (Status status = rma::check_not_null(request, "request"); !status.ok()) return status;
    return rma::put(runtime, dst, src, bytes, rank, {.kind = Ending::Kind::request, .request = request});
  });
}

rma_status_t rma_put_nbi(void* dst, const void* src, size_t bytes, int rank) {
  return rma::call(__func__, rank, bytes, [&](Runtime& runtime) {
    return rma::put(runtime, dst, src, bytes, rank, {.kind = Ending::Kind::implicit});
  });
}

rma_status_t rma_get(void* dst, const void* src, size_t bytes, int rank) {
  return rma::call(__func__, rank, bytes, [&](Runtime& runtime) {
    return rma::get(runtime, dst, src, bytes, rank, {.kind = Ending::Kind::blocking});
  });
}

rma_status_t rma_get_nb(void* dst, const void* src, size_t bytes, int rank, rma_request_t* request) {
  return rma::call(__func__, rank, bytes, [&](Runtime& runtime) {
    if (Status status = rma::check_not_null(request, "request"); !status.ok()) return status;
    return rma::get(runtime, dst, src, bytes, rank, {.kind = Ending::Kind::request, .request = request});
  });
}

rma_status_t rma_get_nbi(void* dst, const void* src, size_t bytes, int rank) {
  return rma::call(__func__, rank, bytes, [&](Runtime& runtime) {
    return rma::get(runtime, dst, src, bytes, rank, {.kind = Ending::Kind::implicit});
  });
}

}  // extern "C"
