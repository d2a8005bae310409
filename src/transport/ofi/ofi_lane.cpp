#include "transport/ofi/ofi_lane.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>

namespace librma::transport {

Status OfiLane::open() {
  event_ = Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  return event_.open() ? Status() : system_failure(RMA_ERR_SYSTEM, "eventfd", errno);
}

bool OfiLane::expect() {
  const std::lock_guard guard(lock_);
  if (!completions_.reserve(expected_ + 1)) return false;
  ++expected_;
  return true;
}

void OfiLane::expect_no_more() {
  const std::lock_guard guard(lock_);
  --expected_;
}

bool OfiLane::make_room() {
  const std::lock_guard guard(lock_);
  return completions_.reserve(expected_ + kOfiSpare);
}

void OfiLane::push(const Completion& completion, bool solicited) {
  {
    const std::lock_guard guard(lock_);
    completions_.push_back(completion);
  }
  count_.fetch_add(1, std::memory_order_seq_cst);
  const Armed armed = armed_.load(std::memory_order_seq_cst);
  if (armed == Armed::no || (armed == Armed::solicited && !solicited)) return;
  if (armed_.exchange(Armed::no, std::memory_order_seq_cst) == Armed::no) return;
  const std::uint64_t signals = 1;
  // The write fails only if the counter is full. The descriptor is readable then.
  [[maybe_unused]] const ssize_t written = write(event_.get(), &signals, sizeof signals);
}

std::size_t OfiLane::take(std::span<Completion> completions) {
  if (count_.load(std::memory_order_acquire) == 0) return 0;
  const std::lock_guard guard(lock_);
  std::size_t filled = 0;
  while (filled < completions.size() && !completions_.empty()) {
    completions[filled++] = completions_.front();
    completions_.pop_front();
  }
  expected_ -= filled;
  count_.fetch_sub(filled, std::memory_order_relaxed);
  return filled;
}

bool OfiLane::arm(MessageEndpoint::Events events) {
  std::uint64_t counted = 0;
  // There may be nothing to read.
  [[maybe_unused]] const ssize_t taken = read(event_.get(), &counted, sizeof counted);
  armed_.store(events == MessageEndpoint::Events::all ? Armed::all : Armed::solicited,
               std::memory_order_seq_cst);
  return count_.load(std::memory_order_seq_cst) == 0;
}

}  // namespace librma::transport
