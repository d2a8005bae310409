#include "channel/helper_sleep.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

namespace librma {

bool HelperSleep::open() {
  event_ = Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  return event_.open();
}

void HelperSleep::end() {
  set(Depth::awake);
  if (!event_.open()) return;
  std::uint64_t stirred = 0;
  [[maybe_unused]] const ssize_t taken = read(event_.get(), &stirred, sizeof stirred);
}

void HelperSleep::wake(Depth expected) {
  // One of the threads that come here at once writes.
  if (!depth_.compare_exchange_strong(expected, Depth::awake, std::memory_order_seq_cst)) return;
  const std::uint64_t increment = 1;
  [[maybe_unused]] const ssize_t written = write(event_.get(), &increment, sizeof increment);
}

}  // namespace librma
