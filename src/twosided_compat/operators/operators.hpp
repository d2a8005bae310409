#pragma once

#include <cstddef>

#include "kernels/operators.hpp"
#include "twosided_compat/datatypes/datatypes.hpp"
#include "twosided_compat/objects/object.hpp"

namespace librma::mpi {

/// Returns the loop of a predefined operator over a predefined datatype. Returns null if the standard does
/// not define the operator for it, or the compiler does not have the machine type.
[[nodiscard]] kernels::Loop find_loop(MPI_Op op, const PredefinedType& type);

/// An operator of the program. A reduction that is under way holds a reference.
class Operator : public Counted<Operator> {
 public:
  Operator(MPI_User_function* function, bool commutes)
      : Counted(Kind::kOp), function_(function), commutes_(commutes) {}
  Operator(MPI_User_function_c* function, bool commutes)
      : Counted(Kind::kOp), large_(function), commutes_(commutes) {}

  [[nodiscard]] bool commutes() const { return commutes_; }
  /// Makes the operator's function one that gets `context` as a fifth argument: that of an operator of Open
  /// MPI's C++ bindings.
  void set_context(void (*context)()) {
    context_ = context;
    with_context_ = reinterpret_cast<FunctionWithContext*>(reinterpret_cast<void (*)()>(function_));
  }
  /// Calls the program's function for `count` elements, several times if its int cannot say so many.
  void call(const void* in, void* inout, MPI_Count count, MPI_Datatype datatype, MPI_Count extent) const;

 private:
  using FunctionWithContext = void(void* in, void* inout, int* length, MPI_Datatype* datatype,
                                   void (*context)());

  MPI_User_function* function_ = nullptr;
  MPI_User_function_c* large_ = nullptr;
  FunctionWithContext* with_context_ = nullptr;
  void (*context_)() = nullptr;
  bool commutes_;
};

/// Says how the elements of one reduction are combined: a predefined operator is looked up once, for all the
/// pieces of the reduction. The operator and the datatype must exist as long as this.
class Reduction {
 public:
  /// Returns MPI_SUCCESS and sets `reduction`, or MPI_ERR_TYPE, or MPI_ERR_OP if the operator is not defined
  /// for the datatype. MPI_REPLACE and MPI_NO_OP are none for a reduction: only accumulates of windows have
  /// them.
  [[nodiscard]] static int find(MPI_Op op, MPI_Datatype datatype, Reduction& reduction);

  /// Performs inout[i] = in[i] op inout[i] for `count` elements. The arrays do not overlap, and are
  /// aligned as the program's operator wants them.
  void operator()(const void* in, void* inout, MPI_Count count) const {
    if (loop_ != nullptr) {
      loop_(in, inout, static_cast<std::size_t>(count), nullptr);
    } else if (operator_ != nullptr && count > 0) {
      operator_->call(in, inout, count, datatype_, extent_);
    }
  }
  /// Returns whether a op b is b op a, so that the processes' contributions may be combined in any order.
  [[nodiscard]] bool commutes() const { return operator_ == nullptr || operator_->commutes(); }

 private:
  kernels::Loop loop_ = nullptr;
  const Operator* operator_ = nullptr;
  MPI_Datatype datatype_ = MPI_DATATYPE_NULL;
  MPI_Count extent_ = 0;
};

/// Combines the elements of two arrays once. Returns the errors of Reduction::find(), and MPI_ERR_COUNT.
[[nodiscard]] int reduce(MPI_Op op, MPI_Datatype datatype, const void* in, void* inout, MPI_Count count);

/// Returns the name of a predefined operator, also of MPI_REPLACE and MPI_NO_OP. Returns null for all other
/// handles.
[[nodiscard]] const char* operator_name(MPI_Op op);
[[nodiscard]] inline bool is_predefined_operator(MPI_Op op) { return operator_name(op) != nullptr; }

}  // namespace librma::mpi
