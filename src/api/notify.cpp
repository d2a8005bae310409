// Put with notification, and waits for notifications.

#include "atomics/notify.hpp"

#include "api/call.hpp"
#include "api/check.hpp"
#include "core/one_sided/operation.hpp"
#include "util/text.hpp"
#include "util/try.hpp"

namespace librma {
namespace {

Status check_flag(Runtime& runtime, std::uint64_t* flag, int rank) {
  RMA_TRY(check_rank(runtime, rank));
  RMA_TRY(check_range(flag, sizeof *flag, "flag"));
  RMA_TRY(check_aligned(flag, sizeof *flag));
  if (!runtime.job->mapped(rank) || runtime.job->direct(flag, sizeof *flag, rank) != nullptr) return {};
  return {RMA_ERR_ADDRESS,
          text("the flag at {} is not in the heap of rank {}", static_cast<void*>(flag), rank)};
}

Status check_wait(const std::uint64_t* flag, rma_compare_t compare) {
  if (!valid_compare(compare)) {
    return {RMA_ERR_ARGUMENT, text("there is no comparison {}", static_cast<int>(compare))};
  }
  RMA_TRY(check_not_null(flag, "flag"));
  return check_aligned(flag, sizeof *flag);
}

Status put_and_notify(Runtime& runtime, void* dst, const void* src, std::size_t bytes, std::uint64_t* flag,
                      std::uint64_t value, int rank) {
  RMA_TRY(check_flag(runtime, flag, rank));
  RMA_TRY(check_transfer(runtime, dst, src, bytes, rank));
  count(Counter::put_bytes, bytes);
  return put_notify(*runtime.job, *runtime.remote_access, dst, src, bytes, flag, value, rank);
}

}  // namespace

extern "C" {

rma_status_t rma_put_notify(void* dst, const void* src, size_t bytes, uint64_t* flag, uint64_t value,
                            int rank) {
  return call(__func__, rank, bytes,
              [&](Runtime& runtime) { return put_and_notify(runtime, dst, src, bytes, flag, value, rank); });
}

rma_status_t rma_put_strided_notify(void* dst, const ptrdiff_t* dst_strides, const void* src,
                                    const ptrdiff_t* src_strides, const size_t* counts, int levels,
                                    uint64_t* flag, uint64_t value, int rank) {
  return call(__func__, rank, 0, [&](Runtime& runtime) -> Status {
    RMA_TRY(check_flag(runtime, flag, rank));
    RMA_TRY(check_reachable(*runtime.job, *runtime.remote_access, flag, sizeof *flag, rank));
    if (const rma_status_t put = rma_put_strided(dst, dst_strides, src, src_strides, counts, levels, rank);
        put != RMA_SUCCESS) {
      return {put, rma_last_error()};
    }
    return notify(*runtime.job, *runtime.remote_access, flag, value, rank);
  });
}

rma_status_t rma_wait_until(const uint64_t* flag, rma_compare_t compare, uint64_t value, uint64_t* seen) {
  return call(__func__, -1, 0, [&](Runtime& runtime) {
    RMA_TRY(check_wait(flag, compare));
    const std::uint64_t found = wait_until_word(*runtime.job, flag, compare, value);
    if (seen != nullptr) *seen = found;
    return Status();
  });
}

rma_status_t rma_wait_for(int (*met)(void* context), void* context) {
  return call(__func__, -1, 0, [&](Runtime& runtime) {
    if (met == nullptr) return Status(RMA_ERR_ARGUMENT, "met is null");
    wait_for_words(*runtime.job, [&] { return met(context) != 0; });
    return Status();
  });
}

rma_status_t rma_wake(int rank) {
  return call(__func__, rank, 0, [&](Runtime& runtime) -> Status {
    RMA_TRY(check_rank(runtime, rank));
    if (runtime.job->mapped(rank)) runtime.job->doorbell(rank).wake_for_store();
    return {};
  });
}

rma_status_t rma_test_until(const uint64_t* flag, rma_compare_t compare, uint64_t value, int* met) {
  return call(__func__, -1, 0, [&](Runtime& runtime) {
    RMA_TRY(check_wait(flag, compare));
    RMA_TRY(check_not_null(met, "met"));
    *met = compare_words(read_word(flag), compare, value) ? 1 : 0;
    if (*met == 0) let_others_run(runtime.job->wait_policy());
    return Status();
  });
}

}  // extern "C"

}  // namespace librma
