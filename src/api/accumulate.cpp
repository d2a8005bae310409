// Contiguous accumulate. A call has read its source when it returns, so its request is complete at once.

#include "atomics/accumulate.hpp"
#include "api/call.hpp"
#include "api/check.hpp"
#include "api/endings.hpp"
#include "atomics/types.hpp"
#include "core/one_sided/operation.hpp"
#include "util/try.hpp"

namespace librma {
namespace {

/// `name` is the name of the call.
[[gnu::always_inline]] inline rma_status_t accumulate(const char* name, void* dst, const void* src,
                                                      std::size_t elements, rma_type_t type,
                                                      const void* scale, int rank, const Ending& ending) {
  // The trace gets the number of bytes before the arguments are checked.
  const std::size_t bytes = valid_type(type) ? elements * type_size(type) : 0;
  return call(name, rank, bytes, [&](Runtime& runtime) RMA_INLINE_BODY -> Status {
    RMA_TRY(check_ending(ending));
    const auto execute = [&]() -> Status {
      RMA_TRY(check_accumulate(runtime, dst, src, elements, type, rank));
      if (elements == 0) return {};
      return runtime.accumulator->accumulate(dst, src, elements * type_size(type), type, scale, rank);
    };
    return complete(ending, execute());
  });
}

}  // namespace

extern "C" {

rma_status_t rma_acc(void* dst, const void* src, size_t count, rma_type_t type, const void* scale, int rank) {
  return accumulate(__func__, dst, src, count, type, scale, rank, kBlocking);
}

rma_status_t rma_acc_nb(void* dst, const void* src, size_t count, rma_type_t type, const void* scale,
                        int rank, rma_request_t* request) {
  return accumulate(__func__, dst, src, count, type, scale, rank, by(request));
}

rma_status_t rma_acc_nbi(void* dst, const void* src, size_t count, rma_type_t type, const void* scale,
                         int rank) {
  return accumulate(__func__, dst, src, count, type, scale, rank, kImplicit);
}

}  // extern "C"

}  // namespace librma
