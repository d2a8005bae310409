#include "transport/shm/wakeup.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>

#include "util/system/interruptions.hpp"

namespace librma::transport {
namespace {

constexpr std::uint64_t kWakeups = UINT64_MAX;

}  // namespace

Result<std::unique_ptr<Wakeup>> Wakeup::create() {
  Descriptor wakeups(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wakeups.open()) return system_failure(RMA_ERR_SYSTEM, "eventfd", errno);
  Descriptor events(epoll_create1(EPOLL_CLOEXEC));
  epoll_event wakes = {.events = EPOLLIN, .data = {.u64 = kWakeups}};
  if (!events.open() || epoll_ctl(events.get(), EPOLL_CTL_ADD, wakeups.get(), &wakes) != 0) {
    return system_failure(RMA_ERR_SYSTEM, "epoll", errno);
  }
  return std::unique_ptr<Wakeup>(new Wakeup(std::move(wakeups), std::move(events)));
}

void Wakeup::watch(int end, std::size_t tag) {
  if (end < 0) return;
  if (watched_.size() <= tag) watched_.resize(tag + 1, -1);
  watched_[tag] = end;
  epoll_event ends = {.events = EPOLLIN, .data = {.u64 = tag}};
  // If this fails, nobody notices the end of the process.
  static_cast<void>(epoll_ctl(events_.get(), EPOLL_CTL_ADD, end, &ends));
}

void Wakeup::look(std::vector<std::size_t>& ended) {
  std::array<epoll_event, 16> found = {};
  while (true) {
    const int count = uninterrupted(
        [&] { return epoll_wait(events_.get(), found.data(), static_cast<int>(found.size()), 0); });
    for (int i = 0; i < count; ++i) {
      const std::uint64_t tag = found[static_cast<std::size_t>(i)].data.u64;
      if (tag == kWakeups) continue;
      // Otherwise epoll_wait() would return it again and again.
      static_cast<void>(epoll_ctl(events_.get(), EPOLL_CTL_DEL, watched_[tag], nullptr));
      ended.push_back(tag);
    }
    if (count < static_cast<int>(found.size())) return;
  }
}

void Wakeup::take_signals() const {
  std::uint64_t count = 0;
  static_cast<void>(uninterrupted([&] { return read(wakeups_.get(), &count, sizeof count); }));
}

void Wakeup::signal(int wakeups) {
  const std::uint64_t increment = 1;
  // Besides a signal, only a full counter makes the write fail. It is readable then, so its owner wakes
  // anyway.
  static_cast<void>(uninterrupted([&] { return write(wakeups, &increment, sizeof increment); }));
}

bool has_ended(int process) {
  pollfd end = {.fd = process, .events = POLLIN, .revents = 0};
  // A signal interrupts even a call that does not wait, if the process runs.
  const int found = uninterrupted([&] { return poll(&end, 1, 0); });
  return found == 1 && (end.revents & POLLIN) != 0;
}

}  // namespace librma::transport
