#pragma once

#include <pthread.h>

namespace librma {

/// Calls a function with a thread's pointer when the thread ends. A thread_local with a destructor does the
/// same, but the C library ends the process if it has no memory to record that destructor.
///
/// The key is never deleted: threads may end while the process exits, and librma.so is never unloaded.
class ThreadEnd {
 public:
  /// The ending thread calls `ended` with the pointer that it left last. It may call `ended` again if it uses
  /// the library once more in another destructor.
  explicit ThreadEnd(void (*ended)(void* left)) noexcept : made_(::pthread_key_create(&key_, ended) == 0) {}

  /// Leaves a pointer for `ended`. Returns false if the system has no room for it; `ended` is then not
  /// called for `left`.
  [[nodiscard]] bool leave(void* left) const noexcept {
    return made_ && ::pthread_setspecific(key_, left) == 0;
  }

 private:
  pthread_key_t key_ = {};
  bool made_;
};

}  // namespace librma
