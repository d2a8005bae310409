#include "core/completion/progress_thread.hpp"

#include <new>

#include "core/completion/progress_engine.hpp"
#include "util/exhausted.hpp"

namespace librma {

ProgressThread::~ProgressThread() {
  over_.store(true, std::memory_order_release);  // pairs with the load in over()
  idle_.wake();
  engine_.wake();
  thread_.join();
}

Status ProgressThread::start() {
  const auto run = [](void* self) { static_cast<ProgressThread*>(self)->work(); };
  if (const int error = thread_.start("rma-progress", run, this); error != 0) {
    return BackgroundThread::refused("starting the progress thread", error);
  }
  return {};
}

void ProgressThread::enter() {
  waiting_.fetch_add(1, std::memory_order_seq_cst);
  engine_.woken_by_change();
}

// Running out of memory is fatal here: a message that is half taken in cannot be left there.
void ProgressThread::work() try {
  while (!over()) {
    wait_until(idle_, WaitPolicy(), [this] { return over() || needed(); });
    engine_.drive_until(WaitPolicy{.spins = spins_}, [this] { return over() || !needed(); });
  }
} catch (const std::bad_alloc&) {
  end_exhausted("the work of the progress thread");
}

}  // namespace librma
