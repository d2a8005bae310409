#include "atomics/atomic.hpp"

#include "api/call.hpp"
#include "api/check.hpp"
#include "api/endings.hpp"
#include "core/one_sided/operation.hpp"
#include "util/text.hpp"
#include "util/try.hpp"

namespace librma {
namespace {

/// `name` is the name of the call.
template <typename Word>
[[gnu::always_inline]] inline rma_status_t update(const char* name, rma_atomic_op_t op, Word* target,
                                                  Word operand, Word compare, Word* old, int rank,
                                                  const Ending& ending) {
  return call(name, rank, sizeof(Word), [&](Runtime& runtime) RMA_INLINE_BODY -> Status {
    RMA_TRY(check_ending(ending));
    if (ending.kind == Ending::Kind::request) *ending.request = RMA_REQUEST_NULL;
    RMA_TRY(check_rank(runtime, rank));
    if (!valid_atomic(op)) [[unlikely]] {
      return {RMA_ERR_ARGUMENT, text("there is no atomic operation {}", static_cast<int>(op))};
    }
    RMA_TRY(check_range(target, sizeof(Word), "target"));
    RMA_TRY(check_aligned(target, sizeof(Word)));
    return atomic_update(*runtime.accumulator, op, target, operand, compare, old, rank, ending);
  });
}

}  // namespace

extern "C" {

rma_status_t rma_atomic64(rma_atomic_op_t op, uint64_t* target, uint64_t operand, uint64_t compare,
                          uint64_t* old, int rank) {
  return update(__func__, op, target, operand, compare, old, rank, kBlocking);
}

rma_status_t rma_atomic64_nb(rma_atomic_op_t op, uint64_t* target, uint64_t operand, uint64_t compare,
                             uint64_t* old, int rank, rma_request_t* request) {
  return update(__func__, op, target, operand, compare, old, rank, by(request));
}

rma_status_t rma_atomic64_nbi(rma_atomic_op_t op, uint64_t* target, uint64_t operand, uint64_t compare,
                              uint64_t* old, int rank) {
  return update(__func__, op, target, operand, compare, old, rank, kImplicit);
}

rma_status_t rma_atomic32(rma_atomic_op_t op, uint32_t* target, uint32_t operand, uint32_t compare,
                          uint32_t* old, int rank) {
  return update(__func__, op, target, operand, compare, old, rank, kBlocking);
}

rma_status_t rma_atomic32_nb(rma_atomic_op_t op, uint32_t* target, uint32_t operand, uint32_t compare,
                             uint32_t* old, int rank, rma_request_t* request) {
  return update(__func__, op, target, operand, compare, old, rank, by(request));
}

rma_status_t rma_atomic32_nbi(rma_atomic_op_t op, uint32_t* target, uint32_t operand, uint32_t compare,
                              uint32_t* old, int rank) {
  return update(__func__, op, target, operand, compare, old, rank, kImplicit);
}

}  // extern "C"

}  // namespace librma
