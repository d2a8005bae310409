#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "rma/rma.h"
#include "shmem.h"
#include "shmem/job/job.hpp"

// Waiting for and testing words that other PEs write. The inlined part serves a word whose comparison is true
// already; librma serves the rest, and its waits sleep.

namespace librma::shmem {

inline void check_compare(Call call, int compare) {
  require_initialized(call);
  if (compare < SHMEM_CMP_EQ || compare > SHMEM_CMP_GE)
    die(call, fmt::format("there is no comparison {}", compare));
}

/// Loads a word that another PE may write. The stores that the PE made before it are visible after the load.
template <typename T>
T load(const T* word) {
  return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/// Loads a word, and returns whether its comparison is true.
template <typename T>
bool compares(const T* word, int compare, T value) {
  const T seen = load(word);
  switch (compare) {
    case SHMEM_CMP_EQ:
      return seen == value;
    case SHMEM_CMP_NE:
      return seen != value;
    case SHMEM_CMP_LT:
      return seen < value;
    case SHMEM_CMP_LE:
      return seen <= value;
    case SHMEM_CMP_GT:
      return seen > value;
    default:
      return seen >= value;
  }
}

// The functions below look at `count` words. Those whose `status` is not 0 are left out; a null `status`
// leaves out none. `values` is one value for all words, or an array with one for each.

/// Returns where a search among `count` words begins. A word that stays true must be found in the end by a
/// series of calls, whatever other words are true, and whatever other series a program makes in between. So
/// it is random.
inline std::size_t first_to_look_at(std::size_t count) {
  if (count < 2) return 0;
  static thread_local std::uint64_t state = 0x9e3779b97f4a7c15;
  // Marsaglia's xorshift.
  state ^= state << 13U;
  state ^= state >> 7U;
  state ^= state << 17U;
  return state % count;
}

/// Returns the index of a word whose comparison is true, or SIZE_MAX if every comparison is false. The search
/// starts at a random word, so that a series of calls reaches every word.
template <typename T, typename Values>
std::size_t find_any(const T* words, std::size_t count, const int* status, int compare, Values values) {
  std::size_t at = first_to_look_at(count);
  for (std::size_t i = 0; i < count; ++i, at = at + 1 < count ? at + 1 : 0) {
    if (status != nullptr && status[at] != 0) continue;
    T value = {};
    if constexpr (std::is_pointer_v<Values>) {
      value = values[at];
    } else {
      value = values;
    }
    if (compares(words + at, compare, value)) return at;
  }
  return SIZE_MAX;
}

/// Describes the words for librma, whose comparisons have the same numbers. Refers to `values`.
template <typename T>
rma_words_t describe(Call call, const T* words, std::size_t count, const int* status, int compare,
                     const T& value) {
  check_compare(call, compare);
  return {.words = words,
          .count = count,
          .bytes = sizeof(T),
          .is_signed = std::is_signed_v<T> ? 1 : 0,
          .left_out = status,
          .compare = static_cast<rma_compare_t>(compare),
          .values = &value,
          .one_value = 1};
}
template <typename T>
rma_words_t describe(Call call, const T* words, std::size_t count, const int* status, int compare,
                     T* const& values) {
  rma_words_t described = describe(call, words, count, status, compare, T{});
  described.values = values;
  described.one_value = 0;
  return described;
}

template <typename T, typename Values>
void wait_until_all(Call call, const T* words, std::size_t count, const int* status, int compare,
                    Values values) {
  const rma_words_t described = describe<T>(call, words, count, status, compare, values);
  require(rma_wait_until_all(&described), call);
}

template <typename T, typename Values>
std::size_t wait_until_any(Call call, const T* words, std::size_t count, const int* status, int compare,
                           Values values) {
  check_compare(call, compare);
  if (const std::size_t at = find_any<T>(words, count, status, compare, values); at != SIZE_MAX) return at;
  const rma_words_t described = describe<T>(call, words, count, status, compare, values);
  std::size_t found = SIZE_MAX;
  require(rma_wait_until_any(&described, &found), call);
  return found;
}

template <typename T, typename Values>
std::size_t wait_until_some(Call call, const T* words, std::size_t count, std::size_t* indices,
                            const int* status, int compare, Values values) {
  const rma_words_t described = describe<T>(call, words, count, status, compare, values);
  std::size_t found = 0;
  require(rma_wait_until_some(&described, indices, &found), call);
  return found;
}

template <typename T, typename Values>
int test_all(Call call, const T* words, std::size_t count, const int* status, int compare, Values values) {
  const rma_words_t described = describe<T>(call, words, count, status, compare, values);
  int met = 0;
  require(rma_test_until_all(&described, &met), call);
  return met;
}

/// Returns the index of a word whose comparison is true, or SIZE_MAX if there is none.
template <typename T, typename Values>
std::size_t test_any(Call call, const T* words, std::size_t count, const int* status, int compare,
                     Values values) {
  check_compare(call, compare);
  if (const std::size_t at = find_any<T>(words, count, status, compare, values); at != SIZE_MAX) return at;
  const rma_words_t described = describe<T>(call, words, count, status, compare, values);
  std::size_t found = SIZE_MAX;
  require(rma_test_until_any(&described, &found), call);
  return found;
}

/// Stores the indices of all words whose comparison is true, and returns how many they are.
template <typename T, typename Values>
std::size_t test_some(Call call, const T* words, std::size_t count, std::size_t* indices, const int* status,
                      int compare, Values values) {
  const rma_words_t described = describe<T>(call, words, count, status, compare, values);
  std::size_t found = 0;
  require(rma_test_until_some(&described, indices, &found), call);
  return found;
}

template <typename T>
void wait_until(Call call, const T* word, int compare, T value) {
  check_compare(call, compare);
  if (!compares(word, compare, value)) wait_until_all(call, word, 1, nullptr, compare, value);
}

template <typename T>
void wait_while(Call call, const T* word, T value) {
  wait_until(call, word, SHMEM_CMP_NE, value);
}

template <typename T>
int test(Call call, const T* word, int compare, T value) {
  check_compare(call, compare);
  return compares(word, compare, value) ? 1 : test_all(call, word, 1, nullptr, compare, value);
}

}  // namespace librma::shmem
