#include "messages/finishing_thread.hpp"

namespace librma {

FinishingThread::FinishingThread(Messages& messages) : messages_(messages) {
  const auto run = [](void* self) {
    auto& thread = *static_cast<FinishingThread*>(self);
    thread.messages_.take_in_until(thread.over_);
  };
  static_cast<void>(thread_.start("rma-finish", run, this));
}

FinishingThread::~FinishingThread() {
  over_.store(true, std::memory_order_release);  // pairs with the load in take_in_until()
  messages_.wake();
  thread_.join();
}

}  // namespace librma
