// Operators: the predefined ones, and those of the program.

#include "twosided_compat/operators/operators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "twosided_compat/objects/errors.hpp"
#include "util/try.hpp"

namespace librma::mpi {
namespace {

/// The bit of a class of types in PredefinedOperator::classes.
constexpr unsigned in(TypeClass type_class) { return 1U << static_cast<unsigned>(type_class); }

struct PredefinedOperator {
  std::uintptr_t handle = 0;
  const char* name = nullptr;
  unsigned classes = 0;  ///< for which it is defined
  kernels::Operator loop = {};
};

constexpr unsigned kIntegers =
    in(TypeClass::kCInteger) | in(TypeClass::kFortranInteger) | in(TypeClass::kMultiLanguage);
constexpr unsigned kOrdered = kIntegers | in(TypeClass::kFloating);
constexpr unsigned kArithmetic = kOrdered | in(TypeClass::kComplex);
constexpr unsigned kBits = kIntegers | in(TypeClass::kByte);
/// The standard leaves MPI_AINT, MPI_COUNT and MPI_OFFSET out, but MPICH and Open MPI combine them.
constexpr unsigned kTruths =
    in(TypeClass::kCInteger) | in(TypeClass::kMultiLanguage) | in(TypeClass::kLogical);
constexpr unsigned kPairs = in(TypeClass::kPair);
constexpr unsigned kNoTypes = 0;  ///< only accumulates of windows have the operator, which needs no loop

constexpr std::array kPredefinedOperators = {
    PredefinedOperator{number::kSum, "MPI_SUM", kArithmetic, kernels::Operator::kSum},
    PredefinedOperator{number::kMin, "MPI_MIN", kOrdered, kernels::Operator::kMin},
    PredefinedOperator{number::kMax, "MPI_MAX", kOrdered, kernels::Operator::kMax},
    PredefinedOperator{number::kProd, "MPI_PROD", kArithmetic, kernels::Operator::kProduct},
    PredefinedOperator{number::kBand, "MPI_BAND", kBits, kernels::Operator::kBitAnd},
    PredefinedOperator{number::kBor, "MPI_BOR", kBits, kernels::Operator::kBitOr},
    PredefinedOperator{number::kBxor, "MPI_BXOR", kBits, kernels::Operator::kBitXor},
    PredefinedOperator{number::kLand, "MPI_LAND", kTruths, kernels::Operator::kLogicalAnd},
    PredefinedOperator{number::kLor, "MPI_LOR", kTruths, kernels::Operator::kLogicalOr},
    PredefinedOperator{number::kLxor, "MPI_LXOR", kTruths, kernels::Operator::kLogicalXor},
    PredefinedOperator{number::kMinloc, "MPI_MINLOC", kPairs, kernels::Operator::kMinLocation},
    PredefinedOperator{number::kMaxloc, "MPI_MAXLOC", kPairs, kernels::Operator::kMaxLocation},
    PredefinedOperator{number::kReplace, "MPI_REPLACE", kNoTypes, {}},
    PredefinedOperator{number::kNoOp, "MPI_NO_OP", kNoTypes, {}},
};

/// The operators by the distance of their handles from the first handle. Numbers that no operator has are
/// entries without a name.
constexpr auto kByHandle = [] {
  std::array<PredefinedOperator, number::kNoOp - number::kSum + 1> all = {};
  for (const PredefinedOperator& predefined_operator : kPredefinedOperators)
    all[predefined_operator.handle - number::kSum] = predefined_operator;
  return all;
}();

const PredefinedOperator* find_predefined(MPI_Op op) {
  const std::uintptr_t distance = predefined_number(op) - number::kSum;
  return distance < kByHandle.size() && kByHandle[distance].name != nullptr ? &kByHandle[distance] : nullptr;
}

/// Returns the loop of an operator over a datatype, or null.
kernels::Loop loop_of(const PredefinedOperator& op, const PredefinedType& type) {
  if ((op.classes & in(type.type_class)) == 0) return nullptr;
  return kernels::find(op.loop, type.element, type.type_class == TypeClass::kComplex);
}

}  // namespace

// The standard lets the function have a `void*` for what it must not change.
void Operator::call(const void* in, void* inout, MPI_Count count, MPI_Datatype datatype,
                    MPI_Count extent) const {
  auto* from = static_cast<char*>(const_cast<void*>(in));
  auto* to = static_cast<char*>(inout);
  if (large_ != nullptr) {
    large_(from, to, &count, &datatype);
    return;
  }
  constexpr MPI_Count kMost = std::numeric_limits<int>::max();
  for (MPI_Count done = 0; done < count; done += kMost) {
    int piece = static_cast<int>(std::min(count - done, kMost));
    if (context_ != nullptr) [[unlikely]] {
      with_context_(from + done * extent, to + done * extent, &piece, &datatype, context_);
    } else {
      function_(from + done * extent, to + done * extent, &piece, &datatype);
    }
  }
}

const char* operator_name(MPI_Op op) {
  const PredefinedOperator* const found = find_predefined(op);
  return found != nullptr ? found->name : nullptr;
}

kernels::Loop find_loop(MPI_Op op, const PredefinedType& type) {
  const PredefinedOperator* const found = find_predefined(op);
  return found != nullptr ? loop_of(*found, type) : nullptr;
}

int Reduction::find(MPI_Op op, MPI_Datatype datatype, Reduction& reduction) {
  const Datatype* const type = mpi::find<Datatype>(datatype);
  if (type == nullptr) return failure(MPI_ERR_TYPE, "the handle is null, was freed, or is no datatype");
  if (!is_predefined(op)) {
    reduction.operator_ = mpi::find<Operator>(op);
    reduction.datatype_ = datatype;
    reduction.extent_ = type->bounds().extent;
    return reduction.operator_ != nullptr ? MPI_SUCCESS
                                          : failure(MPI_ERR_OP, "the handle was freed, or is no operator");
  }
  const PredefinedOperator* const found = find_predefined(op);
  if (found == nullptr) return failure(MPI_ERR_OP, "the handle is null or no operator");
  reduction.loop_ = type->predefined() != nullptr ? loop_of(*found, *type->predefined()) : nullptr;
  if (reduction.loop_ != nullptr) return MPI_SUCCESS;
  const std::string name = type->name();
  return failure(MPI_ERR_OP, fmt::format("the operator 0x{:x} is not defined for {}", predefined_number(op),
                                         name.empty() ? "a derived datatype" : name.c_str()));
}

int reduce(MPI_Op op, MPI_Datatype datatype, const void* in, void* inout, MPI_Count count) {
  if (count < 0) return failure(MPI_ERR_COUNT, fmt::format("the count is {}", count));
  Reduction reduction;
  RMA_TRY(Reduction::find(op, datatype, reduction));
  reduction(in, inout, count);
  return MPI_SUCCESS;
}

}  // namespace librma::mpi
