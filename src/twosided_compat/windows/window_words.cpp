#include "twosided_compat/windows/window_words.hpp"

#include "twosided_compat/numbers.hpp"

namespace librma::mpi {

WordOperation word_operation(std::uintptr_t op, kernels::Loop kernel) {
  switch (op) {
    case number::kSum:
      return {.is_native = true, .native = RMA_FETCH_ADD, .kernel = kernel};
    case number::kBand:
      return {.is_native = true, .native = RMA_AND, .kernel = kernel};
    case number::kBor:
      return {.is_native = true, .native = RMA_OR, .kernel = kernel};
    case number::kBxor:
      return {.is_native = true, .native = RMA_XOR, .kernel = kernel};
    case number::kReplace:
      return {.is_native = true, .native = RMA_SWAP, .kernel = nullptr};
    case number::kNoOp:
      return {.is_native = true, .native = RMA_FETCH, .kernel = nullptr};
    default:
      return {.is_native = false, .native = RMA_FETCH, .kernel = kernel};
  }
}

}  // namespace librma::mpi
