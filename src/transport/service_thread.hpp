#pragma once

#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "util/status.hpp"
#include "util/system/background_thread.hpp"
#include "util/system/descriptor.hpp"

namespace rma::transport {

/// A thread that sleeps until one of the watched file descriptors is readable, and then calls its handler. It
/// uses no processor time while it sleeps.
class ServiceThread {
 public:
  ServiceThread() = default;
  ~ServiceThread() { stop(); }
  ServiceThread(const ServiceThread&) = delete;
  ServiceThread& operator=(const ServiceThread&) = delete;

  /// Makes the thread call `serve` whenever `fd` is readable. Called before start().
  void watch(int fd, std::function<void()> serve) { watched_.push_back({fd, std::move(serve)}); }
  /// Starts the thread. RMA_ERR_SYSTEM.
  [[nodiscard]] Status start();
  /// Stops the thread, after the handler that is running. The watched descriptors may be closed then.
  void stop();

 private:
  struct Watched {
    int fd;
    std::function<void()> serve;
  };
  void run();

  std::vector<Watched> watched_;
  Descriptor stop_event_;
  BackgroundThread thread_;
};

}  // namespace rma::transport
