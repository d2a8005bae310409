/**
 * @file words.hpp
 * Waiting for and testing several words that other ranks write.
 */
#ifndef RMA_WORDS_HPP
#define RMA_WORDS_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "rma/error.hpp"
#include "rma/notify.hpp"

namespace rma::inline v0 {

/** Words of this process that other ranks write, of 2, 4 or 8 bytes, and what a caller of the functions below
 *  wants of them (rma_words_t). Refers to memory of the caller. */
template <std::integral T>
requires(sizeof(T) >= 2) struct Words {
  std::span<const T> words;
  Compare compare = Compare::kEqual;
  std::span<const T> values;          /**< one for all words, or one for each */
  std::span<const int> left_out = {}; /**< empty, or for each word a value other than 0 if it is left out */

  /** Returns the description for rma.h. Throws an ArgumentError if the spans' sizes do not agree. */
  [[nodiscard]] rma_words_t described() const {
    const bool one = values.size() == 1;
    if ((!one && values.size() != words.size()) || (!left_out.empty() && left_out.size() != words.size())) {
      throw_error(RMA_ERR_ARGUMENT, "there are " + std::to_string(words.size()) + " words, but " +
                                        std::to_string(values.size()) + " values and " +
                                        std::to_string(left_out.size()) + " marks of those left out");
    }
    return {.words = words.data(),
            .count = words.size(),
            .bytes = sizeof(T),
            .is_signed = std::is_signed_v<T> ? 1 : 0,
            .left_out = left_out.empty() ? nullptr : left_out.data(),
            .compare = static_cast<rma_compare_t>(compare),
            .values = values.data(),
            .one_value = one ? 1 : 0};
  }
};

/** Waits until the comparisons of all words are true. */
template <std::integral T>
void wait_until_all(const Words<T>& words) {
  const rma_words_t described = words.described();
  check(rma_wait_until_all(&described));
}
/** Waits until the comparison of one word is true, and returns its index. Returns no value if all words are
 * left out. */
template <std::integral T>
std::optional<std::size_t> wait_until_any(const Words<T>& words) {
  const rma_words_t described = words.described();
  std::size_t index = SIZE_MAX;
  check(rma_wait_until_any(&described, &index));
  return index != SIZE_MAX ? std::optional(index) : std::nullopt;
}
/** Waits until the comparison of one word is true, and returns the indices of all such words. Returns none if
 *  all words are left out. */
template <std::integral T>
std::vector<std::size_t> wait_until_some(const Words<T>& words) {
  const rma_words_t described = words.described();
  std::vector<std::size_t> indices(words.words.size());
  std::size_t found = 0;
  check(rma_wait_until_some(&described, indices.data(), &found));
  indices.resize(found);
  return indices;
}
/** Do the same without waiting. */
template <std::integral T>
[[nodiscard]] bool test_until_all(const Words<T>& words) {
  const rma_words_t described = words.described();
  int met = 0;
  check(rma_test_until_all(&described, &met));
  return met != 0;
}
template <std::integral T>
[[nodiscard]] std::optional<std::size_t> test_until_any(const Words<T>& words) {
  const rma_words_t described = words.described();
  std::size_t index = SIZE_MAX;
  check(rma_test_until_any(&described, &index));
  return index != SIZE_MAX ? std::optional(index) : std::nullopt;
}
template <std::integral T>
[[nodiscard]] std::vector<std::size_t> test_until_some(const Words<T>& words) {
  const rma_words_t described = words.described();
  std::vector<std::size_t> indices(words.words.size());
  std::size_t found = 0;
  check(rma_test_until_some(&described, indices.data(), &found));
  indices.resize(found);
  return indices;
}

}  // namespace rma::inline v0

#endif
