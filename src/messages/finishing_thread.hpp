#pragma once

#include <atomic>

#include "messages/messages.hpp"
#include "util/system/background_thread.hpp"

namespace librma {

/// Takes messages in while the program's thread leaves the job. That thread waits for all ranks in a fence of
/// the launcher, where it cannot make progress, and some of these ranks may still have messages that need
/// room here.
class FinishingThread {
 public:
  /// Starts the thread.
  explicit FinishingThread(Messages& messages);
  /// Returns whether the system has given a thread. Without one the fence has to take messages in.
  [[nodiscard]] bool running() const { return thread_.running(); }
  /// Ends the thread.
  ~FinishingThread();
  FinishingThread(const FinishingThread&) = delete;
  FinishingThread& operator=(const FinishingThread&) = delete;

 private:
  Messages& messages_;
  std::atomic<bool> over_ = false;
  BackgroundThread thread_;
};

}  // namespace librma
