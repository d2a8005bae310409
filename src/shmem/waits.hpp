#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "rma/rma.h"
#include "shmem.h"
#include "shmem/job.hpp"

// Waiting for and testing words that other PEs write. A PE that waits long sleeps (rma_wait_for).

namespace rma::shmem {

/// Loads a word that another PE may write. What that PE stored before is visible after it.
template <typename T>
T load(const T* word) {
  return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

inline void check_compare(Call call, int compare) {
  require_initialized(call);
  if (compare < SHMEM_CMP_EQ || compare > SHMEM_CMP_GE)
    die(call, fmt::format("there is no comparison {}", compare));
}

template <typename T>
bool compares(T seen, int compare, T value) {
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

/// Waits until `met()` returns true.
template <typename Condition>
void wait_for(Call call, Condition& met) {
  if (met()) return;
  const auto called = [](void* condition) { return (*static_cast<Condition*>(condition))() ? 1 : 0; };
  require(rma_wait_for(called, &met), call);
}

/// Waits for one word and returns its value that made the comparison true.
template <typename T>
T wait_until(Call call, const T* word, int compare, T value) {
  check_compare(call, compare);
  T seen = {};
  auto met = [&] {
    seen = load(word);
    return compares(seen, compare, value);
  };
  wait_for(call, met);
  return seen;
}

template <typename T>
void wait_while(Call call, const T* word, T value) {
  wait_until(call, word, SHMEM_CMP_NE, value);
}

template <typename T>
int test(Call call, const T* word, int compare, T value) {
  check_compare(call, compare);
  return compares(load(word), compare, value) ? 1 : 0;
}

// The functions below look at `count` words. Those whose `status` is not 0 are left out; a null `status` leaves out
// none. `values` is one value for all words, or an array with one for each.

template <typename T>
T value_of(T value, std::size_t /*index*/) {
  return value;
}
template <typename T>
T value_of(const T* values, std::size_t index) {
  return values[index];
}

inline bool left_out(const int* status, std::size_t index) { return status != nullptr && status[index] != 0; }

/// Returns whether all words are left out.
inline bool none_of(const int* status, std::size_t count) {
  std::size_t index = 0;
  while (index < count && left_out(status, index)) ++index;
  return index == count;
}

template <typename T, typename Values>
int test_all(Call call, const T* words, std::size_t count, const int* status, int compare, Values values) {
  check_compare(call, compare);
  for (std::size_t i = 0; i < count; ++i) {
    if (!left_out(status, i) && !compares<T>(load(words + i), compare, value_of<T>(values, i))) return 0;
  }
  return 1;
}

/// Returns the index of a word whose comparison is true, or SIZE_MAX if there is none.
template <typename T, typename Values>
std::size_t test_any(Call call, const T* words, std::size_t count, const int* status, int compare,
                     Values values) {
  check_compare(call, compare);
  for (std::size_t i = 0; i < count; ++i) {
    if (!left_out(status, i) && compares<T>(load(words + i), compare, value_of<T>(values, i))) return i;
  }
  return SIZE_MAX;
}

/// Stores the indices of all words whose comparison is true, and returns how many they are.
template <typename T, typename Values>
std::size_t test_some(Call call, const T* words, std::size_t count, std::size_t* indices, const int* status,
                      int compare, Values values) {
  check_compare(call, compare);
  std::size_t found = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (!left_out(status, i) && compares<T>(load(words + i), compare, value_of<T>(values, i)))
      indices[found++] = i;
  }
  return found;
}

template <typename T, typename Values>
void wait_until_all(Call call, const T* words, std::size_t count, const int* status, int compare,
                    Values values) {
  check_compare(call, compare);
  std::size_t done = 0;  // a word counts once it was seen, as if the PE had waited for one after the other
  auto met = [&] {
    while (done < count &&
           (left_out(status, done) || compares<T>(load(words + done), compare, value_of<T>(values, done)))) {
      ++done;
    }
    return done == count;
  };
  wait_for(call, met);
}

template <typename T, typename Values>
std::size_t wait_until_any(Call call, const T* words, std::size_t count, const int* status, int compare,
                           Values values) {
  check_compare(call, compare);
  if (none_of(status, count)) return SIZE_MAX;
  std::size_t found = SIZE_MAX;
  auto met = [&] {
    found = test_any<T>(call, words, count, status, compare, values);
    return found != SIZE_MAX;
  };
  wait_for(call, met);
  return found;
}

template <typename T, typename Values>
std::size_t wait_until_some(Call call, const T* words, std::size_t count, std::size_t* indices,
                            const int* status, int compare, Values values) {
  check_compare(call, compare);
  if (none_of(status, count)) return 0;
  std::size_t found = 0;
  auto met = [&] {
    found = test_some<T>(call, words, count, indices, status, compare, values);
    return found != 0;
  };
  wait_for(call, met);
  return found;
}

}  // namespace rma::shmem
