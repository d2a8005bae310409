// MPI_Accumulate, MPI_Get_accumulate, and their forms with requests.

#include <fmt/format.h>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/messages/requests.hpp"
#include "twosided_compat/windows/window_accumulation.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma::mpi {
namespace {

/// The arguments that describe one of the three buffers.
struct Argument {
  const void* address;
  MPI_Count count;
  MPI_Datatype type;
};

/// Returns the predefined type that all elements of a datatype have, or null if they differ.
const Datatype* element_of(const Datatype& type) {
  if (type.predefined() != nullptr) return &type;
  if (type.contents() == nullptr) return nullptr;
  const Datatype* element = nullptr;
  for (const Datatype* const part : type.contents()->types()) {
    const Datatype* const found = element_of(*part);
    if (found == nullptr || (element != nullptr && found->predefined() != element->predefined()))
      return nullptr;
    element = found;
  }
  return element;
}

/// Returns whether an argument has no data: no elements, or elements of size 0.
bool has_no_data(const Argument& argument) {
  if (argument.count == 0) return true;
  const auto* const type = find<Datatype>(argument.type);
  return argument.count > 0 && type != nullptr && type->size() == 0;
}

/// Finds one buffer of the origin, and checks that its elements are of the type of the target's.
int find_local(const Argument& argument, const Datatype& element, Buffer& buffer) {
  RMA_TRY(find_buffer(argument.address, argument.count, argument.type, buffer));
  const auto* const type = find<Datatype>(argument.type);
  const Datatype* const own = type != nullptr ? element_of(*type) : nullptr;
  if (own != nullptr && own->predefined() == element.predefined()) return MPI_SUCCESS;
  return failure(MPI_ERR_TYPE, "the origin's and the target's elements are not of one predefined type");
}

int check_size(const Buffer& buffer, const Buffer& target) {
  if (buffer.bytes == target.bytes) return MPI_SUCCESS;
  return failure(MPI_ERR_COUNT,
                 fmt::format("{} bytes at the origin, {} at the target", buffer.bytes, target.bytes));
}

/// Performs an accumulate. `result` is null if it does not fetch.
int accumulate_with(const Argument& origin, const Argument* result, int rank, MPI_Aint disp, MPI_Count count,
                    MPI_Datatype type, MPI_Op op, MPI_Win handle) {
  RMA_TRY_ASSIGN(win, find_window(handle));
  if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
  RMA_TRY_ASSIGN(target_type, find_datatype(type));
  if (count < 0) return failure(MPI_ERR_COUNT, fmt::format("the target's count is {}", count));
  // Without data nothing is combined, so no operation and no type is refused. mpi4py sums 0 bytes.
  if (has_no_data({nullptr, count, type}) && has_no_data(origin) &&
      (result == nullptr || has_no_data(*result)))
    return MPI_SUCCESS;
  Accumulation accumulation;
  accumulation.op = predefined_number(op);
  accumulation.fetches = result != nullptr;
  accumulation.element = element_of(*target_type);
  if (accumulation.element == nullptr)
    return failure(MPI_ERR_TYPE, "the target's elements are not of one predefined type");
  if (op == MPI_NO_OP && result == nullptr) return failure(MPI_ERR_OP, "MPI_NO_OP needs a result");
  RMA_TRY(find_accumulate_kernel(op, *accumulation.element->predefined(), accumulation.kernel));
  if (op != MPI_NO_OP) {
    RMA_TRY(find_local(origin, *accumulation.element, accumulation.origin));
  }
  if (result != nullptr) {
    RMA_TRY(find_local(*result, *accumulation.element, accumulation.result));
  }
  RMA_TRY(find_target(*win, rank, disp, count, type, accumulation.target));
  if (op != MPI_NO_OP) {
    RMA_TRY(check_size(accumulation.origin, accumulation.target.buffer));
  }
  if (result != nullptr) {
    RMA_TRY(check_size(accumulation.result, accumulation.target.buffer));
  }
  return run(*win, accumulation);
}

/// Accumulates are complete when their call returns, so that the requests of all are one.
int give_complete(int code, MPI_Request* request) {
  if (code == MPI_SUCCESS) *request = sent_request->handle<MPI_Request>();
  return code;
}

int no_request() { return failure(MPI_ERR_ARG, "request is null"); }

}  // namespace

int accumulate(const void* origin, MPI_Count origin_count, MPI_Datatype origin_type, int rank, MPI_Aint disp,
               MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Win win) {
  const MappedTransfer usual =
      mapped_transfer(origin, origin_count, origin_type, rank, disp, count, type, win);
  if (usual.part != nullptr && usual.bytes != 0) [[likely]] {
    int code = MPI_SUCCESS;
    if (run_mapped(*find<Window>(win), usual, static_cast<const std::byte*>(origin),
                   *find<Datatype>(type)->predefined(), op, code)) [[likely]] {
      return code;
    }
  }
  return accumulate_with({origin, origin_count, origin_type}, nullptr, rank, disp, count, type, op, win);
}

int get_accumulate(const void* origin, MPI_Count origin_count, MPI_Datatype origin_type, void* result,
                   MPI_Count result_count, MPI_Datatype result_type, int rank, MPI_Aint disp, MPI_Count count,
                   MPI_Datatype type, MPI_Op op, MPI_Win win) {
  const Argument fetched = {result, result_count, result_type};
  return accumulate_with({origin, origin_count, origin_type}, &fetched, rank, disp, count, type, op, win);
}

int raccumulate(const void* origin, MPI_Count origin_count, MPI_Datatype origin_type, int rank, MPI_Aint disp,
                MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Win win, MPI_Request* request) {
  if (request == nullptr) return no_request();
  return give_complete(accumulate(origin, origin_count, origin_type, rank, disp, count, type, op, win),
                       request);
}

int rget_accumulate(const void* origin, MPI_Count origin_count, MPI_Datatype origin_type, void* result,
                    MPI_Count result_count, MPI_Datatype result_type, int rank, MPI_Aint disp,
                    MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Win win, MPI_Request* request) {
  if (request == nullptr) return no_request();
  return give_complete(get_accumulate(origin, origin_count, origin_type, result, result_count, result_type,
                                      rank, disp, count, type, op, win),
                       request);
}

}  // namespace librma::mpi
