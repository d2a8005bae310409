// Duplicates of communicators: MPI_Comm_dup, and MPI_Comm_idup, whose agreement goes on while the program
// computes.

#include <memory>
#include <vector>

#include "rma/messages.h"
#include "rma/rma.h"
#include "twosided_compat/calls.hpp"
#include "twosided_compat/communicator_management/intercommunicators.hpp"
#include "twosided_compat/communicators/collective_transfers.hpp"
#include "twosided_compat/messages/requests.hpp"
#include "twosided_compat/objects/info.hpp"
#include "twosided_compat/objects/library_failure.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma::mpi {
namespace {

/// Makes a copy of `original` that has the attributes which their copy functions give it. `handle` is that of
/// the original.
int copy_communicator(Communicator& original, MPI_Comm handle, std::uint32_t context, Communicator*& copy) {
  copy = new Communicator(original.members(), original.rank(), context, original, original.remote());
  copy->topology = original.topology;
  const int code = copy->attributes.copy_from(original.attributes, handle);
  if (code != MPI_SUCCESS) copy->remove_reference();
  return code;
}

/// Agrees on the context of a copy. All processes of the communicator call it.
int agree_on_copy(const Communicator& original, std::uint32_t& context) {
  if (original.is_inter()) return agree_on_context(original, context);
  CollectiveTransfers transfers(original, CollectiveTag::kNewContext);
  const int drawer = original.next_drawer();
  if (original.rank() == drawer) context = new_context();
  RMA_TRY(transfers.broadcast(&context, sizeof context, drawer));
  return context != 0 ? MPI_SUCCESS : no_context();
}

/// The agreement of an MPI_Comm_idup: one process draws the context and sends it to all others. librma's
/// progress completes these messages, so no process waits for another before its own request has ended.
/// Duplications of one communicator begin in the same order everywhere, and so do their messages.
class Duplication {
 public:
  explicit Duplication(Communicator& copy) : copy_(copy) { copy_.add_reference(); }
  ~Duplication() { copy_.remove_reference(); }
  Duplication(const Duplication&) = delete;
  Duplication& operator=(const Duplication&) = delete;

  int begin(const Communicator& original) {
    const Members& deciding =
        original.is_inter() && !decides(original) ? *original.remote() : *original.members();
    const int drawer = deciding.world_rank(0);
    if (drawer != rma_rank()) {
      pending_.resize(1);
      return checked(rma_recv_nb(&context_, sizeof context_, drawer, kTag, original.collective_context(),
                                 nullptr, pending_.data()));
    }
    context_ = new_context();
    RMA_TRY(send_to(*original.members(), original));
    return original.is_inter() ? send_to(*original.remote(), original) : MPI_SUCCESS;
  }

  /// Returns whether the agreement has ended, and sets `code` if it has.
  bool has_ended(int& code) {
    for (rma_request_t& request : pending_) {
      if (request == RMA_REQUEST_NULL) continue;
      int done = 0;
      const rma_status_t status = rma_test(&request, &done);
      if (done == 0) return false;
      request = RMA_REQUEST_NULL;
      if (status != RMA_SUCCESS) code = checked(status);
    }
    if (code == MPI_SUCCESS && context_ == 0) code = no_context();
    copy_.set_context(context_);
    return true;
  }

 private:
  static constexpr int kTag = static_cast<int>(CollectiveTag::kDuplicate);

  int send_to(const Members& group, const Communicator& original) {
    for (const int world : group.world_ranks()) {
      if (world == rma_rank()) continue;
      rma_request_t& request = pending_.emplace_back(RMA_REQUEST_NULL);
      RMA_TRY(checked(
          rma_send_nb(&context_, sizeof context_, world, kTag, original.collective_context(), &request)));
    }
    return MPI_SUCCESS;
  }

  Communicator& copy_;
  std::uint32_t context_ = 0;
  std::vector<rma_request_t> pending_;
};

}  // namespace

int comm_dup(MPI_Comm handle, MPI_Comm* made) {
  Communicator* copy = nullptr;
  std::uint32_t context = 0;
  RMA_TRY_ASSIGN(comm, find_communicator(handle));
  RMA_TRY(agree_on_copy(*comm, context));
  RMA_TRY(copy_communicator(*comm, handle, context, copy));
  *made = copy->handle<MPI_Comm>();
  return MPI_SUCCESS;
}

// The program gets the handle at once. It may not use it before the request has ended.
int comm_idup(MPI_Comm handle, MPI_Comm* made, MPI_Request* request_handle) {
  Communicator* copy = nullptr;
  RMA_TRY_ASSIGN(comm, find_communicator(handle));
  RMA_TRY(copy_communicator(*comm, handle, 0, copy));
  auto duplication = std::make_shared<Duplication>(*copy);
  auto request = std::make_unique<Request>(Request::Type::kDuplicate, *comm);
  if (const int code = duplication->begin(*comm); code != MPI_SUCCESS) {
    copy->remove_reference();
    return code;
  }
  request->become<Request::HasEnded>(
      [duplication, self = request.get()] { return duplication->has_ended(self->code); });
  *made = copy->handle<MPI_Comm>();
  *request_handle = request.release()->handle<MPI_Request>();
  return MPI_SUCCESS;
}

int comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* made) {
  RMA_TRY(check_hints(info));
  return comm_dup(comm, made);
}

int comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* made, MPI_Request* request) {
  RMA_TRY(check_hints(info));
  return comm_idup(comm, made, request);
}

}  // namespace librma::mpi
