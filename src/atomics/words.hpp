#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "atomics/notify.hpp"
#include "rma/rma.h"

namespace librma {

/// Several words of one type that other ranks write (rma_words_t). The caller has checked the description.
template <typename Word>
class Words {
 public:
  explicit Words(const rma_words_t& described)
      : described_(described),
        words_(static_cast<const Word*>(described.words)),
        values_(static_cast<const Word*>(described.values)) {}

  [[nodiscard]] std::size_t count() const { return described_.count; }
  [[nodiscard]] bool left_out(std::size_t index) const {
    return described_.left_out != nullptr && described_.left_out[index] != 0;
  }
  /// Returns whether the comparison of a word that is not left out is true.
  [[nodiscard]] bool met(std::size_t index) const {
    // The writer's earlier effects are visible. std::atomic_ref of C++20 takes no const.
    const Word seen = std::atomic_ref<Word>(const_cast<Word&>(words_[index])).load(std::memory_order_acquire);
    return compare_words<Word>(seen, described_.compare, values_[described_.one_value != 0 ? 0 : index]);
  }

  /// Advances `done` over the words that are left out or whose comparison is true. Returns whether it is at
  /// the end.
  [[nodiscard]] bool advance(std::size_t& done) const {
    while (done < count() && (left_out(done) || met(done))) ++done;
    return done == count();
  }
  /// Returns the index of a word whose comparison is true, or SIZE_MAX.
  [[nodiscard]] std::size_t find() const {
    for (std::size_t i = 0; i < count(); ++i) {
      if (!left_out(i) && met(i)) return i;
    }
    return SIZE_MAX;
  }
  /// Stores the indices of the words whose comparisons are true. Returns how many they are.
  [[nodiscard]] std::size_t find_all(std::size_t* indices) const {
    std::size_t found = 0;
    for (std::size_t i = 0; i < count(); ++i) {
      if (!left_out(i) && met(i)) indices[found++] = i;
    }
    return found;
  }
  /// Returns whether every word is left out.
  [[nodiscard]] bool empty() const {
    std::size_t index = 0;
    while (index < count() && left_out(index)) ++index;
    return index == count();
  }

 private:
  const rma_words_t& described_;
  const Word* const words_;
  const Word* const values_;
};

/// Calls use(words) with the words that are described, in their type. Returns what it returns.
template <typename Use>
auto with_words(const rma_words_t& described, const Use& use) {
  const bool is_signed = described.is_signed != 0;
  switch (described.bytes) {
    case sizeof(std::uint16_t):
      return is_signed ? use(Words<std::int16_t>(described)) : use(Words<std::uint16_t>(described));
    case sizeof(std::uint32_t):
      return is_signed ? use(Words<std::int32_t>(described)) : use(Words<std::uint32_t>(described));
    default:
      return is_signed ? use(Words<std::int64_t>(described)) : use(Words<std::uint64_t>(described));
  }
}

}  // namespace librma
