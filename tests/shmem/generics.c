/* The forms of C11 that choose by type: each once, with and without a context where there are both, on this
 * PE itself. */
#include <shmem.h>
#include <stdio.h>

static unsigned short words[8];
static long word, values[2];
static uint64_t signal_word;
static double numbers[4];
static int failed;

#define EXPECT(condition) (failed |= (condition) ? 0 : (fprintf(stderr, "%d: %s\n", __LINE__, #condition), 1))

static void move_data(int me, shmem_ctx_t ctx) {
  const unsigned short source[4] = {1, 2, 3, 4};
  unsigned short got[4] = {0};
  shmem_p(&words[0], (unsigned short)9, me);
  shmem_p(ctx, &words[1], (unsigned short)8, me);
  EXPECT(shmem_g(&words[0], me) == 9 && shmem_g(ctx, words + 1, me) == 8);
  shmem_put(words, source, 2, me);
  shmem_put(ctx, words + 2, ((const unsigned short[]){7, 6}), 2, me);
  shmem_get(got, words, 4, me);
  EXPECT(got[0] == 1 && got[1] == 2 && got[2] == 7 && got[3] == 6);
  shmem_get(ctx, got, words + 1, 1, me);
  EXPECT(got[0] == 2);
  shmem_put_nbi(words, source + 1, 1, me);
  shmem_put_nbi(ctx, words + 1, source + 2, 1, me);
  shmem_quiet();
  EXPECT(words[0] == 2 && words[1] == 3);
  shmem_get_nbi(got, words, 1, me);
  shmem_get_nbi(ctx, got + 1, words, 1, me);
  shmem_quiet();
  EXPECT(got[0] == 2 && got[1] == 2);
  shmem_iput(words, source, 2, 1, 2, me);
  shmem_iput(ctx, words + 1, source, 2, 1, 2, me);
  EXPECT(words[0] == 1 && words[1] == 1 && words[2] == 2 && words[3] == 2);
  shmem_iget(got, words, 1, 2, 2, me);
  shmem_iget(ctx, got + 2, words, 1, 2, 2, me);
  EXPECT(got[0] == 1 && got[1] == 2 && got[2] == 1 && got[3] == 2);
  shmem_ibput(words, source, 3, 2, 2, 2, me);
  shmem_ibput(ctx, words, source, 3, 2, 2, 2, me);
  EXPECT(words[0] == 1 && words[1] == 2 && words[3] == 3 && words[4] == 4);
  shmem_ibget(got, words, 2, 3, 2, 2, me);
  shmem_ibget(ctx, got, words, 2, 3, 2, 2, me);
  EXPECT(got[2] == 3 && got[3] == 4);
  shmem_put_signal(words, source, 1, &signal_word, 1, SHMEM_SIGNAL_ADD, me);
  shmem_put_signal(ctx, words, source, 1, &signal_word, 1, SHMEM_SIGNAL_ADD, me);
  shmem_put_signal_nbi(words, source, 1, &signal_word, 1, SHMEM_SIGNAL_ADD, me);
  shmem_put_signal_nbi(ctx, words, source, 1, &signal_word, 1, SHMEM_SIGNAL_ADD, me);
  EXPECT(signal_word == 4);
  shmem_signal_set(&signal_word, 1, me);
  shmem_quiet();
  shmem_signal_set(ctx, &signal_word, 5, me);
  shmem_ctx_quiet(ctx);
  shmem_signal_add(&signal_word, 1, me);
  shmem_signal_add(ctx, &signal_word, 2, me);
  shmem_quiet();
  shmem_ctx_quiet(ctx);
  EXPECT(signal_word == 8);
}

static void change_words(int me, shmem_ctx_t ctx) {
  long old = 0;
  unsigned long bits = 0;
  shmem_atomic_set(&word, 1L, me);
  shmem_atomic_set(ctx, &word, 2L, me);
  EXPECT(shmem_atomic_fetch(&word, me) == 2 && shmem_atomic_fetch(ctx, &word, me) == 2);
  EXPECT(shmem_atomic_swap(&word, 3L, me) == 2 && shmem_atomic_swap(ctx, &word, 4L, me) == 3);
  EXPECT(shmem_atomic_compare_swap(&word, 4L, 5L, me) == 4 &&
         shmem_atomic_compare_swap(ctx, &word, 5L, 6L, me) == 5);
  EXPECT(shmem_atomic_fetch_inc(&word, me) == 6 && shmem_atomic_fetch_inc(ctx, &word, me) == 7);
  EXPECT(shmem_atomic_fetch_add(&word, 2L, me) == 8 && shmem_atomic_fetch_add(ctx, &word, 2L, me) == 10);
  EXPECT(shmem_atomic_fetch_and(&word, 12L, me) == 12 && shmem_atomic_fetch_or(ctx, &word, 3L, me) == 12);
  EXPECT(shmem_atomic_fetch_xor(&word, 1L, me) == 15);
  shmem_atomic_inc(&word, me), shmem_atomic_inc(ctx, &word, me);
  shmem_atomic_add(&word, 1L, me), shmem_atomic_add(ctx, &word, 1L, me);
  shmem_atomic_and(&word, 16L, me), shmem_atomic_or(&word, 1L, me), shmem_atomic_xor(ctx, &word, 3L, me);
  EXPECT(word == 18);
  shmem_atomic_fetch_nbi(&old, &word, me), shmem_atomic_swap_nbi(&old, &word, 1L, me);
  shmem_atomic_fetch_inc_nbi(ctx, &old, &word, me), shmem_atomic_fetch_add_nbi(&old, &word, 1L, me);
  shmem_atomic_compare_swap_nbi(&old, &word, 3L, 4L, me), shmem_atomic_fetch_and_nbi(&old, &word, 4L, me);
  shmem_atomic_fetch_or_nbi(&old, &word, 1L, me), shmem_atomic_fetch_xor_nbi(ctx, &old, &word, 1L, me);
  shmem_quiet();
  EXPECT(old == 5 && word == 4);
  EXPECT(shmem_atomic_fetch_or((unsigned long*)&word, 1UL, me) == 4);
  shmem_atomic_fetch_xor_nbi(&bits, (unsigned long*)&word, 1UL, me);
  EXPECT(bits == 5);
  shmem_set(&word, 3L, me), shmem_add(&word, 1L, me), shmem_inc(&word, me);
  EXPECT(shmem_fetch(&word, me) == 5 && shmem_swap(&word, 6L, me) == 5 &&
         shmem_cswap(&word, 6L, 7L, me) == 6);
  EXPECT(shmem_fadd(&word, 1L, me) == 7 && shmem_finc(&word, me) == 8);
}

static void wait_and_test(void) {
  size_t found[2];
  values[0] = 1, values[1] = 2;
  shmem_wait_until(&values[0], SHMEM_CMP_EQ, 1L);
  shmem_wait_until_all(values, 2, NULL, SHMEM_CMP_GT, 0L);
  EXPECT(shmem_wait_until_any(values, 2, NULL, SHMEM_CMP_EQ, 2L) == 1);
  EXPECT(shmem_wait_until_some(values, 2, found, NULL, SHMEM_CMP_GT, 0L) == 2);
  shmem_wait_until_all_vector(values, 2, NULL, SHMEM_CMP_EQ, values);
  EXPECT(shmem_wait_until_any_vector(values, 2, NULL, SHMEM_CMP_EQ, values) < 2);
  EXPECT(shmem_wait_until_some_vector(values, 2, found, NULL, SHMEM_CMP_EQ, values) == 2);
  EXPECT(shmem_test(values, SHMEM_CMP_EQ, 1L) && !shmem_test_all(values, 2, NULL, SHMEM_CMP_EQ, 1L));
  EXPECT(shmem_test_any(values, 2, NULL, SHMEM_CMP_EQ, 2L) == 1);
  EXPECT(shmem_test_some(values, 2, found, NULL, SHMEM_CMP_EQ, 2L) == 1 && found[0] == 1);
  EXPECT(shmem_test_all_vector(values, 2, NULL, SHMEM_CMP_EQ, values));
  EXPECT(shmem_test_any_vector(values, 2, NULL, SHMEM_CMP_NE, values) == SIZE_MAX);
  EXPECT(shmem_test_some_vector(values, 2, found, NULL, SHMEM_CMP_GE, values) == 2);
}

static void meet(int size) {
  double* const all = shmem_calloc((size_t)size * 4, sizeof *all);
  numbers[0] = 2, numbers[1] = 0;
  shmem_barrier_all();
  EXPECT(shmem_sum_reduce(SHMEM_TEAM_WORLD, numbers + 1, numbers, 1) == 0 && numbers[1] == 2 * size);
  EXPECT(shmem_prod_reduce(SHMEM_TEAM_WORLD, numbers + 2, numbers, 1) == 0);
  EXPECT(shmem_min_reduce(SHMEM_TEAM_WORLD, numbers + 2, numbers, 1) == 0 && numbers[2] == 2);
  EXPECT(shmem_max_reduce(SHMEM_TEAM_WORLD, numbers + 2, numbers, 1) == 0 && numbers[2] == 2);
  EXPECT(shmem_and_reduce(SHMEM_TEAM_WORLD, words, words, 1) == 0 &&
         shmem_or_reduce(SHMEM_TEAM_WORLD, words, words, 1) == 0);
  EXPECT(shmem_xor_reduce(SHMEM_TEAM_WORLD, words, words, 1) == 0);
  EXPECT(shmem_sum_inscan(SHMEM_TEAM_WORLD, numbers + 2, numbers, 1) == 0);
  EXPECT(shmem_sum_exscan(SHMEM_TEAM_WORLD, numbers + 3, numbers, 1) == 0 && numbers[2] == numbers[3] + 2);
  EXPECT(shmem_broadcast(SHMEM_TEAM_WORLD, all, numbers, 1, 0) == 0 && all[0] == 2);
  EXPECT(shmem_collect(SHMEM_TEAM_WORLD, all, numbers, 1) == 0 && all[size - 1] == 2);
  EXPECT(shmem_fcollect(SHMEM_TEAM_WORLD, all, numbers, 1) == 0);
  EXPECT(shmem_alltoall(SHMEM_TEAM_WORLD, all + size, all, 1) == 0 && all[size] == 2);
  EXPECT(shmem_alltoalls(SHMEM_TEAM_WORLD, all + size, all, 2, 1, 1) == 0 && all[size + 2 * (size - 1)] == 2);
  EXPECT(shmem_sync(SHMEM_TEAM_WORLD) == 0);
  long work[SHMEM_BARRIER_SYNC_SIZE] = {SHMEM_SYNC_VALUE};
  shmem_sync(0, 0, size, work);
  shmem_free(all);
}

int main(void) {
  shmem_init();
  shmem_ctx_t ctx;
  EXPECT(shmem_ctx_create(SHMEM_CTX_SERIALIZED, &ctx) == 0);
  move_data(shmem_my_pe(), ctx);
  change_words(shmem_my_pe(), ctx);
  wait_and_test();
  meet(shmem_n_pes());
  shmem_ctx_destroy(ctx);
  shmem_finalize();
  return failed;
}
