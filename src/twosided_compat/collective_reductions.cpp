// The collective calls that combine data: reduce, allreduce, reduce_scatter, scan.

#include <cstring>
#include <numeric>
#include <vector>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/collective_arguments.hpp"
#include "twosided_compat/intercollectives.hpp"

namespace rma::mpi {
namespace {

/// A reduction in progress: `count` elements that `operation` combines.
struct Combination {
  const Communicator& comm;
  Reduction operation;
  MPI_Count count = 0;
  std::size_t bytes = 0;
};

/// Combines the members' `mine` in the order of ranks, and leaves the result in `mine` of member 0. A
/// binomial tree: member r collects the members from r to r + 2^k - 1, and hands the result to r - 2^k. So
/// neighbours in the order are always combined, which is right for operations that do not commute, and the
/// bits do not depend on timing.
int reduce_to_first(const Combination& reduction, std::vector<std::byte>& mine) {
  CollectiveTransfers transfers(reduction.comm, CollectiveTag::kReduce);
  std::vector<std::byte> other(reduction.bytes);
  const int rank = reduction.comm.rank();
  for (int mask = 1; mask < reduction.comm.size(); mask <<= 1) {
    if ((rank & mask) != 0) return transfers.send(mine.data(), reduction.bytes, rank - mask);
    if (rank + mask >= reduction.comm.size()) continue;
    if (const int code = transfers.receive(other.data(), reduction.bytes, rank + mask); code != MPI_SUCCESS)
      return code;
    reduction.operation(mine.data(), other.data(), reduction.count);
    mine.swap(other);
  }
  return MPI_SUCCESS;
}

std::vector<std::byte> copy_of(const void* data, std::size_t bytes) {
  const auto* const begin = static_cast<const std::byte*>(data);
  return {begin, begin + bytes};
}

/// Finds the communicator, the buffer and the operation of a reduction.
int find_reduction(const void* address, MPI_Count count, MPI_Datatype type, MPI_Op op, Communicator& comm,
                   Combination& reduction) {
  Buffer buffer;
  if (const int code = find_buffer(address, count, type, buffer); code != MPI_SUCCESS) return code;
  if (const int code = Reduction::find(op, type, reduction.operation); code != MPI_SUCCESS) return code;
  static_cast<void>(comm);
  reduction.count = count;
  reduction.bytes = buffer.bytes;
  return MPI_SUCCESS;
}

void store(void* to, const std::vector<std::byte>& result) {
  if (!result.empty()) std::memcpy(to, result.data(), result.size());
}

}  // namespace

int reduce(const void* out, void* in, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
           MPI_Comm handle) {
  Communicator* comm = nullptr;
  if (const int code = find_communicator(handle, comm); code != MPI_SUCCESS) return code;
  if (comm->is_inter()) return inter_reduce(*comm, out, in, count, type, op, root);
  if (const int code = check_root(*comm, root); code != MPI_SUCCESS) return code;
  const void* const mine = comm->rank() == root && in_place(out) ? in : out;
  Combination reduction = {.comm = *comm, .operation = {}};
  if (const int code = find_reduction(mine, count, type, op, *comm, reduction); code != MPI_SUCCESS)
    return code;
  if (comm->rank() == root) {
    if (const int code = check_distinct(out, in, reduction.bytes); code != MPI_SUCCESS) return code;
  }
  std::vector<std::byte> result = copy_of(mine, reduction.bytes);
  if (const int code = reduce_to_first(reduction, result); code != MPI_SUCCESS) return code;
  CollectiveTransfers transfers(*comm, CollectiveTag::kReduce);
  if (root != 0 && comm->rank() == 0) return transfers.send(result.data(), result.size(), root);
  if (comm->rank() != root) return MPI_SUCCESS;
  if (root != 0) return transfers.receive(in, reduction.bytes, 0);
  store(in, result);
  return MPI_SUCCESS;
}

int allreduce(const void* out, void* in, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm handle) {
  Communicator* comm = nullptr;
  if (const int code = find_communicator(handle, comm); code != MPI_SUCCESS) return code;
  if (comm->is_inter()) return inter_allreduce(*comm, out, in, count, type, op);
  const void* const mine = in_place(out) ? in : out;
  Combination reduction = {.comm = *comm, .operation = {}};
  if (const int code = find_reduction(mine, count, type, op, *comm, reduction); code != MPI_SUCCESS)
    return code;
  if (const int code = check_distinct(out, in, reduction.bytes); code != MPI_SUCCESS) return code;
  std::vector<std::byte> result = copy_of(mine, reduction.bytes);
  if (const int code = reduce_to_first(reduction, result); code != MPI_SUCCESS) return code;
  if (comm->rank() == 0) store(in, result);
  return CollectiveTransfers(*comm, CollectiveTag::kBroadcast).broadcast(in, reduction.bytes, 0);
}

int reduce_scatter(const void* out, void* in, Counts counts, MPI_Datatype type, MPI_Op op, MPI_Comm handle) {
  Communicator* comm = nullptr;
  if (const int code = find_communicator(handle, comm); code != MPI_SUCCESS) return code;
  if (comm->is_inter()) return inter_reduce_scatter(*comm, out, in, counts, type, op);
  if (counts.is_null()) return failure(MPI_ERR_ARG, "recvcounts is null");
  const void* const mine = in_place(out) ? in : out;
  MPI_Count total = 0;
  std::vector<MPI_Count> offsets(static_cast<std::size_t>(comm->size()));
  for (int member = 0; member < comm->size(); ++member) {
    if (counts[member] < 0) return failure(MPI_ERR_COUNT, "a count is negative");
    offsets[static_cast<std::size_t>(member)] = total;
    total += counts[member];
  }
  Combination reduction = {.comm = *comm, .operation = {}};
  if (const int code = find_reduction(mine, total, type, op, *comm, reduction); code != MPI_SUCCESS)
    return code;
  if (const int code = check_distinct(out, in, reduction.bytes); code != MPI_SUCCESS) return code;
  std::vector<std::byte> result = copy_of(mine, reduction.bytes);
  if (const int code = reduce_to_first(reduction, result); code != MPI_SUCCESS) return code;
  const std::size_t extent = total == 0 ? 0 : reduction.bytes / static_cast<std::size_t>(total);
  CollectiveTransfers transfers(*comm, CollectiveTag::kScatter);
  const auto bytes_of = [&](int member) { return static_cast<std::size_t>(counts[member]) * extent; };
  if (comm->rank() != 0) return transfers.receive(in, bytes_of(comm->rank()), 0);
  for (int member = 1; member < comm->size(); ++member) {
    const std::byte* const block =
        result.data() + static_cast<std::size_t>(offsets[static_cast<std::size_t>(member)]) * extent;
    if (const int code = transfers.send(block, bytes_of(member), member); code != MPI_SUCCESS) return code;
  }
  if (bytes_of(0) != 0) std::memcpy(in, result.data(), bytes_of(0));
  return MPI_SUCCESS;
}

int reduce_scatter_block(const void* out, void* in, MPI_Count count, MPI_Datatype type, MPI_Op op,
                         MPI_Comm handle) {
  Communicator* comm = nullptr;
  if (const int code = find_communicator(handle, comm); code != MPI_SUCCESS) return code;
  if (count < 0) return failure(MPI_ERR_COUNT, "recvcount is negative");
  const std::vector<MPI_Count> counts(static_cast<std::size_t>(comm->size()), count);
  return reduce_scatter(out, in, Counts(counts.data()), type, op, handle);
}

namespace {

/// A chain: each member gets the result of those before it, adds its own part, and hands it on. `exclusive`:
/// a member's own part is not in its result.
int scan_with(const void* out, void* in, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm handle,
              bool exclusive) {
  Communicator* comm = nullptr;
  if (const int code = find_intracommunicator(handle, comm); code != MPI_SUCCESS) return code;
  const void* const mine = in_place(out) ? in : out;
  Combination reduction = {.comm = *comm, .operation = {}};
  if (const int code = find_reduction(mine, count, type, op, *comm, reduction); code != MPI_SUCCESS)
    return code;
  if (const int code = check_distinct(out, in, reduction.bytes); code != MPI_SUCCESS) return code;
  std::vector<std::byte> result = copy_of(mine, reduction.bytes);
  CollectiveTransfers transfers(*comm, CollectiveTag::kScan);
  std::vector<std::byte> before(reduction.bytes);
  if (comm->rank() > 0) {
    if (const int code = transfers.receive(before.data(), before.size(), comm->rank() - 1);
        code != MPI_SUCCESS) {
      return code;
    }
    reduction.operation(before.data(), result.data(), count);
  }
  if (comm->rank() + 1 < comm->size()) {
    if (const int code = transfers.send(result.data(), result.size(), comm->rank() + 1); code != MPI_SUCCESS)
      return code;
  }
  if (!exclusive) {
    store(in, result);
  } else if (comm->rank() > 0) {
    store(in, before);
  }
  return MPI_SUCCESS;
}

}  // namespace

int scan(const void* out, void* in, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm handle) {
  return scan_with(out, in, count, type, op, handle, false);
}

int exscan(const void* out, void* in, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm handle) {
  return scan_with(out, in, count, type, op, handle, true);
}

}  // namespace rma::mpi
