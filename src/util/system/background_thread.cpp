#include "util/system/background_thread.hpp"

#include <cerrno>
#include <new>

#include "util/exhausted.hpp"
#include "util/system/interruptions.hpp"
#include "util/text.hpp"

namespace librma {

int BackgroundThread::start(const char* name, void (*run)(void*), void* context) {
  run_ = run;
  context_ = context;
  pthread_attr_t attributes;
  if (const int error = ::pthread_attr_init(&attributes); error != 0) return error;
  int error = ::pthread_attr_setstacksize(&attributes, kStackBytes);
  {
    const SignalsHeldBack held_back;  // the new thread inherits the mask
    if (error == 0) error = ::pthread_create(&thread_, &attributes, main, this);
    // The program's thread_local variables lie in each thread's stack, and may be larger than kStackBytes.
    if (error == EINVAL) error = ::pthread_create(&thread_, nullptr, main, this);
  }
  ::pthread_attr_destroy(&attributes);
  if (error != 0) return error;
  running_ = true;
  ::pthread_setname_np(thread_, name);
  return 0;
}

Status BackgroundThread::refused(const char* what, int error) {
  if (error != EAGAIN) return system_failure(RMA_ERR_SYSTEM, what, error);
  return {RMA_ERR_SYSTEM,
          text("{}: no more threads may start here; the limits are those of the user (ulimit -u) "
               "and of the container or batch job (pids.max)",
               what)};
}

void BackgroundThread::join() {
  if (!running_) return;
  ::pthread_join(thread_, nullptr);
  running_ = false;
}

void* BackgroundThread::main(void* thread) {
  const auto* const self = static_cast<BackgroundThread*>(thread);
  try {
    self->run_(self->context_);
  } catch (const std::bad_alloc&) {
    end_exhausted("the work of a thread of the library");
  }
  return nullptr;
}

}  // namespace librma
