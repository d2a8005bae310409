// Partitioned point-to-point communication.

#include "twosided_compat/messages/partitioned.hpp"

#include <fmt/format.h>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/messages/completion.hpp"
#include "twosided_compat/messages/transfer.hpp"
#include "twosided_compat/objects/info.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma::mpi {
namespace {

// The n-th send to a process with a tag matches the n-th receive from it with that tag, in the order in which
// the two were made, and not in that of their messages. So the tag of the messages contains n. Both sides
// count alike, and a number may come again after this many.
constexpr int kOrderBits = 10;
constexpr int kOrderMask = (1 << kOrderBits) - 1;
/// Tags from here on leave no room for n. Operations with such a tag match in the order of their messages.
constexpr int kLongTag = 1 << 20;
constexpr int kLongTagBit = 1 << 30;

/// Says where the messages of a partitioned operation go: no two tags of the program share one of these.
struct PartitionChannel {
  Traffic traffic = Traffic::kPartitioned;
  int tag = 0;
};

PartitionChannel channel_of(int tag, int order) {
  if (tag < kLongTag) return {.tag = (tag << kOrderBits) | (order & kOrderMask)};
  if (tag < kLongTagBit) return {.tag = tag | kLongTagBit};
  return {.traffic = Traffic::kCollective, .tag = tag};  // collective calls have small tags
}

int find_partitioned(MPI_Request handle, bool sends, Request*& request) {
  RMA_TRY(find_request(handle, request));
  if (request->partitioned() == nullptr || request->partitioned()->is_send() != sends)
    return failure(MPI_ERR_REQUEST,
                   sends ? "the request is no partitioned send" : "the request is no partitioned receive");
  return MPI_SUCCESS;
}

/// Checks the partitions of a call, and returns the number of elements of all of them.
int count_elements(int partitions, MPI_Count count, MPI_Count& total) {
  if (partitions <= 0) return failure(MPI_ERR_ARG, fmt::format("the number of partitions is {}", partitions));
  if (count < 0) return failure(MPI_ERR_COUNT, "count is negative");
  if (__builtin_mul_overflow(count, static_cast<MPI_Count>(partitions), &total))
    return failure(MPI_ERR_COUNT, "the partitions have too many elements");
  return MPI_SUCCESS;
}

/// Makes the request of a partitioned operation over that of its message.
MPI_Request make_request(Request::Type type, Communicator& comm, MPI_Datatype datatype,
                         std::shared_ptr<Partitioned> operation) {
  auto request = std::make_unique<Request>(type, comm);
  request->keep_datatype(datatype);
  request->active = false;
  request->become<std::shared_ptr<Partitioned>>(std::move(operation));
  request->extra().start = [](Request& self) {
    self.ended = false;
    self.code = MPI_SUCCESS;
    return self.partitioned()->start();
  };
  return request.release()->handle<MPI_Request>();
}

/// Marks the partitions from `low` to `high` as ready.
int make_ready(Request& request, int low, int high) {
  Partitioned& operation = *request.partitioned();
  if (!request.active) return failure(MPI_ERR_REQUEST, "the request was not started");
  if (low < 0 || high >= operation.partitions())
    return failure(MPI_ERR_ARG, fmt::format("there are no partitions {} to {} among {}", low, high,
                                            operation.partitions()));
  for (int partition = low; partition <= high; ++partition) {
    if (const int code = operation.make_ready(partition); code != MPI_SUCCESS)
      return carried(request.comm(), code);
  }
  return MPI_SUCCESS;
}

}  // namespace

Partitioned::Partitioned(MPI_Request transfer, bool sends, int partitions, int tag)
    : transfer_(find<Request>(transfer)),
      sends_(sends),
      partitions_(partitions),
      tag_(tag),
      ready_(std::make_unique<std::atomic<bool>[]>(static_cast<std::size_t>(partitions))) {}

int Partitioned::start_transfer() {
  const std::lock_guard guard(lock_);
  if (cancelled_) return MPI_SUCCESS;
  under_way_ = true;
  auto transfer = transfer_->handle<MPI_Request>();
  return mpi::start(&transfer);
}

int Partitioned::start() {
  ended_ = false;
  cancelled_ = false;
  if (!sends_) return start_transfer();
  for (int i = 0; i < partitions_; ++i)
    ready_[static_cast<std::size_t>(i)].store(false, std::memory_order_relaxed);
  missing_.store(partitions_, std::memory_order_release);
  return MPI_SUCCESS;
}

int Partitioned::make_ready(int partition) {
  if (ready_[static_cast<std::size_t>(partition)].exchange(true, std::memory_order_relaxed))
    return failure(MPI_ERR_ARG, fmt::format("partition {} is ready already", partition));
  // The thread that sends sees the data of all partitions: the decrements are one chain.
  return missing_.fetch_sub(1, std::memory_order_acq_rel) == 1 ? start_transfer() : MPI_SUCCESS;
}

int Partitioned::cancel() {
  const std::lock_guard guard(lock_);
  if (!under_way_) {
    cancelled_ = !ended_;
    return MPI_SUCCESS;
  }
  auto transfer = transfer_->handle<MPI_Request>();
  return mpi::cancel(&transfer);
}

bool Partitioned::has_ended(Request& request) {
  const std::lock_guard guard(lock_);
  if (ended_) return true;
  if (cancelled_) return request.cancelled = ended_ = true;
  if (!under_way_) return false;
  if (!poll(*transfer_)) return false;
  request.code = transfer_->code;
  request.cancelled = transfer_->cancelled;
  request.proc_null = transfer_->proc_null;
  request.receive.info = transfer_->receive.info;
  request.receive.info.tag = tag_;
  transfer_->active = transfer_->ended = false;
  under_way_ = false;
  ended_ = true;
  return true;
}

int init_partitioned(bool sends, const PartitionedArguments& wanted, MPI_Request* made) {
  MPI_Count total = 0;
  MPI_Request transfer = MPI_REQUEST_NULL;
  RMA_TRY_ASSIGN(comm, find_communicator(wanted.comm));
  RMA_TRY(check_hints(wanted.info));
  if (made == nullptr) return failure(MPI_ERR_ARG, "request is null");
  RMA_TRY(count_elements(wanted.partitions, wanted.count, total));
  // A source and tag as a destination has them: wildcards are not allowed.
  RMA_TRY(check_destination(*comm, wanted.peer, wanted.tag));
  const PartitionChannel channel =
      channel_of(wanted.tag, comm->count_partitioned(wanted.peer, wanted.tag, sends));
  if (wanted.is_whole) total = 1;
  const MPI_Comm carrier = comm->carrier(channel.traffic);
  RMA_TRY(sends
              ? send_init(wanted.address, total, wanted.type, wanted.peer, channel.tag, carrier, &transfer)
              : recv_init(wanted.address, total, wanted.type, wanted.peer, channel.tag, carrier, &transfer));
  *made = make_request(sends ? Request::Type::kSend : Request::Type::kReceive, *comm, wanted.type,
                       std::make_shared<Partitioned>(transfer, sends, wanted.partitions, wanted.tag));
  return MPI_SUCCESS;
}

int psend_init(const void* address, int partitions, MPI_Count count, MPI_Datatype type, int dest, int tag,
               MPI_Comm comm, MPI_Info info, MPI_Request* made) {
  // Nobody writes to the memory.
  return init_partitioned(true, {const_cast<void*>(address), partitions, count, type, dest, tag, comm, info},
                          made);
}

int precv_init(void* address, int partitions, MPI_Count count, MPI_Datatype type, int source, int tag,
               MPI_Comm comm, MPI_Info info, MPI_Request* made) {
  return init_partitioned(false, {address, partitions, count, type, source, tag, comm, info}, made);
}

int pready(int partition, MPI_Request handle) { return pready_range(partition, partition, handle); }

int pready_range(int low, int high, MPI_Request handle) {
  Request* request = nullptr;
  RMA_TRY(find_partitioned(handle, true, request));
  return make_ready(*request, low, high);
}

int pready_list(int length, const int partitions[], MPI_Request handle) {
  Request* request = nullptr;
  RMA_TRY(find_partitioned(handle, true, request));
  if (length < 0 || (length > 0 && partitions == nullptr))
    return failure(MPI_ERR_ARG, "length is negative, or the list of partitions is null");
  for (int i = 0; i < length; ++i) {
    RMA_TRY(make_ready(*request, partitions[i], partitions[i]));
  }
  return MPI_SUCCESS;
}

int parrived(MPI_Request handle, int partition, int* flag) {
  Request* request = nullptr;
  if (flag == nullptr) return failure(MPI_ERR_ARG, "flag is null");
  if (handle == MPI_REQUEST_NULL) {
    *flag = 1;  // as for a request that is not active (MPI 4.1, section 4.2.2)
    return MPI_SUCCESS;
  }
  RMA_TRY(find_partitioned(handle, false, request));
  if (partition < 0 || partition >= request->partitioned()->partitions())
    return failure(MPI_ERR_ARG, fmt::format("there is no partition {}", partition));
  // A request that is not active has no partition to wait for.
  *flag = !request->active || request->partitioned()->has_ended(*request) ? 1 : 0;
  if (*flag == 0) make_progress();
  return MPI_SUCCESS;
}

}  // namespace librma::mpi
