#include "transport/service_thread.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "util/system/interruptions.hpp"

namespace librma::transport {

void ServiceThread::stop() {
  if (!thread_.running()) return;
  const std::uint64_t increment = 1;
  // The write fails only if the counter is full. The descriptor is readable then, so the thread wakes anyway.
  [[maybe_unused]] const ssize_t written = write(stop_event_.get(), &increment, sizeof increment);
  thread_.join();
}

Status ServiceThread::start() {
  stop_event_ = Descriptor(eventfd(0, EFD_CLOEXEC));
  if (!stop_event_.open()) return system_failure(RMA_ERR_SYSTEM, "eventfd", errno);
  const auto main = [](void* service) { static_cast<ServiceThread*>(service)->run(); };
  if (const int error = thread_.start("rma-service", main, this); error != 0) {
    return BackgroundThread::refused("starting the service thread", error);
  }
  return {};
}

std::optional<std::chrono::microseconds> ServiceThread::prepare_sleep(std::vector<pollfd>& polled) {
  std::optional<std::chrono::microseconds> longest;
  for (std::size_t i = 0; i < watched_.size(); ++i) {
    if (!watched_[i].prepare) continue;
    const Sleep sleep = watched_[i].prepare();
    polled[i].fd = sleep.until_readable ? watched_[i].fd : -1;
    if (sleep.at_most) longest = std::min(longest.value_or(*sleep.at_most), *sleep.at_most);
  }
  return longest;
}

void ServiceThread::run() {
  std::vector<pollfd> polled;
  polled.reserve(watched_.size() + 1);
  for (const Watched& watched : watched_)
    polled.push_back({.fd = watched.fd, .events = POLLIN, .revents = 0});
  polled.push_back({.fd = stop_event_.get(), .events = POLLIN, .revents = 0});
  while (true) {
    const auto longest = prepare_sleep(polled);
    timespec limit = {};
    if (longest) limit = {.tv_sec = longest->count() / 1000000, .tv_nsec = longest->count() % 1000000 * 1000};
    const int ready = uninterrupted(
        [&] { return ppoll(polled.data(), polled.size(), longest ? &limit : nullptr, nullptr); });
    if (ready < 0 || polled.back().revents != 0) return;
    for (std::size_t i = 0; i < watched_.size(); ++i) {
      // A device that is asked before each sleep is also served after each: asking it is cheap.
      if ((polled[i].revents & POLLIN) != 0 || (watched_[i].prepare && (ready == 0 || polled[i].fd < 0))) {
        watched_[i].serve();
      } else if (polled[i].revents != 0) {
        polled[i].fd = -1;  // the device is gone and sends no more events
      }
    }
  }
}

}  // namespace librma::transport
