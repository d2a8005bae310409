#include "messages/finishing_thread.hpp"

#include "util/log.hpp"

namespace rma {

FinishingThread::FinishingThread(Messages& messages) : messages_(messages) {
  const auto run = [](void* self) {
    auto& thread = *static_cast<FinishingThread*>(self);
    thread.messages_.take_in_until(thread.over_);
  };
  if (thread_.start("rma-finish", run, this) != 0) {
    log(LogLevel::warn, "no thread is left to take in messages while this process leaves the job");
  }
}

FinishingThread::~FinishingThread() {
  over_.store(true, std::memory_order_release);  // pairs with the load in take_in_until()
  messages_.wake();
  thread_.join();
}

}  // namespace rma
