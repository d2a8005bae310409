#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace librma::transport {

/// The threads of the program that are inside a call that waits. They drive a network that needs it, so its
/// service thread leaves the network to them: it would be in their way, above all if it lost its processor
/// while it held a lock of the provider. Thread-safe.
///
/// A service thread that relies on a wait that goes on for long sleeps without a limit (rely()). The last
/// thread that leaves calls it back. No call is lost: the service thread counts itself and then looks who
/// waits; the last thread leaves and then looks who relies on it. All four are sequentially consistent, so
/// one of the two sees the other (Dekker's algorithm).
class Attendants {
 public:
  /// Which threads wait: the number of waits that have begun, modulo 2^32, and of those that go on. Two equal
  /// looks say that no wait has begun or ended between them.
  using Look = std::uint64_t;
  [[nodiscard]] static bool any(Look look) { return (look & kGoOn) != 0; }

  /// Makes the last thread that leaves call `recall` while something relies on the threads. Called before the
  /// first wait.
  void follow(std::function<void()> recall) { recalls_.push_back(std::move(recall)); }
  /// Returns whether anybody wants to know who waits.
  [[nodiscard]] bool followed() const { return !recalls_.empty(); }

  void enter() { waits_.fetch_add(kOne + 1, std::memory_order_seq_cst); }
  void leave() {
    const bool last = (waits_.fetch_sub(1, std::memory_order_seq_cst) & kGoOn) == 1;
    if (last && relied_on()) recall();
  }

  [[nodiscard]] Look look() const { return waits_.load(std::memory_order_seq_cst); }
  /// The caller relies on a thread that waits, until it says that it does not any more. It looks after the
  /// first call, and relies on nobody if nobody waits.
  void rely() { relying_.fetch_add(1, std::memory_order_seq_cst); }
  [[nodiscard]] bool relied_on() const { return relying_.load(std::memory_order_seq_cst) != 0; }
  void rely_no_more() { relying_.fetch_sub(1, std::memory_order_seq_cst); }

 private:
  static constexpr Look kOne = Look{1} << 32U;  ///< a wait that has begun
  static constexpr Look kGoOn = kOne - 1;       ///< the bits of those that go on

  void recall() const {
    for (const auto& recall : recalls_) recall();
  }

  std::atomic<Look> waits_ = 0;
  std::atomic<std::uint32_t> relying_ = 0;
  std::vector<std::function<void()>> recalls_;
};

}  // namespace librma::transport
