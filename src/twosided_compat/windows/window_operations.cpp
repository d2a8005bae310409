// MPI_Fetch_and_op and MPI_Compare_and_swap: accumulates of one element, without the work that layouts need.

#include <fmt/format.h>

#include <cstring>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/objects/library_failure.hpp"
#include "twosided_compat/windows/window_accumulation.hpp"
#include "twosided_compat/windows/window_words.hpp"
#include "util/range_check.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma::mpi {
namespace {

/// Finds a predefined type. MPI_ERR_TYPE.
Found<Datatype> find_element(MPI_Datatype handle) {
  RMA_TRY_ASSIGN(type, find_datatype(handle));
  if (type->predefined() == nullptr) return failure(MPI_ERR_TYPE, "the datatype is not a predefined one");
  return type;
}

/// Returns whether MPI_Compare_and_swap is defined for a type.
bool is_comparable(const PredefinedType& type) {
  return type.type_class == TypeClass::kCInteger || type.type_class == TypeClass::kFortranInteger ||
         type.type_class == TypeClass::kMultiLanguage || type.type_class == TypeClass::kLogical ||
         type.type_class == TypeClass::kByte;
}

template <class Word>
Word load(const void* address) {
  Word word = 0;
  std::memcpy(&word, address, sizeof word);
  return word;
}

/// Stores what a word was, or returns why that is not known.
template <class Word>
int give_old(rma_status_t status, Word old, void* result) {
  if (status == RMA_SUCCESS) [[likely]] {
    std::memcpy(result, &old, sizeof old);
    return MPI_SUCCESS;
  }
  if (status == RMA_ERR_ALIGNMENT) return failure(MPI_ERR_DISP, rma_last_error());
  return status == RMA_ERR_ADDRESS ? failure(MPI_ERR_RMA_RANGE, rma_last_error()) : library_failure(status);
}

/// Returns the word that a displacement names, if it is inside of a part and aligned. Else returns null.
template <class Word>
[[gnu::always_inline]] inline Word* word_at(const WindowPart& part, MPI_Aint disp) {
  std::size_t offset = 0;
  if (disp < 0 || __builtin_mul_overflow(static_cast<std::size_t>(disp), part.unit, &offset) ||
      !range_contains(part.bytes, offset, sizeof(Word))) {
    return nullptr;
  }
  const std::uintptr_t address = part.base + offset;
  return address % sizeof(Word) == 0 ? word_of<Word>(part, address) : nullptr;
}

int check_operands(const void* origin, const void* result, bool reads) {
  if (result == nullptr || (reads && origin == nullptr)) return failure(MPI_ERR_BUFFER, "an operand is null");
  return MPI_SUCCESS;
}

/// Executes MPI_Fetch_and_op, for all types and operators.
int fetch_and_op_any(const void* origin, void* result, MPI_Datatype datatype, int rank, MPI_Aint disp,
                     MPI_Op op, MPI_Win handle) {
  RMA_TRY_ASSIGN(win, find_window(handle));
  RMA_TRY_ASSIGN(type, find_element(datatype));
  Accumulation accumulation;
  accumulation.op = predefined_number(op);
  accumulation.element = type;
  accumulation.fetches = true;
  RMA_TRY(find_accumulate_kernel(op, *type->predefined(), accumulation.kernel));
  RMA_TRY(check_operands(origin, result, op != MPI_NO_OP));
  if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
  if (op != MPI_NO_OP) {
    RMA_TRY(find_buffer(origin, 1, datatype, accumulation.origin));
  }
  RMA_TRY(find_buffer(result, 1, datatype, accumulation.result));
  RMA_TRY(find_target(*win, rank, disp, 1, datatype, accumulation.target));
  return run(*win, accumulation);
}

}  // namespace

int fetch_and_op(const void* origin, void* result, MPI_Datatype datatype, int rank, MPI_Aint disp, MPI_Op op,
                 MPI_Win handle) {
  // The usual case: a sum of integers of 8 bytes, or a read of one.
  const auto* const type = find<Datatype>(datatype);
  auto* const win = find<Window>(handle);
  if (win != nullptr && type != nullptr && type->predefined() != nullptr && result != nullptr &&
      type->predefined()->size == sizeof(std::uint64_t) &&
      ((op == MPI_SUM && origin != nullptr && type->predefined()->type_class != TypeClass::kLogical) ||
       op == MPI_NO_OP)) [[likely]] {
    if (const WindowPart* const part = win->accessible(rank);
        part != nullptr && is_word(*part, *type->predefined())) {
      if (auto* const word = word_at<std::uint64_t>(*part, disp); word != nullptr) {
        std::uint64_t old = 0;
        const bool adds = op == MPI_SUM;
        const rma_status_t status =
            update_word<std::uint64_t>(adds ? RMA_FETCH_ADD : RMA_FETCH, word,
                                       adds ? load<std::uint64_t>(origin) : 0, 0, old, part->owner);
        return give_old(status, old, result);
      }
    }
  }
  return fetch_and_op_any(origin, result, datatype, rank, disp, op, handle);
}

int compare_and_swap(const void* origin, const void* compare, void* result, MPI_Datatype datatype, int rank,
                     MPI_Aint disp, MPI_Win handle) {
  RMA_TRY_ASSIGN(win, find_window(handle));
  RMA_TRY_ASSIGN(type, find_element(datatype));
  if (!is_comparable(*type->predefined()))
    return failure(MPI_ERR_TYPE, fmt::format("{} cannot be compared and swapped", type->predefined()->name));
  RMA_TRY(check_operands(origin, result, true));
  if (compare == nullptr) return failure(MPI_ERR_BUFFER, "an operand is null");
  if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
  Target target;
  RMA_TRY(find_target(*win, rank, disp, 1, datatype, target));
  if (words_in(target, *type->predefined()) != Words::kAll)
    return compare_and_swap_locked(*win, target, origin, compare, result);
  const auto swap = [&]<class Word>(Word /*kind*/) {
    auto* const word = reinterpret_cast<Word*>(target.buffer.data);
    if (reinterpret_cast<std::uintptr_t>(word) % sizeof(Word) != 0)
      return failure(MPI_ERR_DISP,
                     fmt::format("the target's integer of {} bytes is not aligned", sizeof(Word)));
    Word old = 0;
    const rma_status_t status = update_word<Word>(RMA_COMPARE_SWAP, word, load<Word>(origin),
                                                  load<Word>(compare), old, target.part->owner);
    return give_old(status, old, result);
  };
  return type->predefined()->size == sizeof(std::uint64_t) ? swap(std::uint64_t{0}) : swap(std::uint32_t{0});
}

}  // namespace librma::mpi
