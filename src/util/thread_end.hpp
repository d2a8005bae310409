#pragma once

#include <pthread.h>

namespace rma {

/// Hands what a thread has left here to a function when the thread ends. A thread_local with a destructor
/// does the same, but the C library ends the process where it has no memory to note that destructor.
///
/// The key stays for good: threads may end while the process exits, and librma.so is never unloaded.
class ThreadEnd {
 public:
  /// `ended` is called by the ending thread, with what it left last, and may be called again when the thread
  /// uses the library once more in another destructor.
  explicit ThreadEnd(void (*ended)(void* left)) noexcept : made_(::pthread_key_create(&key_, ended) == 0) {}

  /// False when the system has no room for it: then `ended` will not be called for `left`.
  [[nodiscard]] bool leave(void* left) const noexcept {
    return made_ && ::pthread_setspecific(key_, left) == 0;
  }

 private:
  pthread_key_t key_ = {};
  bool made_;
};

}  // namespace rma
