// Atomic operations of every type: one PE at a time against what they must do, and all PEs at once against
// the sum.

#include <array>
#include <cstdint>

#include "check.hpp"
#include "types.hpp"

namespace {

alignas(64) std::array<std::byte, 64> static_word;

struct Place {
  void* word;
  int me;
  int next;
  int size;
  shmem_ctx_t ctx;
};

/// Completes what is under way in both contexts.
void settle(const Place& place) {
  shmem_quiet();
  shmem_ctx_quiet(place.ctx);
}

/// Sets the word on all PEs.
template <typename T>
T* reset(const Place& place, T value) {
  T* const word = static_cast<T*>(place.word);
  shmem_barrier_all();
  *word = value;
  shmem_barrier_all();
  return word;
}

/// Each PE works on the next one's word, which no other touches.
#define CHECK_EXCHANGE(NAME, TYPE)                                                          \
  {                                                                                         \
    TYPE* const word = reset<TYPE>(place, TYPE(3));                                         \
    TYPE old = TYPE(0);                                                                     \
    CHECK(shmem_##NAME##_atomic_fetch(word, place.next) == TYPE(3));                        \
    CHECK(shmem_##NAME##_atomic_swap(word, TYPE(4), place.next) == TYPE(3));                \
    shmem_##NAME##_atomic_set(word, TYPE(5), place.next);                                   \
    CHECK(shmem_ctx_##NAME##_atomic_swap(place.ctx, word, TYPE(6), place.next) == TYPE(5)); \
    shmem_ctx_##NAME##_atomic_set(place.ctx, word, TYPE(7), place.next);                    \
    CHECK(shmem_ctx_##NAME##_atomic_fetch(place.ctx, word, place.next) == TYPE(7));         \
    shmem_##NAME##_atomic_swap_nbi(&old, word, TYPE(8), place.next);                        \
    settle(place);                                                                          \
    CHECK(old == TYPE(7));                                                                  \
    shmem_ctx_##NAME##_atomic_swap_nbi(place.ctx, &old, word, TYPE(9), place.next);         \
    shmem_ctx_quiet(place.ctx);                                                             \
    CHECK(old == TYPE(8));                                                                  \
    shmem_##NAME##_atomic_fetch_nbi(&old, word, place.next);                                \
    settle(place);                                                                          \
    CHECK(old == TYPE(9));                                                                  \
    shmem_ctx_##NAME##_atomic_fetch_nbi(place.ctx, &old, word, place.next);                 \
    settle(place);                                                                          \
    CHECK(old == TYPE(9));                                                                  \
  }

#define CHECK_ARITHMETIC(NAME, TYPE)                                                                 \
  {                                                                                                  \
    TYPE* const word = reset<TYPE>(place, TYPE(10));                                                 \
    TYPE old = TYPE(0);                                                                              \
    CHECK(shmem_##NAME##_atomic_compare_swap(word, TYPE(9), TYPE(1), place.next) == TYPE(10));       \
    CHECK(shmem_##NAME##_atomic_compare_swap(word, TYPE(10), TYPE(11), place.next) == TYPE(10));     \
    CHECK(shmem_ctx_##NAME##_atomic_compare_swap(place.ctx, word, TYPE(11), TYPE(12), place.next) == \
          TYPE(11));                                                                                 \
    CHECK(shmem_##NAME##_atomic_fetch_inc(word, place.next) == TYPE(12));                            \
    CHECK(shmem_ctx_##NAME##_atomic_fetch_inc(place.ctx, word, place.next) == TYPE(13));             \
    shmem_##NAME##_atomic_inc(word, place.next);                                                     \
    shmem_ctx_##NAME##_atomic_inc(place.ctx, word, place.next);                                      \
    CHECK(shmem_##NAME##_atomic_fetch_add(word, TYPE(4), place.next) == TYPE(16));                   \
    CHECK(shmem_ctx_##NAME##_atomic_fetch_add(place.ctx, word, TYPE(-1), place.next) == TYPE(20));   \
    shmem_##NAME##_atomic_add(word, TYPE(1), place.next);                                            \
    shmem_ctx_##NAME##_atomic_add(place.ctx, word, TYPE(1), place.next);                             \
    shmem_##NAME##_atomic_compare_swap_nbi(&old, word, TYPE(21), TYPE(22), place.next);              \
    settle(place);                                                                                   \
    CHECK(old == TYPE(21));                                                                          \
    shmem_ctx_##NAME##_atomic_compare_swap_nbi(place.ctx, &old, word, TYPE(0), TYPE(1), place.next); \
    settle(place);                                                                                   \
    shmem_##NAME##_atomic_fetch_inc_nbi(&old, word, place.next);                                     \
    settle(place);                                                                                   \
    shmem_ctx_##NAME##_atomic_fetch_inc_nbi(place.ctx, &old, word, place.next);                      \
    settle(place);                                                                                   \
    shmem_##NAME##_atomic_fetch_add_nbi(&old, word, TYPE(5), place.next);                            \
    settle(place);                                                                                   \
    CHECK(old == TYPE(24));                                                                          \
    shmem_ctx_##NAME##_atomic_fetch_add_nbi(place.ctx, &old, word, TYPE(5), place.next);             \
    settle(place);                                                                                   \
    CHECK(old == TYPE(29));                                                                          \
    reset<TYPE>(place, TYPE(0));                                                                     \
    for (int i = 0; i < kRounds; ++i) {                                                              \
      shmem_##NAME##_atomic_add(word, TYPE(place.me), 0);                                            \
      shmem_##NAME##_atomic_inc(word, 0);                                                            \
    }                                                                                                \
    shmem_barrier_all();                                                                             \
    CHECK(shmem_##NAME##_atomic_fetch(word, 0) ==                                                    \
          TYPE(kRounds * (place.size + place.size * (place.size - 1) / 2)));                         \
  }

#define CHECK_BITWISE(NAME, TYPE)                                                                  \
  {                                                                                                \
    TYPE* const word = reset<TYPE>(place, TYPE(12));                                               \
    TYPE old = TYPE(0);                                                                            \
    CHECK(shmem_##NAME##_atomic_fetch_and(word, TYPE(10), place.next) == TYPE(12));                \
    CHECK(shmem_##NAME##_atomic_fetch_or(word, TYPE(3), place.next) == TYPE(8));                   \
    CHECK(shmem_##NAME##_atomic_fetch_xor(word, TYPE(1), place.next) == TYPE(11));                 \
    CHECK(shmem_ctx_##NAME##_atomic_fetch_and(place.ctx, word, TYPE(3), place.next) == TYPE(10));  \
    CHECK(shmem_ctx_##NAME##_atomic_fetch_or(place.ctx, word, TYPE(12), place.next) == TYPE(2));   \
    CHECK(shmem_ctx_##NAME##_atomic_fetch_xor(place.ctx, word, TYPE(15), place.next) == TYPE(14)); \
    shmem_##NAME##_atomic_or(word, TYPE(6), place.next);                                           \
    shmem_##NAME##_atomic_and(word, TYPE(5), place.next);                                          \
    shmem_##NAME##_atomic_xor(word, TYPE(2), place.next);                                          \
    shmem_ctx_##NAME##_atomic_or(place.ctx, word, TYPE(8), place.next);                            \
    shmem_ctx_##NAME##_atomic_and(place.ctx, word, TYPE(12), place.next);                          \
    shmem_ctx_##NAME##_atomic_xor(place.ctx, word, TYPE(4), place.next);                           \
    shmem_##NAME##_atomic_fetch_and_nbi(&old, word, TYPE(9), place.next);                          \
    settle(place);                                                                                 \
    CHECK(old == TYPE(8));                                                                         \
    shmem_ctx_##NAME##_atomic_fetch_and_nbi(place.ctx, &old, word, TYPE(9), place.next);           \
    settle(place);                                                                                 \
    shmem_##NAME##_atomic_fetch_or_nbi(&old, word, TYPE(1), place.next);                           \
    settle(place);                                                                                 \
    shmem_ctx_##NAME##_atomic_fetch_or_nbi(place.ctx, &old, word, TYPE(2), place.next);            \
    settle(place);                                                                                 \
    CHECK(old == TYPE(9));                                                                         \
    shmem_##NAME##_atomic_fetch_xor_nbi(&old, word, TYPE(1), place.next);                          \
    settle(place);                                                                                 \
    shmem_ctx_##NAME##_atomic_fetch_xor_nbi(place.ctx, &old, word, TYPE(2), place.next);           \
    settle(place);                                                                                 \
    CHECK(old == TYPE(10));                                                                        \
    reset<TYPE>(place, TYPE(0));                                                                   \
    shmem_##NAME##_atomic_or(word, TYPE(TYPE(1) << place.me), 0);                                  \
    shmem_barrier_all();                                                                           \
    CHECK(shmem_##NAME##_atomic_fetch(word, 0) == TYPE((TYPE(1) << place.size) - TYPE(1)));        \
  }

#define CHECK_OLD_NAMES(NAME, TYPE)                                             \
  {                                                                             \
    TYPE* const word = reset<TYPE>(place, TYPE(3));                             \
    CHECK(shmem_##NAME##_fetch(word, place.next) == TYPE(3));                   \
    CHECK(shmem_##NAME##_swap(word, TYPE(4), place.next) == TYPE(3));           \
    shmem_##NAME##_set(word, TYPE(5), place.next);                              \
    CHECK(shmem_##NAME##_cswap(word, TYPE(5), TYPE(6), place.next) == TYPE(5)); \
    CHECK(shmem_##NAME##_fadd(word, TYPE(2), place.next) == TYPE(6));           \
    CHECK(shmem_##NAME##_finc(word, place.next) == TYPE(8));                    \
    shmem_##NAME##_add(word, TYPE(2), place.next);                              \
    shmem_##NAME##_inc(word, place.next);                                       \
    CHECK(shmem_##NAME##_fetch(word, place.next) == TYPE(12));                  \
  }

void check_all(const Place& place) {
  constexpr int kRounds = 50;
  SHMEM_TEST_INTEGERS(CHECK_EXCHANGE)
  CHECK_EXCHANGE(float, float)
  CHECK_EXCHANGE(double, double)
  SHMEM_TEST_INTEGERS(CHECK_ARITHMETIC)
  SHMEM_TEST_BITWISE_ATOMICS(CHECK_BITWISE)
  SHMEM_TEST_OLD_INTEGERS(CHECK_OLD_NAMES)
}

/// The forms that choose by type.
void check_overloads(const Place& place) {
  auto* const word = reset<long>(place, 1);
  shmem_atomic_add(word, 2, place.next);
  shmem_atomic_inc(place.ctx, word, place.next);
  CHECK(shmem_atomic_fetch(word, place.next) == 4);
  CHECK(shmem_atomic_compare_swap(place.ctx, word, 4, 5, place.next) == 4);
  CHECK(shmem_atomic_swap(word, 6, place.next) == 5);
}

}  // namespace

int main() {
  shmem_init();
  const int size = shmem_n_pes();
  const int me = shmem_my_pe();
  void* const heap = shmem_malloc(static_word.size());
  shmem_ctx_t ctx = SHMEM_CTX_INVALID;
  CHECK(shmem_ctx_create(0, &ctx) == 0);
  for (void* const word : {heap, static_cast<void*>(static_word.data())}) {
    const Place place = {.word = word, .me = me, .next = (me + 1) % size, .size = size, .ctx = ctx};
    check_all(place);
    check_overloads(place);
    shmem_barrier_all();
  }
  shmem_ctx_destroy(ctx);
  shmem_free(heap);
  return shmem_tests::result();
}
