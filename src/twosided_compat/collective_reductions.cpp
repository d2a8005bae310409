// The collective calls that combine data: reduce, allreduce, reduce_scatter, scan.

#include <utility>
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
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Count count = 0;
  Buffer mine = {};  ///< this member's contribution, where the program has it
};

/// The elements of a reduction in memory of the library. They have the distances that they have in the
/// program's memory, because operators of the program get them so.
class Operand {
 public:
  explicit Operand(const Combination& reduction) {
    const auto* const type = find<Datatype>(reduction.type);
    const TypeMap map = type->map_of(reduction.count);
    constexpr MPI_Count kAlignment = __STDCPP_DEFAULT_NEW_ALIGNMENT__;
    const MPI_Count begin = map.low() & -kAlignment;  // so that the elements are aligned as the memory is
    memory_.resize(static_cast<std::size_t>(map.high() - begin));
    first_ = reinterpret_cast<std::byte*>(bits(memory_.data()) - static_cast<std::uintptr_t>(begin));
    // The program's buffer of the same type was found, so there is nothing to refuse.
    static_cast<void>(find_buffer(first_, reduction.count, reduction.type, buffer_));
  }

  /// Returns the address that the displacements of the first element count from.
  [[nodiscard]] std::byte* first() const { return first_; }
  [[nodiscard]] const Buffer& buffer() const { return buffer_; }

 private:
  std::vector<std::byte> memory_;
  std::byte* first_ = nullptr;
  Buffer buffer_;
};

/// Returns a copy of this member's contribution.
Operand contribution(const Combination& reduction) {
  Operand operand(reduction);
  copy_data(reduction.mine, operand.buffer());
  return operand;
}

/// Combines the members' `mine` in the order of ranks, and leaves the result in `mine` of member 0. A
/// binomial tree: member r collects the members from r to r + 2^k - 1, and hands the result to r - 2^k. So
/// neighbours in the order are always combined, which is right for operations that do not commute, and the
/// bits do not depend on timing.
int reduce_to_first(const Combination& reduction, Operand& mine) {
  CollectiveTransfers transfers(reduction.comm, CollectiveTag::kReduce);
  Operand other(reduction);
  const int rank = reduction.comm.rank();
  for (int mask = 1; mask < reduction.comm.size(); mask <<= 1) {
    if ((rank & mask) != 0) return transfers.send(mine.buffer(), rank - mask);
    if (rank + mask >= reduction.comm.size()) continue;
    if (const int code = transfers.receive(other.buffer(), rank + mask); code != MPI_SUCCESS) return code;
    reduction.operation(mine.first(), other.first(), reduction.count);
    std::swap(mine, other);
  }
  return MPI_SUCCESS;
}

/// Finds the contribution and the operation of a reduction.
int find_reduction(const void* address, MPI_Count count, MPI_Datatype type, MPI_Op op,
                   Combination& reduction) {
  if (const int code = find_buffer(address, count, type, reduction.mine); code != MPI_SUCCESS) return code;
  if (const int code = Reduction::find(op, type, reduction.operation); code != MPI_SUCCESS) return code;
  reduction.type = type;
  reduction.count = count;
  return MPI_SUCCESS;
}

}  // namespace

int reduce(const void* out, void* in, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
           MPI_Comm handle) {
  Communicator* comm = nullptr;
  if (const int code = find_communicator(handle, comm); code != MPI_SUCCESS) return code;
  if (comm->is_inter()) return inter_reduce(*comm, out, in, count, type, op, root);
  if (const int code = check_root(*comm, root); code != MPI_SUCCESS) return code;
  const bool at_root = comm->rank() == root;
  const void* const mine = at_root && in_place(out) ? in : out;
  Combination reduction = {.comm = *comm, .operation = {}};
  Buffer target;
  if (const int code = find_reduction(mine, count, type, op, reduction); code != MPI_SUCCESS) return code;
  if (at_root) {
    if (const int code = check_distinct(out, in, reduction.mine.bytes); code != MPI_SUCCESS) return code;
    if (const int code = find_buffer(in, count, type, target); code != MPI_SUCCESS) return code;
  }
  Operand result = contribution(reduction);
  if (const int code = reduce_to_first(reduction, result); code != MPI_SUCCESS) return code;
  CollectiveTransfers transfers(*comm, CollectiveTag::kReduce);
  if (root != 0 && comm->rank() == 0) return transfers.send(result.buffer(), root);
  if (!at_root) return MPI_SUCCESS;
  if (root != 0) return transfers.receive(target, 0);
  copy_data(result.buffer(), target);
  return MPI_SUCCESS;
}

int allreduce(const void* out, void* in, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm handle) {
  Communicator* comm = nullptr;
  if (const int code = find_communicator(handle, comm); code != MPI_SUCCESS) return code;
  if (comm->is_inter()) return inter_allreduce(*comm, out, in, count, type, op);
  const void* const mine = in_place(out) ? in : out;
  Combination reduction = {.comm = *comm, .operation = {}};
  Buffer target;
  if (const int code = find_reduction(mine, count, type, op, reduction); code != MPI_SUCCESS) return code;
  if (const int code = check_distinct(out, in, reduction.mine.bytes); code != MPI_SUCCESS) return code;
  if (const int code = find_buffer(in, count, type, target); code != MPI_SUCCESS) return code;
  Operand result = contribution(reduction);
  if (const int code = reduce_to_first(reduction, result); code != MPI_SUCCESS) return code;
  if (comm->rank() == 0) copy_data(result.buffer(), target);
  return CollectiveTransfers(*comm, CollectiveTag::kBroadcast).broadcast(target, 0);
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
  Buffer target;
  if (const int code = find_reduction(mine, total, type, op, reduction); code != MPI_SUCCESS) return code;
  if (const int code = check_distinct(out, in, reduction.mine.bytes); code != MPI_SUCCESS) return code;
  if (const int code = find_buffer(in, counts[comm->rank()], type, target); code != MPI_SUCCESS) return code;
  Operand result = contribution(reduction);
  if (const int code = reduce_to_first(reduction, result); code != MPI_SUCCESS) return code;
  CollectiveTransfers transfers(*comm, CollectiveTag::kScatter);
  if (comm->rank() != 0) return transfers.receive(target, 0);
  const MPI_Count extent = find<Datatype>(type)->bounds().extent;
  for (int member = 1; member < comm->size(); ++member) {
    Buffer block;
    const std::byte* const first = result.first() + offsets[static_cast<std::size_t>(member)] * extent;
    if (const int code = find_buffer(first, counts[member], type, block); code != MPI_SUCCESS) return code;
    if (const int code = transfers.send(block, member); code != MPI_SUCCESS) return code;
  }
  copy_data(result.buffer(), target);
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
  Buffer target;
  const bool has_result = !exclusive || comm->rank() > 0;
  if (const int code = find_reduction(mine, count, type, op, reduction); code != MPI_SUCCESS) return code;
  if (const int code = check_distinct(out, in, reduction.mine.bytes); code != MPI_SUCCESS) return code;
  if (has_result) {
    if (const int code = find_buffer(in, count, type, target); code != MPI_SUCCESS) return code;
  }
  Operand result = contribution(reduction);
  CollectiveTransfers transfers(*comm, CollectiveTag::kScan);
  Operand before(reduction);
  if (comm->rank() > 0) {
    if (const int code = transfers.receive(before.buffer(), comm->rank() - 1); code != MPI_SUCCESS)
      return code;
    reduction.operation(before.first(), result.first(), count);
  }
  if (comm->rank() + 1 < comm->size()) {
    if (const int code = transfers.send(result.buffer(), comm->rank() + 1); code != MPI_SUCCESS) return code;
  }
  if (has_result) copy_data(exclusive ? before.buffer() : result.buffer(), target);
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
