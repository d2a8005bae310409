#pragma once

#include <atomic>
#include <cstdint>

#include "util/system/descriptor.hpp"

namespace librma {

/// How the helper thread sleeps, for the threads of the program, which may have to wake it. Thread-safe.
///
/// The helper that sleeps for solicited messages only needs another one to take note of credits that its
/// process waits for. So it sleeps like that only while the process has nothing unsent, and a thread that
/// leaves something unsent stirs it. No wake-up is lost: the helper stores its depth and then looks for
/// something unsent; the other thread counts what it leaves unsent and then reads the depth. All four are
/// sequentially consistent, so one of the two sees the other (Dekker's algorithm).
class HelperSleep {
 public:
  enum class Depth : std::uint8_t {
    awake,
    all,        ///< every arrival wakes it
    solicited,  ///< solicited messages wake it
  };

  /// Makes the descriptor. Returns false if none is left; then the depth never becomes `solicited`.
  [[nodiscard]] bool open();
  /// Returns the descriptor that becomes readable when the helper is stirred; -1 without one.
  [[nodiscard]] int fd() const { return event_.get(); }

  [[nodiscard]] Depth depth() const { return depth_.load(std::memory_order_seq_cst); }
  void set(Depth depth) { depth_.store(depth, std::memory_order_seq_cst); }
  /// Says that the helper is awake.
  void end();

  /// Wakes the helper if it sleeps for solicited messages only.
  void stir() {
    if (depth() == Depth::solicited) wake(Depth::solicited);
  }
  /// Wakes the helper however it sleeps, to send what this thread has just listed. As above one of the two
  /// sees the other: the helper sends what is listed once more after it has stored its depth.
  void rouse() {
    if (const Depth sleeps = depth(); sleeps != Depth::awake) wake(sleeps);
  }

 private:
  void wake(Depth expected);

  Descriptor event_;
  std::atomic<Depth> depth_ = Depth::awake;
};

}  // namespace librma
