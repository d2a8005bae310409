#include "core/one_sided/operation.hpp"

#include "core/network/transfers.hpp"
#include "core/one_sided/copy.hpp"
#include "util/statistics.hpp"
#include "util/try.hpp"

namespace librma {

Status check_reachable(const Job& job, RemoteAccess& remote_access, const void* address, std::size_t bytes,
                       int rank) {
  switch (job.resolve(address, bytes, rank).kind) {
    case Path::Kind::direct:
    case Path::Kind::foreign:
      return {};
    case Path::Kind::network:
      return remote_access.network()->transfers().reachable(address, bytes, rank);
    case Path::Kind::none:
      break;
  }
  return unreachable(address, bytes, rank);
}

Status end_issuing(PendingOperations& pending, rma_request_t operation, const Ending& ending) {
  switch (ending.kind) {
    case Ending::Kind::blocking:
      return pending.finish(operation);
    case Ending::Kind::request:
      pending.detach(operation);
      *ending.request = operation;
      return {};
    case Ending::Kind::implicit:
      pending.leave(operation);
      return {};
  }
  return {};
}

Operation::~Operation() {
  if (batch_) {
    static_cast<void>(remote_access_.network()->posting().flush(*batch_).ok());
    request_ = batch_->take_operation();
  }
  if (request_ == RMA_REQUEST_NULL) return;
  remote_access_.flush(foreign_, request_);
  static_cast<void>(remote_access_.pending().finish(request_).ok());
}

Batch& Operation::batch() { return batch_ ? *batch_ : batch_.emplace(rank_); }

Status Operation::open() {
  if (request_ == RMA_REQUEST_NULL) request_ = remote_access_.pending().open(rank_);
  if (request_ == RMA_REQUEST_NULL) return PendingOperations::too_many();
  return {};
}

Result<rma_request_t> Operation::network_operation() {
  Batch& posted = batch();
  RMA_TRY(remote_access_.network()->posting().open(posted));
  return posted.operation();
}

Result<rma_request_t> Operation::host_operation() {
  RMA_TRY(open());
  return request_;
}

bool Operation::defer(Job& job, RemoteAccess& remote_access, transport::Direction direction, int rank,
                      std::byte* remote, std::byte* local, std::size_t bytes) {
  // Callers know that what goes to this process's own memory is over when the call returns.
  if (bytes > ForeignMemory::kMostLater || rank == job.rank() ||
      job.resolve(remote, bytes, rank).kind != Path::Kind::foreign ||
      job.heap_parts(remote, bytes, rank).inside != 0 ||
      (remote_access.copy_fallback() == nullptr && !remote_access.permitted(rank)) ||
      !remote_access.add_later(direction, rank,
                               {.address = reinterpret_cast<std::uintptr_t>(remote), .key = 0},
                               {.address = local, .bytes = bytes, .key = 0})) {
    return false;
  }
  count(direction == transport::Direction::write ? Counter::put_cma : Counter::get_cma);
  return true;
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
  if (path.kind == Path::Kind::none) return unreachable(remote, bytes, rank_);
  if (path.kind == Path::Kind::network) {
    Transfers& transfers = remote_access_.network()->transfers();
    return put ? transfers.put(batch(), remote, local, bytes) : transfers.get(batch(), local, remote, bytes);
  }
  return move_foreign_parts(direction, remote, local, bytes);
}

Status Operation::move_foreign_parts(transport::Direction direction, std::byte* remote, std::byte* local,
                                     std::size_t bytes) {
  RMA_TRY(open());
  const auto address = reinterpret_cast<std::uintptr_t>(remote);
  const Job::HeapParts parts = job_.heap_parts(remote, bytes, rank_);
  if (parts.inside == 0) return move_foreign(direction, address, local, bytes);
  if (parts.before != 0) {
    RMA_TRY(move_foreign(direction, address, local, parts.before));
  }
  std::byte* const here = job_.direct(remote + parts.before, parts.inside, rank_);
  if (direction == transport::Direction::write) {
    copy_bytes(here, local + parts.before, parts.inside);
  } else {
    copy_bytes(local + parts.before, here, parts.inside);
  }
  if (parts.behind == 0) return {};
  const std::size_t done = bytes - parts.behind;
  return move_foreign(direction, address + done, local + done, parts.behind);
}

Status Operation::move_foreign(transport::Direction direction, std::uintptr_t remote, std::byte* local,
                               std::size_t bytes) {
  CopyFallback* const fallback = remote_access_.copy_fallback();
  if (fallback != nullptr && !remote_access_.permitted(rank_)) {
    return fallback->move(direction, rank_, remote, local, bytes, request_);
  }
  const bool put = direction == transport::Direction::write;
  count(put ? Counter::put_cma : Counter::get_cma);
  remote_access_.add(foreign_, direction, request_, {.address = remote, .key = 0},
                     {.address = local, .bytes = bytes, .key = 0});
  return {};
}

Status Operation::end(const Ending& ending) {
  if (batch_) {
    // A failure here is returned at once. The destructor waits for the posted parts all the same.
    RMA_TRY(remote_access_.network()->posting().flush(*batch_));
    request_ = batch_->take_operation();
  }
  if (request_ == RMA_REQUEST_NULL) return complete(ending);
  remote_access_.flush(foreign_, request_);
  const rma_request_t operation = std::exchange(request_, RMA_REQUEST_NULL);
  return end_issuing(remote_access_.pending(), operation, ending);
}

}  // namespace librma
