// MPI_Put, MPI_Get, and their forms with requests.

#include <fmt/format.h>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/messages/requests.hpp"
#include "twosided_compat/objects/library_failure.hpp"
#include "twosided_compat/windows/short_transfers.hpp"
#include "twosided_compat/windows/window_layouts.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma::mpi {
namespace {

/// Moves data in all cases. `request` is null if the epoch completes the operation.
int move(Direction direction, const void* origin, MPI_Count origin_count, MPI_Datatype origin_type, int rank,
         MPI_Aint disp, MPI_Count count, MPI_Datatype type, MPI_Win handle, rma_request_t* request) {
  RMA_TRY_ASSIGN(win, find_window(handle));
  Buffer local;
  RMA_TRY(find_buffer(origin, origin_count, origin_type, local));
  if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
  Target target;
  RMA_TRY(find_target(*win, rank, disp, count, type, target));
  const bool puts = direction == Direction::kPut;
  const std::size_t bytes = puts ? local.bytes : target.buffer.bytes;
  if (bytes > (puts ? target.buffer.bytes : local.bytes)) {
    return failure(MPI_ERR_TRUNCATE,
                   fmt::format("{} bytes at the origin, {} at the target", local.bytes, target.buffer.bytes));
  }
  const rma_status_t status = transfer(direction, local, target, bytes, request);
  if (status == RMA_ERR_ADDRESS) return failure(MPI_ERR_RMA_RANGE, rma_last_error());
  return checked(status);
}

/// The forms with a request, in all cases.
int move_with_request(Direction direction, const void* origin, MPI_Count origin_count,
                      MPI_Datatype origin_type, int rank, MPI_Aint disp, MPI_Count count, MPI_Datatype type,
                      MPI_Win handle, MPI_Request* made) {
  rma_request_t pending = RMA_REQUEST_NULL;
  RMA_TRY(move(direction, origin, origin_count, origin_type, rank, disp, count, type, handle, &pending));
  if (pending == RMA_REQUEST_NULL || pending == RMA_REQUEST_COMPLETE) {
    *made = sent_request->handle<MPI_Request>();
    return MPI_SUCCESS;
  }
  auto request = std::make_unique<Request>(*find<Window>(handle));
  request->pending = pending;
  *made = request.release()->handle<MPI_Request>();
  return MPI_SUCCESS;
}

}  // namespace

int put(const void* origin, MPI_Count origin_count, MPI_Datatype origin_type, int rank, MPI_Aint disp,
        MPI_Count count, MPI_Datatype type, MPI_Win win) {
  const MappedTransfer usual =
      mapped_transfer(origin, origin_count, origin_type, rank, disp, count, type, win);
  if (usual.part != nullptr && usual.bytes != 0) [[likely]] {
    return checked(rma_put_nbi(usual.there(), origin, usual.bytes, usual.part->owner));
  }
  return move(Direction::kPut, origin, origin_count, origin_type, rank, disp, count, type, win, nullptr);
}

int get(void* origin, MPI_Count origin_count, MPI_Datatype origin_type, int rank, MPI_Aint disp,
        MPI_Count count, MPI_Datatype type, MPI_Win win) {
  const MappedTransfer usual =
      mapped_transfer(origin, origin_count, origin_type, rank, disp, count, type, win);
  if (usual.part != nullptr && usual.bytes != 0) [[likely]] {
    return checked(rma_get_nbi(origin, usual.there(), usual.bytes, usual.part->owner));
  }
  return move(Direction::kGet, origin, origin_count, origin_type, rank, disp, count, type, win, nullptr);
}

int rput(const void* origin, MPI_Count origin_count, MPI_Datatype origin_type, int rank, MPI_Aint disp,
         MPI_Count count, MPI_Datatype type, MPI_Win win, MPI_Request* request) {
  return move_with_request(Direction::kPut, origin, origin_count, origin_type, rank, disp, count, type, win,
                           request);
}

int rget(void* origin, MPI_Count origin_count, MPI_Datatype origin_type, int rank, MPI_Aint disp,
         MPI_Count count, MPI_Datatype type, MPI_Win win, MPI_Request* request) {
  return move_with_request(Direction::kGet, origin, origin_count, origin_type, rank, disp, count, type, win,
                           request);
}

}  // namespace librma::mpi
