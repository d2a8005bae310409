#include "transport/verbs/service_thread.hpp"

#include <poll.h>
#include <pthread.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): pthread_sigmask
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

namespace rma::transport {

ServiceThread::~ServiceThread() {
  stop();
  if (stop_fd_ >= 0) close(stop_fd_);
}

void ServiceThread::stop() {
  if (!thread_.joinable()) return;
  const std::uint64_t one = 1;
  // Can only fail when the counter is full, and then the thread is woken all the same.
  [[maybe_unused]] const ssize_t written = write(stop_fd_, &one, sizeof one);
  thread_.join();
}

Status ServiceThread::start() {
  stop_fd_ = eventfd(0, EFD_CLOEXEC);
  if (stop_fd_ < 0) return system_failure(RMA_ERR_SYSTEM, "eventfd", errno);
  // Signals are the program's: its own threads take them.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = 0;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& failure) {
    error = failure.code().value();
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) return system_failure(RMA_ERR_SYSTEM, "starting the service thread", error);
  pthread_setname_np(thread_.native_handle(), "rma-service");
  return {};
}

void ServiceThread::run() {
  std::vector<pollfd> polled;
  polled.reserve(watched_.size() + 1);
  for (const Watched& watched : watched_)
    polled.push_back({.fd = watched.fd, .events = POLLIN, .revents = 0});
  polled.push_back({.fd = stop_fd_, .events = POLLIN, .revents = 0});
  while (true) {
    if (poll(polled.data(), polled.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return;
    }
    if (polled.back().revents != 0) return;
    for (std::size_t i = 0; i < watched_.size(); ++i) {
      if ((polled[i].revents & POLLIN) != 0) {
        watched_[i].serve();
      } else if (polled[i].revents != 0) {
        polled[i].fd = -1;  // the device is gone: nothing will come from it
      }
    }
  }
}

}  // namespace rma::transport
