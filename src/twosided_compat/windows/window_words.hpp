#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/operators.hpp"
#include "rma/direct.h"

// Atomic operations on words of 4 and 8 bytes. Where the processor executes atomics and the word is mapped,
// they are inlined instructions. Everywhere else they are those of rma.h, which are atomic to them.

namespace librma::mpi {

[[nodiscard]] inline rma_status_t library_atomic(rma_atomic_op_t op, std::uint64_t* target,
                                                 std::uint64_t operand, std::uint64_t compare,
                                                 std::uint64_t* old, int rank) {
  return rma_atomic64(op, target, operand, compare, old, rank);
}
[[nodiscard]] inline rma_status_t library_atomic(rma_atomic_op_t op, std::uint32_t* target,
                                                 std::uint32_t operand, std::uint32_t compare,
                                                 std::uint32_t* old, int rank) {
  return rma_atomic32(op, target, operand, compare, old, rank);
}

/// Starts an operation. It is complete, and the value before is in `*old`, after the next fence of the rank.
/// `old` may be null.
[[nodiscard]] inline rma_status_t start_library_atomic(rma_atomic_op_t op, std::uint64_t* target,
                                                       std::uint64_t operand, std::uint64_t* old, int rank) {
  return rma_atomic64_nbi(op, target, operand, 0, old, rank);
}
[[nodiscard]] inline rma_status_t start_library_atomic(rma_atomic_op_t op, std::uint32_t* target,
                                                       std::uint32_t operand, std::uint32_t* old, int rank) {
  return rma_atomic32_nbi(op, target, operand, 0, old, rank);
}

/// Returns where a word is mapped, if the processor may update it. Else returns null. The word is aligned.
template <class Word>
[[nodiscard]] Word* processor_word(Word* target, int rank) {
  if (static_cast<std::size_t>(static_cast<unsigned>(rank)) >= rma_direct.atomic_count) return nullptr;
  return static_cast<Word*>(rma_direct_address(target, sizeof(Word), rank));
}

/// Performs rma_atomic32 or rma_atomic64. Sequentially consistent, as those are.
template <class Word>
[[nodiscard]] inline rma_status_t update_word(rma_atomic_op_t op, Word* target, Word operand, Word compare,
                                              Word& old, int rank) {
  Word* const here = processor_word(target, rank);
  if (here == nullptr) return library_atomic(op, target, operand, compare, &old, rank);
  switch (op) {
    case RMA_FETCH_ADD:
      old = __atomic_fetch_add(here, operand, __ATOMIC_SEQ_CST);
      break;
    case RMA_SWAP:
    case RMA_SET:
      old = __atomic_exchange_n(here, operand, __ATOMIC_SEQ_CST);
      break;
    case RMA_COMPARE_SWAP:
      old = compare;
      static_cast<void>(
          __atomic_compare_exchange_n(here, &old, operand, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
      break;
    case RMA_AND:
      old = __atomic_fetch_and(here, operand, __ATOMIC_SEQ_CST);
      break;
    case RMA_OR:
      old = __atomic_fetch_or(here, operand, __ATOMIC_SEQ_CST);
      break;
    case RMA_XOR:
      old = __atomic_fetch_xor(here, operand, __ATOMIC_SEQ_CST);
      break;
    case RMA_FETCH:
      old = __atomic_load_n(here, __ATOMIC_SEQ_CST);
      break;
  }
  return RMA_SUCCESS;
}

/// The operation of an accumulate on each word.
struct WordOperation {
  bool is_native = false;  ///< `native` is it; else a loop of compare-and-swap performs `kernel`
  rma_atomic_op_t native = RMA_FETCH;
  kernels::Loop kernel = nullptr;
};
/// Returns the operation of a predefined operator, which is defined for the type. `kernel` is its loop, or
/// null for MPI_REPLACE and MPI_NO_OP.
[[nodiscard]] WordOperation word_operation(std::uintptr_t op, kernels::Loop kernel);

/// Performs the operation, atomically. `operand` is not used by MPI_NO_OP.
template <class Word>
[[nodiscard]] rma_status_t perform(const WordOperation& operation, Word* target, Word operand, Word& old,
                                   int rank) {
  if (operation.is_native) [[likely]]
    return update_word(operation.native, target, operand, Word{0}, old, rank);
  Word expected = 0;
  rma_status_t status = update_word(RMA_FETCH, target, Word{0}, Word{0}, expected, rank);
  while (status == RMA_SUCCESS) {
    Word desired = expected;
    operation.kernel(&operand, &desired, 1, nullptr);
    status = update_word(RMA_COMPARE_SWAP, target, desired, expected, old, rank);
    if (old == expected) break;
    expected = old;
  }
  return status;
}

}  // namespace librma::mpi
