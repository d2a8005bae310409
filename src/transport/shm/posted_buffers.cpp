#include "transport/shm/posted_buffers.hpp"

#include <algorithm>

namespace librma::transport {
namespace {

/// The initial room for posted buffers.
constexpr std::size_t kFewestBuffers = 64;

}  // namespace

void PostedBuffers::post(const Buffer& buffer) {
  const std::lock_guard guard(lock_);
  if (posted_ == buffers_.size()) {
    std::rotate(buffers_.begin(), buffers_.begin() + static_cast<std::ptrdiff_t>(oldest_), buffers_.end());
    oldest_ = 0;
    buffers_.resize(std::max(kFewestBuffers, 2 * posted_));
  }
  buffers_[(oldest_ + posted_) % buffers_.size()] = buffer;
  ++posted_;
  if (lending_) ++lent_;
  largest_ = std::max(largest_, buffer.memory.bytes);
}

bool PostedBuffers::take(Buffer* buffer) {
  const std::lock_guard guard(lock_);
  if (posted_ == 0) return false;
  *buffer = buffers_[oldest_];
  oldest_ = (oldest_ + 1) % buffers_.size();
  --posted_;
  return true;
}

void PostedBuffers::end_lending() {
  const std::lock_guard guard(lock_);
  lending_ = false;
}

std::uint32_t PostedBuffers::lent() const {
  const std::lock_guard guard(lock_);
  return lent_;
}

std::size_t PostedBuffers::largest() const {
  const std::lock_guard guard(lock_);
  return largest_;
}

}  // namespace librma::transport
