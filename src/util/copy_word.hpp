#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace librma {

/// Copies one Word to an aligned address by one store, so no process sees a polled word half written. The
/// store's release order makes everything copied before visible to a thread that sees the word. For other
/// sizes and addresses it copies nothing and returns false. `from` needs no alignment. (rma/direct.h repeats
/// these stores, because it is public and C.)
template <typename Word>
[[gnu::always_inline]] inline bool copy_word(void* to, const void* from, std::size_t bytes) {
  if (bytes != sizeof(Word) || reinterpret_cast<std::uintptr_t>(to) % sizeof(Word) != 0) return false;
  Word word = 0;
  std::memcpy(&word, from, sizeof word);
  __atomic_store_n(static_cast<Word*>(to), word, __ATOMIC_RELEASE);
  return true;
}

}  // namespace librma
