#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/operators.hpp"
#include "twosided_compat/windows/short_transfers.hpp"
#include "twosided_compat/windows/window_layouts.hpp"
#include "twosided_compat/windows/window_waiting.hpp"

// Accumulates, and how they are atomic (MPI 4.1, section 12.7).
//
// The standard wants every element of a predefined type to be updated atomically with respect to all
// accumulates of that type to the same memory: MPI_Accumulate, MPI_Get_accumulate, MPI_Fetch_and_op,
// MPI_Compare_and_swap. By default (accumulate_ops = same_op_no_op) a program may mix one operator and
// MPI_NO_OP only, but programs also mix in MPI_REPLACE and MPI_Compare_and_swap. So the type alone decides
// here, and all operators go together:
//
//  - Integers and logicals of 4 and 8 bytes are *words*. Each element is updated by an atomic operation
//    (window_words.hpp), or by a loop of compare-and-swap if there is none for the operator.
//  - All other types are updated under the lock that each member has for its part of the window
//    (WindowControl::accumulating). Whole arrays are then read, combined and written.
//
// There are no words in a part outside of its owner's heap if the members share one host
// (WindowPart::has_words): there an atomic operation takes system calls for each element. Static data that
// OpenSHMEM shares are the exception (SharedData): their alias is in the heap, and if that was refused,
// OpenSHMEM's atomics are those of rma.h on registered memory. In a dynamic window each address decides. All
// members know all of that.
//
// An accumulate is complete when its call returns, or the owner executes it behind those that this process
// has started before (start_on_words). So the accumulates of a process to one place are in the order of its
// calls, which is the standard's default (accumulate_ordering).

namespace librma::mpi {

/// One accumulate.
struct Accumulation {
  std::uintptr_t op = 0;              ///< a number of numbers.hpp: a predefined operator
  const Datatype* element = nullptr;  ///< the predefined type that all data have
  kernels::Loop kernel = nullptr;     ///< null for MPI_REPLACE and MPI_NO_OP
  Buffer origin;                      ///< MPI_NO_OP does not use it
  bool fetches = false;               ///< whether `result` gets the data that were at the target
  Buffer result;
  Target target;  ///< has as many data as the others
};

/// Returns whether the elements of a predefined type are words where there are words.
[[nodiscard]] inline bool may_be_word(const PredefinedType& type) {
  const bool fits = type.type_class == TypeClass::kCInteger ||
                    type.type_class == TypeClass::kFortranInteger ||
                    type.type_class == TypeClass::kMultiLanguage || type.type_class == TypeClass::kLogical;
  return fits && (type.size == sizeof(std::uint32_t) || type.size == sizeof(std::uint64_t));
}
/// Returns whether they are words everywhere in a part of a window.
[[nodiscard]] inline bool is_word(const WindowPart& part, const PredefinedType& type) {
  return part.has_words && may_be_word(type);
}

/// Returns the word of a part's owner that has the address, as rma.h takes it.
template <class Word>
[[nodiscard]] Word* word_of(const WindowPart& part, std::uintptr_t address) {
  return reinterpret_cast<Word*>(part.data.common_address(address, sizeof(Word)));
}

/// How many elements of a target are words.
enum class Words : std::uint8_t { kNone, kSome, kAll };
/// Returns how many elements of the type are words in a target.
[[nodiscard]] Words words_in(const Target& target, const PredefinedType& type);

/// Finds the loop of an operator of accumulates. MPI_ERR_OP if it is not predefined, or not defined for the
/// type.
[[nodiscard]] int find_accumulate_kernel(MPI_Op op, const PredefinedType& type, kernels::Loop& kernel);

/// Performs the accumulate. MPI_ERR_DISP if a word at the target is not aligned.
[[nodiscard]] int run(Window& win, const Accumulation& accumulation);
/// Performs an accumulate that fetches nothing and whose target is mapped here. All elements are of `type`.
/// Stores the call's result in `code`. Returns false, and has changed nothing, if the accumulate needs the
/// general way or its arguments are wrong.
[[nodiscard]] bool run_mapped(const Window& win, const MappedTransfer& target, const std::byte* origin,
                              const PredefinedType& type, MPI_Op op, int& code);

/// The lock of a part of a window. Processes hold it while they update elements that no atomic instruction
/// updates. It is a FairLock. Its holder waits for no other lock.
class AccumulateLock {
 public:
  AccumulateLock(const Window& win, const WindowPart& part)
      : words_(win, part, &WindowControl::accumulating, WindowWait::For::kUpdate) {}
  AccumulateLock(const AccumulateLock&) = delete;
  AccumulateLock& operator=(const AccumulateLock&) = delete;
  /// Unlocks, unless release() has done so.
  ~AccumulateLock() {
    if (held_) static_cast<void>(release());
  }

  /// Waits for the lock. MPI_ERR_PROC_ABORTED if a member has ended while this process waited: it may have
  /// been the holder, or have waited in front of this process.
  [[nodiscard]] int acquire() {
    const int code = fair_lock::acquire(words_, fair_lock::kExclusive, false);
    held_ = code == MPI_SUCCESS;
    return code;
  }
  /// Unlocks. Puts under the lock have completed.
  [[nodiscard]] int release() {
    held_ = false;
    return fair_lock::release(words_, fair_lock::kExclusive);
  }

 private:
  LockWords words_;
  bool held_ = false;
};

/// Performs MPI_Compare_and_swap on an element of `bytes` bytes that is no word.
[[nodiscard]] int compare_and_swap_locked(const Window& win, const Target& target, const void* origin,
                                          const void* compare, void* result);

}  // namespace librma::mpi
