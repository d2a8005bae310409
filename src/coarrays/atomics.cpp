// Atomic subroutines. atomic_int_kind and atomic_logical_kind have 4 bytes.

#include <cstdint>

#include "coarrays/entry_points.hpp"
#include "coarrays/memory.hpp"

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

/// Executes an operation. `value`, `compare` and `old` may be null.
void update_atom(const Atom& atom, rma_atomic_op_t operation, const void* value, const void* compare,
                 void* old, int* stat) {
  const Outcome outcome{.stat = stat};
  const int rank = rank_or_self(atom.image);
  if (rank < 0) return refuse_image(outcome, atom.image);
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
