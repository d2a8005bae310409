// Atomic subroutines. atomic_int_kind and atomic_logical_kind have 4 bytes.

#include <cstdint>

#include "coarrays/entry_points.hpp"
#include "coarrays/memory.hpp"
#include "rma/direct.h"

namespace librma::coarrays {
namespace {

/// The compiler's numbers of atomic_add, atomic_and, atomic_or and atomic_xor.
enum Operation : int { kAdd = 1, kAnd, kOr, kXor };

/// An atomic variable of an image.
struct Atom {
  const Coarray& coarray;
  std::size_t offset;
  int image;
};

std::uint32_t value_of(const void* value) {
  return value != nullptr ? *static_cast<const std::uint32_t*>(value) : 0;
}

/// Returns where this process has mapped the atom, or null if its processor may not update it there.
std::uint32_t* mapped_atom(const Atom& atom, int rank) {
  if (static_cast<std::size_t>(rank) >= rma_direct.atomic_count) return nullptr;
  return reinterpret_cast<std::uint32_t*>(mapped(atom.coarray, atom.offset, rank));
}

/// Executes an operation by the processor. Returns the value before.
template <rma_atomic_op_t operation>
std::uint32_t update_mapped(std::uint32_t* atom, std::uint32_t operand, std::uint32_t compare) {
  if constexpr (operation == RMA_FETCH) {
    return __atomic_load_n(atom, __ATOMIC_SEQ_CST);
  } else if constexpr (operation == RMA_FETCH_ADD) {
    return __atomic_fetch_add(atom, operand, __ATOMIC_SEQ_CST);
  } else if constexpr (operation == RMA_AND) {
    return __atomic_fetch_and(atom, operand, __ATOMIC_SEQ_CST);
  } else if constexpr (operation == RMA_OR) {
    return __atomic_fetch_or(atom, operand, __ATOMIC_SEQ_CST);
  } else if constexpr (operation == RMA_XOR) {
    return __atomic_fetch_xor(atom, operand, __ATOMIC_SEQ_CST);
  } else if constexpr (operation == RMA_COMPARE_SWAP) {
    __atomic_compare_exchange_n(atom, &compare, operand, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return compare;
  } else {
    static_assert(operation == RMA_SET);
    return __atomic_exchange_n(atom, operand, __ATOMIC_SEQ_CST);
  }
}

/// The arguments of an operation. `compare` and `old` may be null, and for RMA_FETCH so may `value`.
struct Operands {
  const void* value;
  const void* compare;
  void* old;
  int* stat;
};

/// Executes an operation on an atom that this process has not mapped, or reports that there is no such image.
/// The arguments are as many values as the compiler's code passes, so that a call of this needs no stack.
[[gnu::noinline]] void update_distant(rma_atomic_op_t operation, const Coarray* coarray, std::size_t offset,
                                      int image, const void* value, const void* compare, void* old,
                                      int* stat) {
  const Outcome outcome{.stat = stat};
  const int rank = rank_or_self(image);
  if (rank < 0) return refuse_image(outcome, image);
  auto* const target = reinterpret_cast<std::uint32_t*>(owners_address(*coarray, offset, rank));
  outcome.report(rma_atomic32(operation, target, value_of(value), value_of(compare),
                              static_cast<std::uint32_t*>(old), rank));
}

/// Executes an operation. The path of mapped memory is short and stores little, because a processor that
/// waits for the cache line of a counter has its stores wait, too.
template <rma_atomic_op_t operation>
[[gnu::always_inline]] inline void update_atom(const Atom& atom, const Operands& operands) {
  const int rank = rank_or_self(atom.image);
  std::uint32_t* const here = rank >= 0 ? mapped_atom(atom, rank) : nullptr;
  if (here == nullptr) [[unlikely]] {
    return update_distant(operation, &atom.coarray, atom.offset, atom.image, operands.value, operands.compare,
                          operands.old, operands.stat);
  }
  const std::uint32_t before =
      update_mapped<operation>(here, value_of(operands.value), value_of(operands.compare));
  if (operands.old != nullptr) *static_cast<std::uint32_t*>(operands.old) = before;
  if (operands.stat != nullptr) *operands.stat = 0;
  if constexpr (operation != RMA_FETCH) rma_wake_after_store(rank);
}

}  // namespace

void caf_atomic_define(Coarray* token, std::size_t offset, int image, const void* value, int* stat,
                       int /*type*/, int /*kind*/) {
  update_atom<RMA_SET>({*token, offset, image}, {value, nullptr, nullptr, stat});
}

void caf_atomic_ref(Coarray* token, std::size_t offset, int image, void* value, int* stat, int /*type*/,
                    int /*kind*/) {
  update_atom<RMA_FETCH>({*token, offset, image}, {nullptr, nullptr, value, stat});
}

void caf_atomic_cas(Coarray* token, std::size_t offset, int image, void* old, const void* compare,
                    const void* value, int* stat, int /*type*/, int /*kind*/) {
  update_atom<RMA_COMPARE_SWAP>({*token, offset, image}, {value, compare, old, stat});
}

void caf_atomic_op(int operation, Coarray* token, std::size_t offset, int image, const void* value, void* old,
                   int* stat, int /*type*/, int /*kind*/) {
  const Atom atom{*token, offset, image};
  const Operands operands{value, nullptr, old, stat};
  switch (operation) {
    case kAdd:
      return update_atom<RMA_FETCH_ADD>(atom, operands);
    case kAnd:
      return update_atom<RMA_AND>(atom, operands);
    case kOr:
      return update_atom<RMA_OR>(atom, operands);
    case kXor:
      return update_atom<RMA_XOR>(atom, operands);
    default:
      die("there is no such atomic operation");
  }
}

}  // namespace librma::coarrays
