#pragma once

#include <cstdint>

namespace rma {

/// Decides whether a receiver asks a sender to copy pieces of a long message (SharedCopy), by what has come of the last
/// requests. A sender that copies what it receives itself comes too late to help, and the receiver has then made a system
/// call for each piece instead of one for the message. So after kVain requests in vain the receiver copies the next
/// kAlone messages alone. One thread at a time uses it.
class HelpRecord {
 public:
  static constexpr std::uint32_t kVain = 4;
  static constexpr std::uint32_t kAlone = 8;

  /// Returns whether to ask for help with the next message.
  [[nodiscard]] bool asks() {
    if (alone_ == 0) return true;
    --alone_;
    return false;
  }
  /// Says whether the sender has copied any piece.
  void asked(bool helped) {
    if (helped) {
      vain_ = 0;
    } else if (++vain_ >= kVain) {
      vain_ = kVain - 1;  // the next request in vain is enough
      alone_ = kAlone;
    }
  }

 private:
  std::uint32_t vain_ = 0;   ///< the last requests, all in vain
  std::uint32_t alone_ = 0;  ///< messages to copy without asking
};

}  // namespace rma
