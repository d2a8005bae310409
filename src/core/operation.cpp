#include "core/operation.hpp"

#include "core/copy.hpp"
#include "util/statistics.hpp"

namespace rma {

Operation::~Operation() {
  if (flying_ != RMA_REQUEST_NULL) static_cast<void>(device_.finish(flying_).ok());
}

Status Operation::open() {
  if (flying_ == RMA_REQUEST_NULL) flying_ = device_.open(rank_);
  if (flying_ == RMA_REQUEST_NULL) {
    return {RMA_ERR_NO_MEMORY, "too many nonblocking operations are open: wait for some of them"};
  }
  return {};
}

Status Operation::put(void* dst, const void* src, std::size_t bytes) {
  const Path path = job_.resolve(dst, bytes, rank_);
  if (path.here != nullptr) {
    copy_bytes(path.here, src, bytes);
    return {};
  }
  if (path.kind == Path::Kind::none) return Job::unreachable(dst, bytes, rank_);
  if (Status status = open(); !status.ok()) return status;
  count(Counter::put_cma);
  device_.write(
      flying_, {.address = reinterpret_cast<std::uintptr_t>(dst), .key = 0},
      {.address = const_cast<std::byte*>(static_cast<const std::byte*>(src)), .bytes = bytes, .key = 0});
  return {};
}

Status Operation::get(void* dst, const void* src, std::size_t bytes) {
  const Path path = job_.resolve(src, bytes, rank_);
  if (path.here != nullptr) {
    copy_bytes(dst, path.here, bytes);
    return {};
  }
  if (path.kind == Path::Kind::none) return Job::unreachable(src, bytes, rank_);
  if (Status status = open(); !status.ok()) return status;
  count(Counter::get_cma);
  device_.read(flying_, {.address = static_cast<std::byte*>(dst), .bytes = bytes, .key = 0},
               {.address = reinterpret_cast<std::uintptr_t>(src), .key = 0});
  return {};
}

Status Operation::end(const Ending& ending) {
  if (flying_ == RMA_REQUEST_NULL) return complete(ending);
  const rma_request_t operation = std::exchange(flying_, RMA_REQUEST_NULL);
  switch (ending.kind) {
    case Ending::Kind::blocking:
      return device_.finish(operation);
    case Ending::Kind::request:
      device_.detach(operation);
      *ending.request = operation;
      return {};
    case Ending::Kind::implicit:
      device_.leave(operation);
      return {};
  }
  return {};
}

}  // namespace rma
