// The nonblocking collective calls.

#include <memory>
#include <utility>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/collectives/collective_call.hpp"
#include "twosided_compat/messages/requests.hpp"

namespace rma::mpi {
namespace {

/// Makes a call whose arguments `fill` finds, and starts it.
template <typename Fill>
int begin(MPI_Request* made, const Fill& fill) {
  if (made == nullptr) return failure(MPI_ERR_ARG, "request is null");
  auto call = std::make_unique<CollectiveCall>();
  if (const int code = fill(*call); code != MPI_SUCCESS) return code;
  auto request = std::make_unique<Request>(Request::Type::kCollective, call->comm());
  CollectiveCall& started = *call;
  request->extra().collective = std::move(call);
  if (const int code = started.start(&request->pending); code != MPI_SUCCESS) return code;
  *made = request.release()->handle<MPI_Request>();
  return MPI_SUCCESS;
}

}  // namespace

int ibarrier(MPI_Comm comm, MPI_Request* request) {
  return begin(request, [&](CollectiveCall& call) { return call.barrier(comm); });
}

int ibcast(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
           MPI_Request* request) {
  return begin(request,
               [&](CollectiveCall& call) { return call.bcast(buffer, count, datatype, root, comm); });
}

int igather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
            MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request) {
  return begin(request, [&](CollectiveCall& call) {
    return call.gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
  });
}

int igatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
             Counts recvcounts, Displacements displs, MPI_Datatype recvtype, int root, MPI_Comm comm,
             MPI_Request* request) {
  return begin(request, [&](CollectiveCall& call) {
    return call.gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm);
  });
}

int iscatter(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
             MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request) {
  return begin(request, [&](CollectiveCall& call) {
    return call.scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
  });
}

int iscatterv(const void* sendbuf, Counts sendcounts, Displacements displs, MPI_Datatype sendtype,
              void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
              MPI_Request* request) {
  return begin(request, [&](CollectiveCall& call) {
    return call.scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm);
  });
}

int iallgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
               MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return begin(request, [&](CollectiveCall& call) {
    return call.allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  });
}

int iallgatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                Counts recvcounts, Displacements displs, MPI_Datatype recvtype, MPI_Comm comm,
                MPI_Request* request) {
  return begin(request, [&](CollectiveCall& call) {
    return call.allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
  });
}

int ialltoall(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
              MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return begin(request, [&](CollectiveCall& call) {
    return call.alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  });
}

int ialltoallv(const void* sendbuf, Counts sendcounts, Displacements sdispls, MPI_Datatype sendtype,
               void* recvbuf, Counts recvcounts, Displacements rdispls, MPI_Datatype recvtype, MPI_Comm comm,
               MPI_Request* request) {
  return begin(request, [&](CollectiveCall& call) {
    return call.alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
                          comm);
  });
}

int ialltoallw(const void* sendbuf, Counts sendcounts, Displacements sdispls, const MPI_Datatype sendtypes[],
               void* recvbuf, Counts recvcounts, Displacements rdispls, const MPI_Datatype recvtypes[],
               MPI_Comm comm, MPI_Request* request) {
  return begin(request, [&](CollectiveCall& call) {
    return call.alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
                          comm);
  });
}

int ireduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
            MPI_Comm comm, MPI_Request* request) {
  return begin(request, [&](CollectiveCall& call) {
    return call.reduce(sendbuf, recvbuf, count, datatype, op, root, comm);
  });
}

int iallreduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
               MPI_Comm comm, MPI_Request* request) {
  return begin(request, [&](CollectiveCall& call) {
    return call.allreduce(sendbuf, recvbuf, count, datatype, op, comm);
  });
}

int ireduce_scatter_block(const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype datatype,
                          MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  return begin(request, [&](CollectiveCall& call) {
    return call.reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm);
  });
}

int ireduce_scatter(const void* sendbuf, void* recvbuf, Counts recvcounts, MPI_Datatype datatype, MPI_Op op,
                    MPI_Comm comm, MPI_Request* request) {
  return begin(request, [&](CollectiveCall& call) {
    return call.reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm);
  });
}

int iscan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
          MPI_Comm comm, MPI_Request* request) {
  return begin(request,
               [&](CollectiveCall& call) { return call.scan(sendbuf, recvbuf, count, datatype, op, comm); });
}

int iexscan(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
            MPI_Comm comm, MPI_Request* request) {
  return begin(request, [&](CollectiveCall& call) {
    return call.exscan(sendbuf, recvbuf, count, datatype, op, comm);
  });
}

int ineighbor_allgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                        MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return begin(request, [&](CollectiveCall& call) {
    return call.neighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  });
}

int ineighbor_allgatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                         Counts recvcounts, Displacements displs, MPI_Datatype recvtype, MPI_Comm comm,
                         MPI_Request* request) {
  return begin(request, [&](CollectiveCall& call) {
    return call.neighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                                    comm);
  });
}

int ineighbor_alltoall(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                       MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return begin(request, [&](CollectiveCall& call) {
    return call.neighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  });
}

int ineighbor_alltoallv(const void* sendbuf, Counts sendcounts, Displacements sdispls, MPI_Datatype sendtype,
                        void* recvbuf, Counts recvcounts, Displacements rdispls, MPI_Datatype recvtype,
                        MPI_Comm comm, MPI_Request* request) {
  return begin(request, [&](CollectiveCall& call) {
    return call.neighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                                   recvtype, comm);
  });
}

int ineighbor_alltoallw(const void* sendbuf, Counts sendcounts, const MPI_Aint sdispls[],
                        const MPI_Datatype sendtypes[], void* recvbuf, Counts recvcounts,
                        const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                        MPI_Request* request) {
  return begin(request, [&](CollectiveCall& call) {
    return call.neighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                                   recvtypes, comm);
  });
}

}  // namespace rma::mpi
