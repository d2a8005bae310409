// Waiting and testing, for every type and comparison, for one word and for several; and signals.

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "check.hpp"
#include "types.hpp"

namespace {

constexpr std::size_t kWords = 8;
constexpr int kDelay = 5'000;
std::uint64_t unused_signal;

struct Place {
  void* words;
  int me;
  int next;
  int previous;
};

template <typename T>
T* zeroed(const Place& place) {
  T* const words = static_cast<T*>(place.words);
  shmem_barrier_all();
  std::fill_n(words, kWords, T(0));
  shmem_barrier_all();
  return words;
}

/// The next PE's words become 1, 2, 3 ... while it waits for that.
#define CHECK_WAITS(NAME, TYPE)                                                                              \
  {                                                                                                          \
    TYPE* const words = zeroed<TYPE>(place);                                                                 \
    std::array<std::size_t, kWords> found = {};                                                              \
    const std::array<int, kWords> only_even = {0, 1, 0, 1, 0, 1, 0, 1};                                      \
    std::array<TYPE, kWords> values = {};                                                                    \
    for (std::size_t i = 0; i < kWords; ++i) values[i] = TYPE(i + 1);                                        \
    CHECK(shmem_##NAME##_test(words, SHMEM_CMP_NE, TYPE(0)) == 0);                                           \
    CHECK(shmem_##NAME##_test_any(words, kWords, nullptr, SHMEM_CMP_GT, TYPE(0)) == SIZE_MAX);               \
    CHECK(shmem_##NAME##_test_some(words, kWords, found.data(), nullptr, SHMEM_CMP_GT, TYPE(0)) == 0);       \
    CHECK(shmem_##NAME##_test_all(words, kWords, nullptr, SHMEM_CMP_EQ, TYPE(0)) == 1);                      \
    shmem_barrier_all();                                                                                     \
    for (std::size_t i = 0; i < kWords; ++i) shmem_##NAME##_p(&words[i], values[i], place.next);             \
    shmem_##NAME##_wait_until(words, SHMEM_CMP_EQ, TYPE(1));                                                 \
    shmem_##NAME##_wait_until(words + 1, SHMEM_CMP_GE, TYPE(2));                                             \
    const std::size_t any =                                                                                  \
        shmem_##NAME##_wait_until_any(words, kWords, only_even.data(), SHMEM_CMP_GT, TYPE(2));               \
    CHECK(any == 2 || any == 4 || any == 6);                                                                 \
    CHECK(                                                                                                   \
        shmem_##NAME##_wait_until_any_vector(words, kWords, only_even.data(), SHMEM_CMP_EQ, values.data()) % \
            2 ==                                                                                             \
        0);                                                                                                  \
    const std::size_t some =                                                                                 \
        shmem_##NAME##_wait_until_some(words, kWords, found.data(), nullptr, SHMEM_CMP_NE, TYPE(0));         \
    CHECK(some >= 1 && some <= kWords && words[found[0]] != TYPE(0));                                        \
    CHECK(shmem_##NAME##_wait_until_some_vector(words, kWords, found.data(), nullptr, SHMEM_CMP_EQ,          \
                                                values.data()) >= 1);                                        \
    shmem_##NAME##_wait_until_all(words, kWords, nullptr, SHMEM_CMP_NE, TYPE(0));                            \
    shmem_##NAME##_wait_until_all_vector(words, kWords, nullptr, SHMEM_CMP_EQ, values.data());               \
    CHECK(shmem_##NAME##_test(words, SHMEM_CMP_LE, TYPE(1)) == 1);                                           \
    CHECK(shmem_##NAME##_test(words, SHMEM_CMP_LT, TYPE(1)) == 0);                                           \
    CHECK(shmem_##NAME##_test_all(words, kWords, only_even.data(), SHMEM_CMP_LT, TYPE(8)) == 1);             \
    CHECK(shmem_##NAME##_test_all(words, kWords, nullptr, SHMEM_CMP_LT, TYPE(8)) == 0);                      \
    CHECK(shmem_##NAME##_test_any(words, kWords, only_even.data(), SHMEM_CMP_GE, TYPE(6)) == 6);             \
    CHECK(shmem_##NAME##_test_some(words, kWords, found.data(), only_even.data(), SHMEM_CMP_GE, TYPE(3)) ==  \
          3);                                                                                                \
    CHECK(found[0] == 2 && found[1] == 4 && found[2] == 6);                                                  \
    CHECK(shmem_##NAME##_test_all_vector(words, kWords, nullptr, SHMEM_CMP_EQ, values.data()) == 1);         \
    CHECK(shmem_##NAME##_test_any_vector(words, kWords, nullptr, SHMEM_CMP_NE, values.data()) == SIZE_MAX);  \
    CHECK(shmem_##NAME##_test_some_vector(words, kWords, found.data(), nullptr, SHMEM_CMP_GE,                \
                                          values.data()) == kWords);                                         \
  }

/// Puts 1, 2, 3 ... to the next PE's words, the last one a good while after the others.
template <typename T, typename Put>
void put_slowly(const Place& place, T* words, const Put& put) {
  for (std::size_t i = 0; i + 1 < kWords; ++i) put(&words[i], T(i + 1), place.next);
  // All PEs do this at the same time. Those with odd numbers take twice as long, so the PEs behind them do
  // wait.
  for (int i = 0; i < kDelay * (1 + place.me % 2); ++i) shmem_signal_fetch(&unused_signal);
  put(&words[kWords - 1], T(kWords), place.next);
}

#define CHECK_WAIT_FOR_ALL(NAME, TYPE)                                                         \
  {                                                                                            \
    std::array<TYPE, kWords> values = {};                                                      \
    for (std::size_t i = 0; i < kWords; ++i) values[i] = TYPE(i + 1);                          \
    TYPE* const words = zeroed<TYPE>(place);                                                   \
    put_slowly(place, words, shmem_##NAME##_p);                                                \
    shmem_##NAME##_wait_until_all(words, kWords, nullptr, SHMEM_CMP_NE, TYPE(0));              \
    CHECK(words[kWords - 1] == TYPE(kWords));                                                  \
    zeroed<TYPE>(place);                                                                       \
    put_slowly(place, words, shmem_##NAME##_p);                                                \
    shmem_##NAME##_wait_until_all_vector(words, kWords, nullptr, SHMEM_CMP_EQ, values.data()); \
    CHECK(words[kWords - 1] == TYPE(kWords));                                                  \
  }

/// Values below zero are smaller than zero for signed types only.
#define CHECK_SIGN(NAME, TYPE)                                                               \
  {                                                                                          \
    TYPE* const words = zeroed<TYPE>(place);                                                 \
    words[0] = TYPE(-1);                                                                     \
    CHECK((shmem_##NAME##_test(words, SHMEM_CMP_LT, TYPE(0)) == 1) == (TYPE(-1) < TYPE(0))); \
  }

#define CHECK_OLD_WAIT(NAME, TYPE)                \
  {                                               \
    TYPE* const words = zeroed<TYPE>(place);      \
    shmem_##NAME##_p(words, TYPE(3), place.next); \
    shmem_##NAME##_wait(words, TYPE(0));          \
    CHECK(*words == TYPE(3));                     \
  }

void check_empty_sets(const Place& place) {
  long* const words = zeroed<long>(place);
  const std::array<int, kWords> none = {1, 1, 1, 1, 1, 1, 1, 1};
  std::array<std::size_t, kWords> found = {};
  shmem_long_wait_until_all(words, kWords, none.data(), SHMEM_CMP_EQ, 1);
  CHECK(shmem_long_wait_until_any(words, kWords, none.data(), SHMEM_CMP_EQ, 1) == SIZE_MAX);
  CHECK(shmem_long_wait_until_some(words, kWords, found.data(), none.data(), SHMEM_CMP_EQ, 1) == 0);
  CHECK(shmem_long_test_all(words, kWords, none.data(), SHMEM_CMP_EQ, 1) == 1);
  CHECK(shmem_long_wait_until_any(words, 0, nullptr, SHMEM_CMP_EQ, 1) == SIZE_MAX);
}

constexpr std::size_t kData = 24;
std::array<long double, kData> static_data;

/// Each PE puts to the next with a signal. Data are there when the signal is.
#define CHECK_SIGNAL(NAME, TYPE)                                                                             \
  for (void* const area : {data, static_cast<void*>(static_data.data())}) {                                  \
    auto* const signal = zeroed<std::uint64_t>(place);                                                       \
    TYPE* const to = static_cast<TYPE*>(area);                                                               \
    std::vector<TYPE> from(kData, TYPE(place.me + 1));                                                       \
    shmem_barrier_all();                                                                                     \
    shmem_##NAME##_put_signal(to, from.data(), kData, signal, 7, SHMEM_SIGNAL_SET, place.next);              \
    CHECK(shmem_signal_wait_until(signal, SHMEM_CMP_EQ, 7) == 7);                                            \
    CHECK(to[0] == TYPE(place.previous + 1) && to[kData - 1] == TYPE(place.previous + 1));                   \
    shmem_barrier_all();                                                                                     \
    shmem_ctx_##NAME##_put_signal(ctx, to, from.data(), 1, signal, 2, SHMEM_SIGNAL_ADD, place.next);         \
    shmem_##NAME##_put_signal_nbi(to, from.data(), 1, signal, 3, SHMEM_SIGNAL_ADD, place.next);              \
    shmem_ctx_##NAME##_put_signal_nbi(ctx, to + 1, from.data(), 1, signal, 4, SHMEM_SIGNAL_ADD, place.next); \
    shmem_signal_wait_until(signal, SHMEM_CMP_GE, 16);                                                       \
    CHECK(shmem_signal_fetch(signal) == 16);                                                                 \
  }

#define CHECK_SIZED_SIGNAL(BITS)                                                                            \
  {                                                                                                         \
    auto* const signal = zeroed<std::uint64_t>(place);                                                      \
    std::array<unsigned char, kData* 16> from = {};                                                         \
    std::fill(from.begin(), from.end(), static_cast<unsigned char>(place.me + 1));                          \
    auto* const to = static_cast<unsigned char*>(data);                                                     \
    shmem_put##BITS##_signal(to, from.data(), kData, signal, 1, SHMEM_SIGNAL_ADD, place.next);              \
    shmem_ctx_put##BITS##_signal(ctx, to, from.data(), kData, signal, 1, SHMEM_SIGNAL_ADD, place.next);     \
    shmem_put##BITS##_signal_nbi(to, from.data(), kData, signal, 1, SHMEM_SIGNAL_ADD, place.next);          \
    shmem_ctx_put##BITS##_signal_nbi(ctx, to, from.data(), kData, signal, 1, SHMEM_SIGNAL_ADD, place.next); \
    shmem_signal_wait_until(signal, SHMEM_CMP_EQ, 4);                                                       \
    CHECK(to[kData * BITS / 8 - 1] == place.previous + 1);                                                  \
    shmem_barrier_all();                                                                                    \
  }

void check_signals(const Place& place) {
  void* const data = shmem_malloc(kData * sizeof(long double));
  shmem_ctx_t ctx = SHMEM_CTX_INVALID;
  CHECK(shmem_ctx_create(0, &ctx) == 0);
  SHMEM_TEST_RMA_TYPES(CHECK_SIGNAL)
  CHECK_SIZED_SIGNAL(8)
  CHECK_SIZED_SIGNAL(16)
  CHECK_SIZED_SIGNAL(32)
  CHECK_SIZED_SIGNAL(64)
  CHECK_SIZED_SIGNAL(128)
  auto* const signal = zeroed<std::uint64_t>(place);
  shmem_signal_set(signal, 5, place.next);
  shmem_signal_wait_until(signal, SHMEM_CMP_EQ, 5);
  shmem_barrier_all();
  shmem_ctx_signal_add(ctx, signal, 2, place.next);
  shmem_signal_add(signal, 2, place.next);
  shmem_signal_wait_until(signal, SHMEM_CMP_EQ, 9);
  shmem_barrier_all();
  shmem_signal_add(ctx, signal, 2, place.next);
  shmem_signal_wait_until(signal, SHMEM_CMP_EQ, 11);
  shmem_barrier_all();
  shmem_ctx_signal_set(ctx, signal, 3, place.next);
  shmem_signal_set(ctx, signal, 1, place.next);
  shmem_ctx_quiet(ctx);  // the next signal is in another context, and contexts are not ordered
  shmem_signal_wait_until(signal, SHMEM_CMP_LT, 9);
  shmem_putmem_signal(data, &place, 3, signal, 3, SHMEM_SIGNAL_SET, place.next);
  shmem_signal_wait_until(signal, SHMEM_CMP_EQ, 3);
  shmem_ctx_destroy(ctx);
  shmem_free(data);
}

alignas(16) std::array<long, kWords> static_words;

/// A token goes round many times. With more PEs than processors, those that wait have to leave the processors
/// to those that work.
void check_ring(const Place& place, int size) {
  long* const words = zeroed<long>(place);
  constexpr long kRounds = 30;
  for (long round = 1; round <= kRounds; ++round) {
    if (place.me != 0) shmem_long_wait_until(words, SHMEM_CMP_EQ, round);
    shmem_long_p(words, round, place.next);
    if (place.me == 0) shmem_long_wait_until(words, SHMEM_CMP_EQ, round);
  }
  CHECK(shmem_long_atomic_fetch(words, (place.me + 1) % size) == kRounds);
}

void check_all(const Place& place) {
  SHMEM_TEST_WAIT_TYPES(CHECK_WAITS)
  SHMEM_TEST_WAIT_TYPES(CHECK_WAIT_FOR_ALL)
  SHMEM_TEST_WAIT_TYPES(CHECK_SIGN)
  SHMEM_TEST_OLD_INTEGERS(CHECK_OLD_WAIT)
  CHECK_OLD_WAIT(short, short)
  check_empty_sets(place);
}

}  // namespace

int main() {
  shmem_init();
  const int size = shmem_n_pes();
  const int me = shmem_my_pe();
  void* const heap = shmem_malloc(kWords * sizeof(long));
  for (void* const words : {heap, static_cast<void*>(static_words.data())}) {
    const Place place = {
        .words = words, .me = me, .next = (me + 1) % size, .previous = (me + size - 1) % size};
    check_all(place);
    check_signals(place);
    check_ring(place, size);
    shmem_barrier_all();
  }
  shmem_free(heap);
  return shmem_tests::result();
}
