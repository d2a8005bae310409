// Operators: the predefined ones, and those of the program.

#include "twosided_compat/operators/operators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "twosided_compat/objects/errors.hpp"
#include "util/try.hpp"

namespace rma::mpi {

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
    function_(from + done * extent, to + done * extent, &piece, &datatype);
  }
}

const char* operator_name(MPI_Op op) {
  switch (bits(op)) {
    case number::kSum:
      return "MPI_SUM";
    case number::kMin:
      return "MPI_MIN";
    case number::kMax:
      return "MPI_MAX";
    case number::kProd:
      return "MPI_PROD";
    case number::kBand:
      return "MPI_BAND";
    case number::kBor:
      return "MPI_BOR";
    case number::kBxor:
      return "MPI_BXOR";
    case number::kLand:
      return "MPI_LAND";
    case number::kLor:
      return "MPI_LOR";
    case number::kLxor:
      return "MPI_LXOR";
    case number::kMinloc:
      return "MPI_MINLOC";
    case number::kMaxloc:
      return "MPI_MAXLOC";
    case number::kReplace:
      return "MPI_REPLACE";
    case number::kNoOp:
      return "MPI_NO_OP";
    default:
      return nullptr;
  }
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
  if (!is_predefined_operator(op)) return failure(MPI_ERR_OP, "the handle is null or no operator");
  reduction.kernel_ = type->predefined() != nullptr ? find_kernel(bits(op), *type->predefined()) : nullptr;
  if (reduction.kernel_ != nullptr) return MPI_SUCCESS;
  const std::string name = type->name();
  return failure(MPI_ERR_OP, fmt::format("the operator 0x{:x} is not defined for {}", bits(op),
                                         name.empty() ? "a derived datatype" : name.c_str()));
}

int reduce(MPI_Op op, MPI_Datatype datatype, const void* in, void* inout, MPI_Count count) {
  if (count < 0) return failure(MPI_ERR_COUNT, fmt::format("the count is {}", count));
  Reduction reduction;
  RMA_TRY(Reduction::find(op, datatype, reduction));
  reduction(in, inout, count);
  return MPI_SUCCESS;
}

}  // namespace rma::mpi
