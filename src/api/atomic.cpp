#include "atomics/atomic.hpp"

#include "api/call.hpp"
#include "api/check.hpp"
#include "core/one_sided/operation.hpp"
#include "util/text.hpp"
#include "util/try.hpp"

namespace rma {
namespace {

template <typename Word>
[[gnu::always_inline]] inline Status update(Runtime& runtime, rma_atomic_op_t op, Word* target, Word operand,
                                            Word compare, Word* old, int rank, const Ending& ending) {
  RMA_TRY(check_rank(runtime, rank));
  if (!valid_atomic(op)) [[unlikely]] {
    return {RMA_ERR_ARGUMENT, text("there is no atomic operation {}", static_cast<int>(op))};
  }
  RMA_TRY(check_range(target, sizeof(Word), "target"));
  RMA_TRY(check_aligned(target, sizeof(Word)));
  return atomic_update(*runtime.accumulator, op, target, operand, compare, old, rank, ending);
}

template <typename Word>
Status start(Runtime& runtime, rma_atomic_op_t op, Word* target, Word operand, Word compare, Word* old,
             int rank, rma_request_t* request) {
  RMA_TRY(check_not_null(request, "request"));
  *request = RMA_REQUEST_NULL;
  return update(runtime, op, target, operand, compare, old, rank,
                {.kind = Ending::Kind::request, .request = request});
}

constexpr Ending kBlocking = {.kind = Ending::Kind::blocking};
constexpr Ending kImplicit = {.kind = Ending::Kind::implicit};

}  // namespace
}  // namespace rma

extern "C" {

rma_status_t rma_atomic64(rma_atomic_op_t op, uint64_t* target, uint64_t operand, uint64_t compare,
                          uint64_t* old, int rank) {
  return rma::call(__func__, rank, sizeof *target, [&](rma::Runtime& runtime) {
    return rma::update(runtime, op, target, operand, compare, old, rank, rma::kBlocking);
  });
}

rma_status_t rma_atomic64_nb(rma_atomic_op_t op, uint64_t* target, uint64_t operand, uint64_t compare,
                             uint64_t* old, int rank, rma_request_t* request) {
  return rma::call(__func__, rank, sizeof *target, [&](rma::Runtime& runtime) {
    return rma::start(runtime, op, target, operand, compare, old, rank, request);
  });
}

rma_status_t rma_atomic64_nbi(rma_atomic_op_t op, uint64_t* target, uint64_t operand, uint64_t compare,
                              uint64_t* old, int rank) {
  return rma::call(__func__, rank, sizeof *target, [&](rma::Runtime& runtime) {
    return rma::update(runtime, op, target, operand, compare, old, rank, rma::kImplicit);
  });
}

rma_status_t rma_atomic32(rma_atomic_op_t op, uint32_t* target, uint32_t operand, uint32_t compare,
                          uint32_t* old, int rank) {
  return rma::call(__func__, rank, sizeof *target, [&](rma::Runtime& runtime) {
    return rma::update(runtime, op, target, operand, compare, old, rank, rma::kBlocking);
  });
}

rma_status_t rma_atomic32_nb(rma_atomic_op_t op, uint32_t* target, uint32_t operand, uint32_t compare,
                             uint32_t* old, int rank, rma_request_t* request) {
  return rma::call(__func__, rank, sizeof *target, [&](rma::Runtime& runtime) {
    return rma::start(runtime, op, target, operand, compare, old, rank, request);
  });
}

rma_status_t rma_atomic32_nbi(rma_atomic_op_t op, uint32_t* target, uint32_t operand, uint32_t compare,
                              uint32_t* old, int rank) {
  return rma::call(__func__, rank, sizeof *target, [&](rma::Runtime& runtime) {
    return rma::update(runtime, op, target, operand, compare, old, rank, rma::kImplicit);
  });
}

}  // extern "C"
