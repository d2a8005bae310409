// Contiguous accumulate. A call has read its source when it returns, so its request is complete at once.

#include "api/call.hpp"
#include "api/check.hpp"
#include "atomics/types.hpp"
#include "core/one_sided/operation.hpp"
#include "util/try.hpp"

namespace rma {
namespace {

Status accumulate(Runtime& runtime, void* dst, const void* src, std::size_t elements, rma_type_t type,
                  const void* scale, int rank) {
  RMA_TRY(check_accumulate(runtime, dst, src, elements, type, rank));
  if (elements == 0) return {};
  return runtime.accumulator->accumulate(dst, src, elements * type_size(type), type, scale, rank);
}

/// Returns the number of bytes for the trace, which is called before the arguments are checked.
std::size_t bytes_of(std::size_t elements, rma_type_t type) {
  return valid_type(type) ? elements * type_size(type) : 0;
}

}  // namespace
}  // namespace rma

using rma::Runtime;
using rma::Status;

extern "C" {

rma_status_t rma_acc(void* dst, const void* src, size_t count, rma_type_t type, const void* scale, int rank) {
  return rma::call(__func__, rank, rma::bytes_of(count, type), [&](Runtime& runtime) {
    return rma::accumulate(runtime, dst, src, count, type, scale, rank);
  });
}

rma_status_t rma_acc_nb(void* dst, const void* src, size_t count, rma_type_t type, const void* scale,
                        int rank, rma_request_t* request) {
  return rma::call(__func__, rank, rma::bytes_of(count, type), [&](Runtime& runtime) {
    RMA_TRY(rma::check_not_null(request, "request"));
    return rma::complete({rma::Ending::Kind::request, request},
                         rma::accumulate(runtime, dst, src, count, type, scale, rank));
  });
}

rma_status_t rma_acc_nbi(void* dst, const void* src, size_t count, rma_type_t type, const void* scale,
                         int rank) {
  return rma::call(__func__, rank, rma::bytes_of(count, type), [&](Runtime& runtime) {
    return rma::accumulate(runtime, dst, src, count, type, scale, rank);
  });
}

}  // extern "C"
