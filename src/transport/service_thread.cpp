#include "transport/service_thread.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "util/system/interruptions.hpp"

namespace rma::transport {

void ServiceThread::stop() {
  if (!thread_.running()) return;
  const std::uint64_t one = 1;
  // The write fails only if the counter is full. The descriptor is readable then, so the thread wakes anyway.
  [[maybe_unused]] const ssize_t written = write(stop_event_.get(), &one, sizeof one);
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

void ServiceThread::run() {
  std::vector<pollfd> polled;
  polled.reserve(watched_.size() + 1);
  for (const Watched& watched : watched_)
    polled.push_back({.fd = watched.fd, .events = POLLIN, .revents = 0});
  polled.push_back({.fd = stop_event_.get(), .events = POLLIN, .revents = 0});
  while (true) {
    if (uninterrupted([&] { return poll(polled.data(), polled.size(), -1); }) < 0) return;
    if (polled.back().revents != 0) return;
    for (std::size_t i = 0; i < watched_.size(); ++i) {
      if ((polled[i].revents & POLLIN) != 0) {
        watched_[i].serve();
      } else if (polled[i].revents != 0) {
        polled[i].fd = -1;  // the device is gone and sends no more events
      }
    }
  }
}

}  // namespace rma::transport
