#include "atomics/atomic.hpp"

#include "api/call.hpp"
#include "api/check.hpp"
#include "util/text.hpp"

namespace rma {
namespace {

template <typename Word>
[[gnu::always_inline]] inline Status update(Runtime& runtime, rma_atomic_op_t op, Word* target, Word operand,
                                            Word compare, Word* old, int rank) {
  if (Status status = check_rank(runtime, rank); !status.ok()) [[unlikely]]
    return status;
  if (!valid_atomic(op)) [[unlikely]] {
    return {RMA_ERR_ARGUMENT, text("there is no atomic operation {}", static_cast<int>(op))};
  }
  if (Status status = check_range(target, sizeof(Word), "target"); !status.ok()) [[unlikely]]
    return status;
  if (Status status = check_aligned(target, sizeof(Word)); !status.ok()) [[unlikely]]
    return status;
  return atomic_update(*runtime.accumulator, op, target, operand, compare, old, rank);
}

}  // namespace
}  // namespace rma

extern "C" {

rma_status_t rma_atomic64(rma_atomic_op_t op, uint64_t* target, uint64_t operand, uint64_t compare,
                          uint64_t* old, int rank) {
  return rma::call(__func__, rank, sizeof *target, [&](rma::Runtime& runtime) {
    return rma::update(runtime, op, target, operand, compare, old, rank);
  });
}

rma_status_t rma_atomic32(rma_atomic_op_t op, uint32_t* target, uint32_t operand, uint32_t compare,
                          uint32_t* old, int rank) {
  return rma::call(__func__, rank, sizeof *target, [&](rma::Runtime& runtime) {
    return rma::update(runtime, op, target, operand, compare, old, rank);
  });
}

}  // extern "C"
