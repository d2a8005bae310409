#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include "util/background_thread.hpp"
#include "util/status.hpp"

namespace rma::transport {

/// A thread that sleeps until one of some file descriptors is readable, and then calls whoever serves it.
/// Idle, it uses no processor.
class ServiceThread {
 public:
  ServiceThread() = default;
  ~ServiceThread();
  ServiceThread(const ServiceThread&) = delete;
  ServiceThread& operator=(const ServiceThread&) = delete;

  /// Before start(): calls `serve` whenever `fd` is readable.
  void watch(int fd, std::function<void()> serve) { watched_.push_back({fd, std::move(serve)}); }
  /// RMA_ERR_SYSTEM.
  [[nodiscard]] Status start();
  /// Stops the thread, between two calls. What it watched may then end.
  void stop();

 private:
  struct Watched {
    int fd;
    std::function<void()> serve;
  };
  void run();

  std::vector<Watched> watched_;
  int stop_fd_ = -1;
  BackgroundThread thread_;
};

}  // namespace rma::transport
