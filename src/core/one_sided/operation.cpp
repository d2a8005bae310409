#include "core/one_sided/operation.hpp"

#include "core/one_sided/copy.hpp"
#include "util/statistics.hpp"

namespace rma {

Status check_reachable(const Job& job, Device& device, const void* address, std::size_t bytes, int rank) {
  switch (job.resolve(address, bytes, rank).kind) {
    case Path::Kind::direct:
    case Path::Kind::foreign:
      return {};
    case Path::Kind::network:
      return device.network()->reachable(address, bytes, rank);
    case Path::Kind::none:
      break;
  }
  return Job::unreachable(address, bytes, rank);
}

Operation::~Operation() {
  if (batch_) {
    static_cast<void>(device_.network()->flush(*batch_).ok());
    pending_ = batch_->take_operation();
  }
  if (pending_ != RMA_REQUEST_NULL) static_cast<void>(device_.flights().finish(pending_).ok());
}

Batch& Operation::batch() { return batch_ ? *batch_ : batch_.emplace(rank_); }

Status Operation::open() {
  if (pending_ == RMA_REQUEST_NULL) pending_ = device_.flights().open(rank_);
  if (pending_ == RMA_REQUEST_NULL) return Flights::too_many();
  return {};
}

Result<rma_request_t> Operation::network_operation() {
  Batch& posted = batch();
  if (Status status = device_.network()->open(posted); !status.ok()) return status;
  return posted.operation();
}

Status Operation::put(void* dst, const void* src, std::size_t bytes) {
  return move(transport::Direction::write, static_cast<std::byte*>(dst),
              const_cast<std::byte*>(static_cast<const std::byte*>(src)), bytes);
}

Status Operation::get(void* dst, const void* src, std::size_t bytes) {
  return move(transport::Direction::read, const_cast<std::byte*>(static_cast<const std::byte*>(src)),
              static_cast<std::byte*>(dst), bytes);
}

Status Operation::move(transport::Direction direction, std::byte* remote, std::byte* local,
                       std::size_t bytes) {
  const bool put = direction == transport::Direction::write;
  const Path path = job_.resolve(remote, bytes, rank_);
  if (path.here != nullptr) {
    put ? copy_bytes(path.here, local, bytes) : copy_bytes(local, path.here, bytes);
    return {};
  }
  if (path.kind == Path::Kind::none) return Job::unreachable(remote, bytes, rank_);
  if (path.kind == Path::Kind::network) {
    Network& network = *device_.network();
    return put ? network.put(batch(), remote, local, bytes) : network.get(batch(), local, remote, bytes);
  }
  if (Status status = open(); !status.ok()) return status;
  return move_foreign(direction, reinterpret_cast<std::uintptr_t>(remote), local, bytes);
}

Status Operation::move_foreign(transport::Direction direction, std::uintptr_t remote, std::byte* local,
                               std::size_t bytes) {
  CopyFallback* const fallback = device_.copy_fallback();
  if (fallback != nullptr && !device_.permitted(rank_)) {
    return fallback->move(direction, rank_, remote, local, bytes, pending_);
  }
  const bool put = direction == transport::Direction::write;
  count(put ? Counter::put_cma : Counter::get_cma);
  device_.transfer(direction, pending_, {.address = remote, .key = 0},
                   {.address = local, .bytes = bytes, .key = 0});
  return {};
}

Status Operation::end(const Ending& ending) {
  if (batch_) {
    // What fails here is told at once; the destructor waits for the posted parts all the same.
    if (Status status = device_.network()->flush(*batch_); !status.ok()) return status;
    pending_ = batch_->take_operation();
  }
  if (pending_ == RMA_REQUEST_NULL) return complete(ending);
  const rma_request_t operation = std::exchange(pending_, RMA_REQUEST_NULL);
  switch (ending.kind) {
    case Ending::Kind::blocking:
      return device_.flights().finish(operation);
    case Ending::Kind::request:
      device_.flights().detach(operation);
      *ending.request = operation;
      return {};
    case Ending::Kind::implicit:
      device_.flights().leave(operation);
      return {};
  }
  return {};
}

}  // namespace rma
