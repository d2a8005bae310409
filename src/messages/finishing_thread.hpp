#pragma once

#include <atomic>

#include "messages/messages.hpp"
#include "util/system/background_thread.hpp"

namespace rma {

/// Takes messages in while the program's thread leaves the job. That thread waits for all ranks in a fence of
/// the launcher, where it cannot make progress, and some of these ranks may still have messages that need
/// room here.
class FinishingThread {
 public:
  /// Starts the thread. If the system gives no thread, nothing is taken in: ranks that still send then wait
  /// until the launcher ends the job.
  explicit FinishingThread(Messages& messages);
  /// Ends the thread.
  ~FinishingThread();
  FinishingThread(const FinishingThread&) = delete;
  FinishingThread& operator=(const FinishingThread&) = delete;

 private:
  Messages& messages_;
  std::atomic<bool> over_ = false;
  BackgroundThread thread_;
};

}  // namespace rma
