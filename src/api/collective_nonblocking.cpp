// The collective operations of rma/collectives.h by their names.

#include "api/call.hpp"
#include "api/check.hpp"
#include "api/check_collective.hpp"
#include "api/check_team.hpp"
#include "api/message_call.hpp"
#include "atomics/types.hpp"
#include "collectives/members/reduce.hpp"
#include "rma/collectives.h"
#include "util/try.hpp"

namespace librma {
namespace {

/// Starts an operation, or executes it if `request` is null and the call blocks.
rma_status_t perform(const char* name, rma_team_t team, const rma_collective_t& collective, Blocking blocking,
                     rma_request_t* request) {
  return call(name, collective.root, collective.bytes, [&](Runtime& runtime) -> Status {
    Team* members = nullptr;
    if (blocking == Blocking::no) {
      RMA_TRY(check_request(request));
    }
    RMA_TRY(check_team(runtime, team, members));
    RMA_TRY(check_collective(*members, collective));
    if (blocking == Blocking::no) return members->start(collective, request);
    if (members->checks()) [[unlikely]] {
      RMA_TRY(members->check(collective));
    }
    return members->run(collective);
  });
}

rma_status_t move_data(const char* name, rma_team_t team, rma_collective_kind_t kind, void* dst,
                       const void* src, std::size_t bytes, int root, Blocking blocking,
                       rma_request_t* request) {
  rma_collective_t collective = {};
  collective.name = name;
  collective.kind = kind;
  collective.root = root;
  collective.dst = dst;
  collective.src = src;
  collective.bytes = bytes;
  return perform(name, team, collective, blocking, request);
}

rma_status_t combine(const char* name, rma_team_t team, rma_collective_kind_t kind, void* dst,
                     const void* src, std::size_t count, rma_type_t type, rma_reduction_t op, int root,
                     Blocking blocking, rma_request_t* request) {
  rma_collective_t collective = {};
  collective.name = name;
  collective.kind = kind;
  collective.root = root;
  collective.dst = dst;
  collective.src = src;
  collective.count = count;
  const auto check = [&]() -> Status {
    RMA_TRY(check_reduction(type, op));
    if (count == 0) return {};
    RMA_TRY(check_aligned(src, type_alignment(type)));
    // A null `dst` is aligned, and members that get no result may pass it.
    return check_aligned(dst, type_alignment(type));
  };
  if (const Status status = check(); !status.ok()) {
    if (request != nullptr) *request = RMA_REQUEST_NULL;
    return fail(name, status);
  }
  collective.reducer = reducer_of(type, op);
  collective.reduction = reduction_name(type, op);
  return perform(name, team, collective, blocking, request);
}

}  // namespace

extern "C" {

rma_status_t rma_barrier_nb(rma_team_t team, rma_request_t* request) {
  rma_collective_t collective = {};
  collective.name = "rma_barrier";
  return perform(__func__, team, collective, Blocking::no, request);
}

rma_status_t rma_broadcast_nb(rma_team_t team, void* buffer, size_t bytes, int root, rma_request_t* request) {
  return move_data(__func__, team, RMA_COLLECTIVE_BROADCAST, buffer, nullptr, bytes, root, Blocking::no,
                   request);
}

rma_status_t rma_gather(rma_team_t team, void* dst, const void* src, size_t bytes, int root) {
  return move_data(__func__, team, RMA_COLLECTIVE_GATHER, dst, src, bytes, root, Blocking::yes, nullptr);
}

rma_status_t rma_gather_nb(rma_team_t team, void* dst, const void* src, size_t bytes, int root,
                           rma_request_t* request) {
  return move_data(__func__, team, RMA_COLLECTIVE_GATHER, dst, src, bytes, root, Blocking::no, request);
}

rma_status_t rma_scatter(rma_team_t team, void* dst, const void* src, size_t bytes, int root) {
  return move_data(__func__, team, RMA_COLLECTIVE_SCATTER, dst, src, bytes, root, Blocking::yes, nullptr);
}

rma_status_t rma_scatter_nb(rma_team_t team, void* dst, const void* src, size_t bytes, int root,
                            rma_request_t* request) {
  return move_data(__func__, team, RMA_COLLECTIVE_SCATTER, dst, src, bytes, root, Blocking::no, request);
}

rma_status_t rma_allgather_nb(rma_team_t team, void* dst, const void* src, size_t bytes,
                              rma_request_t* request) {
  return move_data(__func__, team, RMA_COLLECTIVE_ALLGATHER, dst, src, bytes, 0, Blocking::no, request);
}

rma_status_t rma_alltoall(rma_team_t team, void* dst, const void* src, size_t bytes) {
  return move_data(__func__, team, RMA_COLLECTIVE_ALLTOALL, dst, src, bytes, 0, Blocking::yes, nullptr);
}

rma_status_t rma_alltoall_nb(rma_team_t team, void* dst, const void* src, size_t bytes,
                             rma_request_t* request) {
  return move_data(__func__, team, RMA_COLLECTIVE_ALLTOALL, dst, src, bytes, 0, Blocking::no, request);
}

rma_status_t rma_reduce_nb(rma_team_t team, void* dst, const void* src, size_t count, rma_type_t type,
                           rma_reduction_t op, int root, rma_request_t* request) {
  return combine(__func__, team, RMA_COLLECTIVE_REDUCE, dst, src, count, type, op, root, Blocking::no,
                 request);
}

rma_status_t rma_allreduce_nb(rma_team_t team, void* dst, const void* src, size_t count, rma_type_t type,
                              rma_reduction_t op, rma_request_t* request) {
  return combine(__func__, team, RMA_COLLECTIVE_ALLREDUCE, dst, src, count, type, op, 0, Blocking::no,
                 request);
}

rma_status_t rma_reduce_scatter(rma_team_t team, void* dst, const void* src, size_t count, rma_type_t type,
                                rma_reduction_t op) {
  return combine(__func__, team, RMA_COLLECTIVE_REDUCE_SCATTER, dst, src, count, type, op, 0, Blocking::yes,
                 nullptr);
}

rma_status_t rma_reduce_scatter_nb(rma_team_t team, void* dst, const void* src, size_t count, rma_type_t type,
                                   rma_reduction_t op, rma_request_t* request) {
  return combine(__func__, team, RMA_COLLECTIVE_REDUCE_SCATTER, dst, src, count, type, op, 0, Blocking::no,
                 request);
}

rma_status_t rma_scan(rma_team_t team, void* dst, const void* src, size_t count, rma_type_t type,
                      rma_reduction_t op) {
  return combine(__func__, team, RMA_COLLECTIVE_SCAN, dst, src, count, type, op, 0, Blocking::yes, nullptr);
}

rma_status_t rma_scan_nb(rma_team_t team, void* dst, const void* src, size_t count, rma_type_t type,
                         rma_reduction_t op, rma_request_t* request) {
  return combine(__func__, team, RMA_COLLECTIVE_SCAN, dst, src, count, type, op, 0, Blocking::no, request);
}

}  // extern "C"

}  // namespace librma
