#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "atomics/accumulate.hpp"
#include "core/job/job.hpp"
#include "core/one_sided/operation.hpp"
#include "util/statistics.hpp"
#include "util/status.hpp"

namespace librma {

/// Returns whether `op` is an operation of rma.h.
constexpr bool valid_atomic(rma_atomic_op_t op) { return op >= RMA_FETCH_ADD && op <= RMA_FETCH; }

/// Returns the value that a (valid) operation stores in place of `before`.
template <typename Word>
constexpr Word atomic_result(rma_atomic_op_t op, Word before, Word operand, Word compare) {
  switch (op) {
    case RMA_FETCH_ADD:
      return before + operand;
    case RMA_SWAP:
    case RMA_SET:
      return operand;
    case RMA_COMPARE_SWAP:
      return before == compare ? operand : before;
    case RMA_AND:
      return before & operand;
    case RMA_OR:
      return before | operand;
    case RMA_XOR:
      return before ^ operand;
    case RMA_FETCH:
      return before;
  }
  return before;
}

/// Executes a (valid) operation on an aligned word that is mapped at `here`, by the processor's atomics, and
/// returns the value before. The operation is sequentially consistent. Except for RMA_FETCH it is always a
/// read-modify-write, as Doorbell::wake_ordered() requires.
template <typename Word>
inline Word apply_atomic(rma_atomic_op_t op, Word* here, Word operand, Word compare) {
  static_assert(std::atomic_ref<Word>::is_always_lock_free, "processes share the word");
  const std::atomic_ref<Word> word(*here);
  switch (op) {
    case RMA_FETCH_ADD:
      return word.fetch_add(operand, std::memory_order_seq_cst);
    case RMA_SWAP:
    case RMA_SET:
      return word.exchange(operand, std::memory_order_seq_cst);
    case RMA_COMPARE_SWAP:
      word.compare_exchange_strong(compare, operand, std::memory_order_seq_cst);
      return compare;  // this is the value before in both cases
    case RMA_AND:
      return word.fetch_and(operand, std::memory_order_seq_cst);
    case RMA_OR:
      return word.fetch_or(operand, std::memory_order_seq_cst);
    case RMA_XOR:
      return word.fetch_xor(operand, std::memory_order_seq_cst);
    case RMA_FETCH:
      return word.load(std::memory_order_seq_cst);
  }
  return 0;
}

/// Executes an operation on a word outside the heap of `rank`, under the accumulate lock of its address. So
/// it is atomic with respect to other operations of this library, but not to accesses of the owner's program.
/// Only an operation that the rank's helper executes may be under way when the call returns. Exists for 4 and
/// 8 bytes.
template <typename Word>
[[nodiscard]] Status atomic_foreign(Accumulator& accumulator, rma_atomic_op_t op, Word* target, Word operand,
                                    Word compare, Word* old, int rank, const Ending& ending);

/// Executes an operation in a job whose atomics the network device executes, for every word of every rank. A
/// word of 8 bytes that the device cannot access is updated by its owner's processor. A word of 4 bytes is
/// updated by this processor if it is mapped here, else by the rank's helper. RMA_ERR_PEER_LOST;
/// RMA_ERR_UNSUPPORTED for a rank that no helper reaches.
[[nodiscard]] Status atomic_by_device(Accumulator& accumulator, rma_atomic_op_t op, std::uint64_t* target,
                                      std::uint64_t operand, std::uint64_t compare, std::uint64_t* old,
                                      int rank, const Ending& ending);
[[nodiscard]] Status atomic_by_device(Accumulator& accumulator, rma_atomic_op_t op, std::uint32_t* target,
                                      std::uint32_t operand, std::uint32_t compare, std::uint32_t* old,
                                      int rank, const Ending& ending);

/// Executes a (valid) operation on an aligned word of `rank`'s memory. Stores the value before into `*old`,
/// unless `old` is null. Wakes threads that wait for the word. `ending` says how the caller learns of the
/// end, after which `*old` is valid. RMA_ERR_ADDRESS, RMA_ERR_PEER_LOST.
template <typename Word>
[[nodiscard]] inline Status atomic_update(Accumulator& accumulator, rma_atomic_op_t op, Word* target,
                                          Word operand, Word compare, Word* old, int rank,
                                          const Ending& ending = {}) {
  count(Counter::atomic);
  const Job& job = accumulator.job();
  if (job.atomics_by_device()) [[unlikely]] {
    return atomic_by_device(accumulator, op, target, operand, compare, old, rank, ending);
  }
  std::byte* const here = job.direct(target, sizeof(Word), rank);
  if (here == nullptr) return atomic_foreign(accumulator, op, target, operand, compare, old, rank, ending);
  const Word before = apply_atomic(op, reinterpret_cast<Word*>(here), operand, compare);
  if (op != RMA_FETCH) job.doorbell(rank).wake_ordered();
  if (old != nullptr) *old = before;
  return complete(ending);
}

}  // namespace librma
