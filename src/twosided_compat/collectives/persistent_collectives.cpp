// The persistent collective calls.

#include <memory>
#include <utility>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/collectives/collective_call.hpp"
#include "twosided_compat/messages/requests.hpp"

namespace rma::mpi {
namespace {

/// Makes a call whose arguments `fill` finds, and a request that starts it again and again.
template <typename Fill>
int keep(MPI_Request* made, const Fill& fill) {
  if (made == nullptr) return failure(MPI_ERR_ARG, "request is null");
  auto call = std::make_unique<CollectiveCall>();
  if (const int code = fill(*call); code != MPI_SUCCESS) return code;
  if (const int code = call->plan(); code != MPI_SUCCESS) return code;
  auto request = std::make_unique<Request>(Request::Type::kCollective, call->comm());
  request->extra().start = [planned = call.get()](Request& self) {
    self.ended = false;
    self.code = MPI_SUCCESS;
    return planned->restart(&self.pending);
  };
  request->extra().collective = std::move(call);
  request->active = false;
  *made = request.release()->handle<MPI_Request>();
  return MPI_SUCCESS;
}

}  // namespace

int barrier_init(MPI_Comm comm, MPI_Info /*info*/, MPI_Request* request) {
  return keep(request, [&](CollectiveCall& call) { return call.barrier(comm); });
}

int bcast_init(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
               MPI_Info
               /*info*/,
               MPI_Request* request) {
  return keep(request, [&](CollectiveCall& call) { return call.bcast(buffer, count, datatype, root, comm); });
}

int gather_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info /*info*/,
                MPI_Request* request) {
  return keep(request, [&](CollectiveCall& call) {
    return call.gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
  });
}

int gatherv_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                 Counts recvcounts, Displacements displs, MPI_Datatype recvtype, int root, MPI_Comm comm,
                 MPI_Info
                 /*info*/,
                 MPI_Request* request) {
  return keep(request, [&](CollectiveCall& call) {
    return call.gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm);
  });
}

int scatter_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                 MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info /*info*/,
                 MPI_Request* request) {
  return keep(request, [&](CollectiveCall& call) {
    return call.scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
  });
}

int scatterv_init(const void* sendbuf, Counts sendcounts, Displacements displs, MPI_Datatype sendtype,
                  void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                  MPI_Info
                  /*info*/,
                  MPI_Request* request) {
  return keep(request, [&](CollectiveCall& call) {
    return call.scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm);
  });
}

int allgather_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info /*info*/,
                   MPI_Request* request) {
  return keep(request, [&](CollectiveCall& call) {
    return call.allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  });
}

int allgatherv_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                    Counts recvcounts, Displacements displs, MPI_Datatype recvtype, MPI_Comm comm,
                    MPI_Info /*info*/, MPI_Request* request) {
  return keep(request, [&](CollectiveCall& call) {
    return call.allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
  });
}

int alltoall_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                  MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info /*info*/,
                  MPI_Request* request) {
  return keep(request, [&](CollectiveCall& call) {
    return call.alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  });
}

int alltoallv_init(const void* sendbuf, Counts sendcounts, Displacements sdispls, MPI_Datatype sendtype,
                   void* recvbuf, Counts recvcounts, Displacements rdispls, MPI_Datatype recvtype,
                   MPI_Comm comm, MPI_Info /*info*/, MPI_Request* request) {
  return keep(request, [&](CollectiveCall& call) {
    return call.alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
                          comm);
  });
}

int alltoallw_init(const void* sendbuf, Counts sendcounts, Displacements sdispls,
                   const MPI_Datatype sendtypes[], void* recvbuf, Counts recvcounts, Displacements rdispls,
                   const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info /*info*/, MPI_Request* request) {
  return keep(request, [&](CollectiveCall& call) {
    return call.alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
                          comm);
  });
}

int reduce_init(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                int root, MPI_Comm comm, MPI_Info /*info*/, MPI_Request* request) {
  return keep(request, [&](CollectiveCall& call) {
    return call.reduce(sendbuf, recvbuf, count, datatype, op, root, comm);
  });
}

int allreduce_init(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                   MPI_Comm comm, MPI_Info /*info*/, MPI_Request* request) {
  return keep(request, [&](CollectiveCall& call) {
    return call.allreduce(sendbuf, recvbuf, count, datatype, op, comm);
  });
}

int reduce_scatter_block_init(const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
                              MPI_Op op, MPI_Comm comm, MPI_Info /*info*/, MPI_Request* request) {
  return keep(request, [&](CollectiveCall& call) {
    return call.reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm);
  });
}

int reduce_scatter_init(const void* sendbuf, void* recvbuf, Counts recvcounts, MPI_Datatype datatype,
                        MPI_Op op, MPI_Comm comm, MPI_Info /*info*/, MPI_Request* request) {
  return keep(request, [&](CollectiveCall& call) {
    return call.reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm);
  });
}

int scan_init(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
              MPI_Comm comm, MPI_Info /*info*/, MPI_Request* request) {
  return keep(request,
              [&](CollectiveCall& call) { return call.scan(sendbuf, recvbuf, count, datatype, op, comm); });
}

int exscan_init(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                MPI_Comm comm, MPI_Info /*info*/, MPI_Request* request) {
  return keep(request,
              [&](CollectiveCall& call) { return call.exscan(sendbuf, recvbuf, count, datatype, op, comm); });
}

int neighbor_allgather_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                            MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info /*info*/,
                            MPI_Request* request) {
  return keep(request, [&](CollectiveCall& call) {
    return call.neighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  });
}

int neighbor_allgatherv_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                             Counts recvcounts, Displacements displs, MPI_Datatype recvtype, MPI_Comm comm,
                             MPI_Info /*info*/, MPI_Request* request) {
  return keep(request, [&](CollectiveCall& call) {
    return call.neighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                                    comm);
  });
}

int neighbor_alltoall_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                           MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info /*info*/,
                           MPI_Request* request) {
  return keep(request, [&](CollectiveCall& call) {
    return call.neighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  });
}

int neighbor_alltoallv_init(const void* sendbuf, Counts sendcounts, Displacements sdispls,
                            MPI_Datatype sendtype, void* recvbuf, Counts recvcounts, Displacements rdispls,
                            MPI_Datatype recvtype, MPI_Comm comm, MPI_Info /*info*/, MPI_Request* request) {
  return keep(request, [&](CollectiveCall& call) {
    return call.neighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                                   recvtype, comm);
  });
}

int neighbor_alltoallw_init(const void* sendbuf, Counts sendcounts, const MPI_Aint sdispls[],
                            const MPI_Datatype sendtypes[], void* recvbuf, Counts recvcounts,
                            const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                            MPI_Info /*info*/, MPI_Request* request) {
  return keep(request, [&](CollectiveCall& call) {
    return call.neighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                                   recvtypes, comm);
  });
}

}  // namespace rma::mpi
