// Collective calls that combine data, in librma's terms.

#include "twosided_compat/collectives/collective_call.hpp"
#include "util/try.hpp"

namespace librma::mpi {

int CollectiveCall::find_reduction(const void* out, void* in, MPI_Count count, MPI_Datatype type, MPI_Op op,
                                   MPI_Count result_count) {
  const bool gets_result = result_count != kNoResult;
  // The root of an intercommunicator gives nothing.
  const bool gives = !comm_->is_inter() || collective_.kind != RMA_COLLECTIVE_REDUCE || !at_root_;
  bool stays = !gives;
  if (gets_result && gives) {
    RMA_TRY(find_in_place(out, stays));
  }
  Buffer mine;
  Datatype* object = nullptr;
  void* source = stays ? in : const_cast<void*>(out);
  RMA_TRY(find_buffer(source, count, type, mine));
  RMA_TRY(find_datatype(type).store(object));
  RMA_TRY(Reduction::find(op, type, reduction_));
  const auto extent = static_cast<std::size_t>(object->bounds().extent);
  if (gets_result) {
    RMA_TRY(check_distinct(stays ? nullptr : out, in, mine.bytes));
    if (in == nullptr && result_count != 0 && dense_size(type) != 0)
      return failure(MPI_ERR_BUFFER, "recvbuf is null");
  }
  if (!is_predefined(op)) {
    kept_op_ = mpi::find<Operator>(op);
    kept_op_->add_reference();
  }
  if (!is_predefined(type)) {
    kept_type_ = object;
    kept_type_->add_reference();
  }
  const char* const name = operator_name(op);
  collective_.reduction = name != nullptr ? name : "of the program";
  if (object->size() == 0) {
    // Elements without data have no result.
    if (collective_.kind == RMA_COLLECTIVE_REDUCE_SCATTER) collective_.kind = RMA_COLLECTIVE_ALLREDUCE;
    collective_.counts = nullptr;
    collective_.reducer = {.combine = [](const void*, void*, std::size_t, void*) {},
                           .context = nullptr,
                           .element_bytes = 1,
                           .commutes = 1};
    return MPI_SUCCESS;
  }
  if (!StagedBuffers::separates(type)) return find_whole_reduction(source, in, count, type, result_count);
  RMA_TRY(staged_.stage_elements(source, count, type, stays));
  if (stays) {
    in = source;
  } else if (gets_result) {
    RMA_TRY(staged_.stage_elements(in, result_count, type, true));
  }
  // Without holes the elements lie where the program has them, from their address on.
  lower_ = dense_size(type) != 0 ? 0 : StagedBuffers::aligned_begin(object->bounds());
  collective_.src = source;
  collective_.dst = in;
  collective_.count = static_cast<std::size_t>(count);
  collective_.reducer = {.combine =
                             [](const void* lower, void* higher, std::size_t elements, void* context) {
                               const auto* const self = static_cast<const CollectiveCall*>(context);
                               self->reduction_(static_cast<const std::byte*>(lower) - self->lower_,
                                                static_cast<std::byte*>(higher) - self->lower_,
                                                static_cast<MPI_Count>(elements));
                             },
                         .context = this,
                         .element_bytes = extent,
                         .commutes = reduction_.commutes() ? 1 : 0};
  return MPI_SUCCESS;
}

int CollectiveCall::find_whole_reduction(void* source, void* in, MPI_Count count, MPI_Datatype type,
                                         MPI_Count result_count) {
  StagedBuffers::Whole mine;
  RMA_TRY(staged_.stage_whole(source, count, type, mine));
  collective_.src = mine.memory;
  MPI_Count first = 0;
  if (collective_.kind == RMA_COLLECTIVE_REDUCE_SCATTER) {
    // Every member combines everything, and takes its block out of it.
    for (int member = 0; member < comm_->rank(); ++member) {
      first +=
          counts_.empty() ? result_count : static_cast<MPI_Count>(counts_[static_cast<std::size_t>(member)]);
    }
    collective_.kind = RMA_COLLECTIVE_ALLREDUCE;
    collective_.counts = nullptr;
  }
  if (result_count != kNoResult) {
    StagedBuffers::Whole result;
    RMA_TRY(staged_.stage_whole_result(in, first, result_count, count, type, result));
    collective_.dst = result.memory;
  }
  lower_ = mine.begin;
  whole_count_ = count;
  collective_.count = 1;
  collective_.reducer = {.combine =
                             [](const void* lower, void* higher, std::size_t, void* context) {
                               const auto* const self = static_cast<const CollectiveCall*>(context);
                               self->reduction_(static_cast<const std::byte*>(lower) - self->lower_,
                                                static_cast<std::byte*>(higher) - self->lower_,
                                                self->whole_count_);
                             },
                         .context = this,
                         .element_bytes = mine.bytes,
                         .commutes = reduction_.commutes() ? 1 : 0};
  return MPI_SUCCESS;
}

int CollectiveCall::reduce(const void* out, void* in, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
                           MPI_Comm comm) {
  RMA_TRY(find(RMA_COLLECTIVE_REDUCE, "MPI_Reduce", comm, root));
  if (!takes_part_) return MPI_SUCCESS;
  return find_reduction(out, in, count, type, op, at_root_ ? count : kNoResult);
}

int CollectiveCall::allreduce(const void* out, void* in, MPI_Count count, MPI_Datatype type, MPI_Op op,
                              MPI_Comm comm) {
  RMA_TRY(find(RMA_COLLECTIVE_ALLREDUCE, "MPI_Allreduce", comm));
  return find_reduction(out, in, count, type, op, count);
}

int CollectiveCall::reduce_scatter(const void* out, void* in, Counts counts, MPI_Datatype type, MPI_Op op,
                                   MPI_Comm comm) {
  RMA_TRY(find(RMA_COLLECTIVE_REDUCE_SCATTER, "MPI_Reduce_scatter", comm));
  if (counts.is_null()) return failure(MPI_ERR_ARG, "recvcounts is null");
  MPI_Count total = 0;
  for (int member = 0; member < comm_->size(); ++member) {
    if (counts[member] < 0) return failure(MPI_ERR_COUNT, "a count is negative");
    counts_.push_back(static_cast<std::size_t>(counts[member]));
    if (__builtin_add_overflow(total, MPI_Count{counts[member]}, &total))
      return failure(MPI_ERR_COUNT, kTooManyElements);
  }
  collective_.counts = counts_.data();
  return find_reduction(out, in, total, type, op, counts[comm_->rank()]);
}

int CollectiveCall::reduce_scatter_block(const void* out, void* in, MPI_Count count, MPI_Datatype type,
                                         MPI_Op op, MPI_Comm comm) {
  RMA_TRY(find(RMA_COLLECTIVE_REDUCE_SCATTER, "MPI_Reduce_scatter_block", comm));
  if (count < 0) return failure(MPI_ERR_COUNT, "recvcount is negative");
  MPI_Count total = 0;
  if (__builtin_mul_overflow(count, MPI_Count{comm_->size()}, &total))
    return failure(MPI_ERR_COUNT, kTooManyElements);
  RMA_TRY(find_reduction(out, in, total, type, op, count));
  if (collective_.kind == RMA_COLLECTIVE_REDUCE_SCATTER) collective_.count = static_cast<std::size_t>(count);
  return MPI_SUCCESS;
}

int CollectiveCall::scan(const void* out, void* in, MPI_Count count, MPI_Datatype type, MPI_Op op,
                         MPI_Comm comm) {
  RMA_TRY(find_intracommunicator(comm).store(comm_));
  collective_.kind = RMA_COLLECTIVE_SCAN;
  collective_.name = "MPI_Scan";
  return find_reduction(out, in, count, type, op, count);
}

int CollectiveCall::exscan(const void* out, void* in, MPI_Count count, MPI_Datatype type, MPI_Op op,
                           MPI_Comm comm) {
  RMA_TRY(find_intracommunicator(comm).store(comm_));
  collective_.kind = RMA_COLLECTIVE_EXSCAN;
  collective_.name = "MPI_Exscan";
  return find_reduction(out, in, count, type, op, count);
}

}  // namespace librma::mpi
