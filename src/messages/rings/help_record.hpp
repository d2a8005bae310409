#pragma once

#include <cstdint>

namespace librma {

/// Decides whether a receiver asks a sender to copy pieces of a long message (SharedCopy). It remembers
/// whether the sender helped with the last messages. A sender that copies its own received messages at that
/// time comes too late to help. The receiver has then made one system call for each piece instead of one for
/// the message. So after kUnhelped messages without help the receiver copies the next kAlone messages without
/// asking, and so it does when both send to each other. One thread at a time uses it.
class HelpRecord {
 public:
  static constexpr std::uint32_t kUnhelped = 4;
  static constexpr std::uint32_t kAlone = 8;

  /// Returns whether to ask for help with the next message.
  [[nodiscard]] bool asks() {
    if (alone_ == 0) return true;
    --alone_;
    return false;
  }
  /// Says that the receiver sends to the sender, too, so each of them has a message to copy. The next kAlone
  /// messages are copied alone, because the rank that is ahead has no message left for a moment: its help
  /// would put it further ahead, and move the cache lines of the other one's buffers.
  void copy_alone() { alone_ = kAlone; }
  /// Says whether the sender has copied any piece.
  void asked(bool helped) {
    if (helped) {
      unhelped_ = 0;
    } else if (++unhelped_ >= kUnhelped) {
      unhelped_ = kUnhelped - 1;  // the next message without help is enough
      alone_ = kAlone;
    }
  }

 private:
  std::uint32_t unhelped_ = 0;  ///< the last messages, all without help
  std::uint32_t alone_ = 0;     ///< messages to copy without asking
};

}  // namespace librma
