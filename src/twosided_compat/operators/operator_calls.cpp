// The calls on operators, and MPI_Reduce_local.

#include "twosided_compat/calls.hpp"
#include "twosided_compat/objects/errors.hpp"
#include "twosided_compat/operators/operators.hpp"

namespace librma::mpi {
namespace {

int no_operator() { return failure(MPI_ERR_OP, "the handle is null, was freed, or is no operator"); }

template <class Function>
int create_operator(Function* function, int commute, MPI_Op* op) {
  if (function == nullptr || op == nullptr)
    return failure(MPI_ERR_ARG, "the function or the place of the handle is null");
  *op = (new Operator(function, commute != 0))->template handle<MPI_Op>();
  return MPI_SUCCESS;
}

}  // namespace

int op_create(MPI_User_function* user_fn, int commute, MPI_Op* op) {
  return create_operator(user_fn, commute, op);
}
int op_create_c(MPI_User_function_c* user_fn, int commute, MPI_Op* op) {
  return create_operator(user_fn, commute, op);
}

int op_free(MPI_Op* op) {
  if (is_predefined_operator(*op)) return failure(MPI_ERR_OP, "a predefined operator cannot be freed");
  auto* const found = find<Operator>(*op);
  if (found == nullptr) return no_operator();
  found->remove_reference();
  *op = MPI_OP_NULL;
  return MPI_SUCCESS;
}

int op_commutative(MPI_Op op, int* commute) {
  if (is_predefined_operator(op)) {
    // MPI_REPLACE does not commute: the later one of two replacements counts.
    *commute = op != MPI_REPLACE ? 1 : 0;
    return MPI_SUCCESS;
  }
  const auto* const found = find<Operator>(op);
  if (found == nullptr) return no_operator();
  *commute = found->commutes() ? 1 : 0;
  return MPI_SUCCESS;
}

int reduce_local(const void* inbuf, void* inoutbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op) {
  if (count != 0 && (inbuf == MPI_IN_PLACE || inoutbuf == MPI_IN_PLACE || inbuf == inoutbuf)) {
    return failure(MPI_ERR_BUFFER, "the buffers are the same, or one is MPI_IN_PLACE");
  }
  return reduce(op, datatype, inbuf, inoutbuf, count);
}

}  // namespace librma::mpi
