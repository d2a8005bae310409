// Atomic subroutines. atomic_int_kind and atomic_logical_kind have 4 bytes.

#include <cstdint>

#include "coarrays/entry_points.hpp"
#include "coarrays/memory.hpp"
#include "rma/direct.h"

namespace librma::coarrays {
namespace {

/// The compiler's numbers of atomic_add, atomic_and, atomic_or and atomic_xor.
enum Operation : int { kAdd = 1, kAnd, kOr, kXor };

rma_atomic_op_t operation_of(int operation) {
  switch (operation) {
    case kAdd:
      return RMA_FETCH_ADD;
    case kAnd:
      return RMA_AND;
    case kOr:
      return RMA_OR;
    case kXor:
      return RMA_XOR;
    default:
      die("there is no such atomic operation");
  }
}

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
std::uint32_t update_mapped(std::uint32_t* atom, rma_atomic_op_t operation, std::uint32_t operand,
                            std::uint32_t compare) {
  switch (operation) {
    case RMA_FETCH:
      return __atomic_load_n(atom, __ATOMIC_SEQ_CST);
    case RMA_FETCH_ADD:
      return __atomic_fetch_add(atom, operand, __ATOMIC_SEQ_CST);
    case RMA_AND:
      return __atomic_fetch_and(atom, operand, __ATOMIC_SEQ_CST);
    case RMA_OR:
      return __atomic_fetch_or(atom, operand, __ATOMIC_SEQ_CST);
    case RMA_XOR:
      return __atomic_fetch_xor(atom, operand, __ATOMIC_SEQ_CST);
    case RMA_COMPARE_SWAP:
      __atomic_compare_exchange_n(atom, &compare, operand, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
      return compare;
    default:
      return __atomic_exchange_n(atom, operand, __ATOMIC_SEQ_CST);
  }
}

/// Executes an operation. `value`, `compare` and `old` may be null.
void update_atom(const Atom& atom, rma_atomic_op_t operation, const void* value, const void* compare,
                 void* old, int* stat) {
  const Outcome outcome{.stat = stat};
  const int rank = rank_or_self(atom.image);
  if (rank < 0) return refuse_image(outcome, atom.image);
  if (std::uint32_t* const here = mapped_atom(atom, rank); here != nullptr) [[likely]] {
    const std::uint32_t before = update_mapped(here, operation, value_of(value), value_of(compare));
    if (old != nullptr) *static_cast<std::uint32_t*>(old) = before;
    rma_wake_after_store(rank);
    return outcome.succeed();
  }
  auto* const target = reinterpret_cast<std::uint32_t*>(owners_address(atom.coarray, atom.offset, rank));
  outcome.report(rma_atomic32(operation, target, value_of(value), value_of(compare),
                              static_cast<std::uint32_t*>(old), rank));
}

}  // namespace

void caf_atomic_define(Coarray* token, std::size_t offset, int image, const void* value, int* stat,
                       int /*type*/, int /*kind*/) {
  update_atom({*token, offset, image}, RMA_SET, value, nullptr, nullptr, stat);
}

void caf_atomic_ref(Coarray* token, std::size_t offset, int image, void* value, int* stat, int /*type*/,
                    int /*kind*/) {
  update_atom({*token, offset, image}, RMA_FETCH, nullptr, nullptr, value, stat);
}

void caf_atomic_cas(Coarray* token, std::size_t offset, int image, void* old, const void* compare,
                    const void* value, int* stat, int /*type*/, int /*kind*/) {
  update_atom({*token, offset, image}, RMA_COMPARE_SWAP, value, compare, old, stat);
}

void caf_atomic_op(int operation, Coarray* token, std::size_t offset, int image, const void* value, void* old,
                   int* stat, int /*type*/, int /*kind*/) {
  update_atom({*token, offset, image}, operation_of(operation), value, nullptr, old, stat);
}

}  // namespace librma::coarrays
