#pragma once

#include <poll.h>

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "util/status.hpp"
#include "util/system/background_thread.hpp"
#include "util/system/descriptor.hpp"

namespace librma::transport {

/// A thread that sleeps until one of the watched file descriptors is readable, and then calls its handler. It
/// uses no processor time while it sleeps.
class ServiceThread {
 public:
  ServiceThread() = default;
  ~ServiceThread() { stop(); }
  ServiceThread(const ServiceThread&) = delete;
  ServiceThread& operator=(const ServiceThread&) = delete;

  /// How long the thread may sleep before it calls a handler again.
  struct Sleep {
    bool until_readable = true;                        ///< until the handler's descriptor is readable
    std::optional<std::chrono::microseconds> at_most;  ///< no value: without end; 0: it does not sleep
  };
  using Prepare = std::function<Sleep()>;

  /// Makes the thread call `serve` whenever `fd` is readable. Called before start().
  void watch(int fd, std::function<void()> serve) { watched_.push_back({fd, nullptr, std::move(serve)}); }
  /// Does the same for a device that has to be asked before each sleep. `prepare` says how long the thread
  /// may sleep; the thread calls `serve` after that time, too. A device without a descriptor has fd -1.
  void watch(int fd, Prepare prepare, std::function<void()> serve) {
    watched_.push_back({fd, std::move(prepare), std::move(serve)});
  }
  /// Starts the thread. RMA_ERR_SYSTEM.
  [[nodiscard]] Status start();
  /// Stops the thread, after the handler that is running. The watched descriptors may be closed then.
  void stop();

 private:
  struct Watched {
    int fd;
    Prepare prepare;
    std::function<void()> serve;
  };
  void run();
  /// Fills in the descriptors to sleep at. Returns the longest sleep; no value: without end.
  [[nodiscard]] std::optional<std::chrono::microseconds> prepare_sleep(std::vector<pollfd>& polled);

  std::vector<Watched> watched_;
  Descriptor stop_event_;
  BackgroundThread thread_;
};

}  // namespace librma::transport
