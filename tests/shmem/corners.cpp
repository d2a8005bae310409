// Calls at the edges of what the standard allows: no elements, words that stay true, large alignments, PEs
// outside an active set, and both complex types of C++.

#include <complex.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <vector>

#include "check.hpp"

namespace {

__extension__ using CComplex = double _Complex;

std::uint64_t flag;
std::array<double, 8> static_doubles;

/// Null pointers and addresses that are not symmetric are allowed where nothing is moved.
void check_transfers_of_nothing(int pe) {
  long local = 5;
  for (void* const nowhere : {static_cast<void*>(nullptr), static_cast<void*>(&local)}) {
    auto* const longs = static_cast<long*>(nowhere);
    auto* const doubles = static_cast<double*>(nowhere);
    shmem_putmem(nowhere, nowhere, 0, pe);
    shmem_getmem(nowhere, nowhere, 0, pe);
    shmem_putmem_nbi(nowhere, nowhere, 0, pe);
    shmem_getmem_nbi(nowhere, nowhere, 0, pe);
    shmem_put8(nowhere, nowhere, 0, pe);
    shmem_get128(nowhere, nowhere, 0, pe);
    shmem_put64_nbi(nowhere, nowhere, 0, pe);
    shmem_long_put(longs, longs, 0, pe);
    shmem_double_get(doubles, doubles, 0, pe);
    shmem_long_put_nbi(longs, longs, 0, pe);
    shmem_double_get_nbi(doubles, doubles, 0, pe);
    shmem_long_iput(longs, longs, 1, 1, 0, pe);
    shmem_double_iget(doubles, doubles, 3, 2, 0, pe);
    shmem_iput32(nowhere, nowhere, 1, 1, 0, pe);
    shmem_iget8(nowhere, nowhere, 1, 1, 0, pe);
    shmem_long_ibput(longs, longs, 1, 1, 4, 0, pe);
    shmem_long_ibget(longs, longs, 1, 1, 0, 4, pe);
    shmem_ctx_t context = SHMEM_CTX_INVALID;
    CHECK(shmem_ctx_create(0, &context) == 0);
    shmem_ctx_putmem(context, nowhere, nowhere, 0, pe);
    shmem_ctx_long_get_nbi(context, longs, longs, 0, pe);
    shmem_ctx_double_iput(context, doubles, doubles, 1, 1, 0, pe);
    shmem_ctx_destroy(context);
    shmem_quiet();
    shmem_fence();
  }
  CHECK(local == 5);
}

/// The signal comes although no data do.
void check_signals_of_nothing(int me, int size) {
  flag = 0;
  shmem_barrier_all();
  const int next = (me + 1) % size;
  shmem_putmem_signal(nullptr, nullptr, 0, &flag, 1, SHMEM_SIGNAL_SET, next);
  shmem_signal_wait_until(&flag, SHMEM_CMP_EQ, 1);
  shmem_barrier_all();
  shmem_long_put_signal_nbi(nullptr, nullptr, 0, &flag, 2, SHMEM_SIGNAL_ADD, next);
  shmem_signal_wait_until(&flag, SHMEM_CMP_EQ, 3);
  shmem_barrier_all();
  shmem_putmem_signal_nbi(nullptr, nullptr, 0, &flag, 9, SHMEM_SIGNAL_SET, next);
  shmem_signal_wait_until(&flag, SHMEM_CMP_EQ, 9);
  shmem_barrier_all();
}

void check_collectives_of_nothing(int size) {
  std::array<long, SHMEM_REDUCE_SYNC_SIZE> sync = {SHMEM_SYNC_VALUE};
  long* const none = nullptr;
  CHECK(shmem_broadcastmem(SHMEM_TEAM_WORLD, none, none, 0, size - 1) == 0);
  CHECK(shmem_collectmem(SHMEM_TEAM_WORLD, none, none, 0) == 0);
  CHECK(shmem_fcollectmem(SHMEM_TEAM_WORLD, none, none, 0) == 0);
  CHECK(shmem_alltoallmem(SHMEM_TEAM_WORLD, none, none, 0) == 0);
  CHECK(shmem_alltoallsmem(SHMEM_TEAM_WORLD, none, none, 1, 1, 0) == 0);
  CHECK(shmem_long_max_reduce(SHMEM_TEAM_WORLD, none, none, 0) == 0);
  CHECK(shmem_long_sum_exscan(SHMEM_TEAM_WORLD, none, none, 0) == 0);
  CHECK(shmem_long_sum_inscan(SHMEM_TEAM_WORLD, none, none, 0) == 0);
  shmem_broadcast64(none, none, 0, 0, 0, 0, size, sync.data());
  shmem_collect32(none, none, 0, 0, 0, size, sync.data());
  shmem_fcollect64(none, none, 0, 0, 0, size, sync.data());
  shmem_alltoall64(none, none, 0, 0, 0, size, sync.data());
  shmem_alltoalls32(none, none, 1, 1, 0, 0, 0, size, sync.data());
  shmem_long_min_to_all(none, none, 0, 0, 0, size, none, sync.data());
}

/// A block of one PE, and nothing of the others.
void check_collect_of_one(int me, int size) {
  auto* const dest = static_cast<long*>(shmem_calloc(2, sizeof(long)));
  const long mine = me + 10;
  const bool gives = me == size - 1;
  shmem_long_collect(SHMEM_TEAM_WORLD, dest, gives ? &mine : nullptr, gives ? 1 : 0);
  CHECK(dest[0] == size + 9 && dest[1] == 0);
  shmem_free(dest);
}

void check_waits_for_nothing() {
  long* const none = nullptr;
  shmem_long_wait_until_all(none, 0, nullptr, SHMEM_CMP_EQ, 1);
  shmem_long_wait_until_all_vector(none, 0, nullptr, SHMEM_CMP_EQ, none);
  CHECK(shmem_long_wait_until_any(none, 0, nullptr, SHMEM_CMP_EQ, 1) == SIZE_MAX);
  CHECK(shmem_long_wait_until_any_vector(none, 0, nullptr, SHMEM_CMP_EQ, none) == SIZE_MAX);
  CHECK(shmem_long_wait_until_some(none, 0, nullptr, nullptr, SHMEM_CMP_EQ, 1) == 0);
  CHECK(shmem_long_wait_until_some_vector(none, 0, nullptr, nullptr, SHMEM_CMP_EQ, none) == 0);
  CHECK(shmem_long_test_all(none, 0, nullptr, SHMEM_CMP_EQ, 1) == 1);
  CHECK(shmem_long_test_any(none, 0, nullptr, SHMEM_CMP_EQ, 1) == SIZE_MAX);
  CHECK(shmem_long_test_any_vector(none, 0, nullptr, SHMEM_CMP_EQ, none) == SIZE_MAX);
  CHECK(shmem_long_test_some(none, 0, nullptr, nullptr, SHMEM_CMP_EQ, 1) == 0);
}

/// Of the words that stay true, each is returned, and no other. Two series of calls take turns.
void check_every_word_is_found() {
  constexpr std::size_t kWords = 5;
  constexpr int kCalls = 2000;
  const std::array<int, kWords> left_out = {0, 1, 0, 0, 0};
  const std::array<bool, kWords> expected = {true, false, true, false, true};
  std::array<long, kWords> values = {7, 7, 7, 8, 7};
  static std::array<long, kWords> words = {7, 7, 7, 0, 7};
  static std::array<short, 2> shorts = {1, 1};
  std::array<std::array<int, kWords>, 4> seen = {};
  std::array<int, 2> seen_shorts = {};
  for (int i = 0; i < kCalls; ++i) {
    const std::array<std::size_t, 4> found = {
        shmem_long_test_any(words.data(), kWords, left_out.data(), SHMEM_CMP_GE, 7),
        shmem_long_wait_until_any(words.data(), kWords, left_out.data(), SHMEM_CMP_EQ, 7),
        shmem_long_test_any_vector(words.data(), kWords, left_out.data(), SHMEM_CMP_EQ, values.data()),
        shmem_long_wait_until_any_vector(words.data(), kWords, left_out.data(), SHMEM_CMP_EQ, values.data())};
    for (std::size_t kind = 0; kind < found.size(); ++kind) {
      CHECK(found[kind] < kWords);
      if (found[kind] < kWords) ++seen[kind][found[kind]];
    }
    ++seen_shorts[std::min<std::size_t>(shmem_short_test_any(shorts.data(), 2, nullptr, SHMEM_CMP_NE, 0), 1)];
  }
  for (const auto& of_kind : seen) {
    for (std::size_t i = 0; i < kWords; ++i) CHECK((of_kind[i] > 0) == expected[i]);
  }
  CHECK(seen_shorts[0] > 0 && seen_shorts[1] > 0);
}

void check_large_alignments(int me, int size) {
  for (std::size_t alignment = 1 << 20; alignment <= std::size_t{64} << 20; alignment *= 2) {
    auto* const block = static_cast<long*>(shmem_align(alignment, 3 * sizeof(long)));
    CHECK(block != nullptr);
    if (block == nullptr) continue;
    CHECK(reinterpret_cast<std::uintptr_t>(block) % alignment == 0);
    shmem_long_p(block, me, (me + 1) % size);
    shmem_barrier_all();
    CHECK(*block == (me + size - 1) % size);
    const void* const there = shmem_ptr(block, (me + 1) % size);
    CHECK(there != nullptr);
    shmem_free(block);
  }
  CHECK(shmem_align(std::size_t{1} << 50, 8) == nullptr);
}

/// All PEs call, and the last is not in the set.
void check_outside_a_set(int me, int size) {
  if (size < 2) return;
  const int members = size - 1;
  const bool inside = me < members;
  std::array<long, SHMEM_REDUCE_SYNC_SIZE> sync = {SHMEM_SYNC_VALUE};
  auto* const dest = static_cast<long*>(shmem_calloc(2 * static_cast<std::size_t>(size), sizeof(long)));
  auto* const source = static_cast<long*>(shmem_calloc(2 * static_cast<std::size_t>(size), sizeof(long)));
  source[0] = 1;
  shmem_barrier_all();
  for (int round = 0; round < 3; ++round) {
    shmem_barrier(0, 0, members, sync.data());
    shmem_sync(0, 0, members, sync.data());
    shmem_long_sum_to_all(dest, source, 1, 0, 0, members, source + 1, sync.data());
    CHECK(dest[0] == (inside ? members : 0));
    shmem_broadcast64(dest + 1, source, 1, 0, 0, 0, members, sync.data());
    CHECK(dest[1] == (inside && me != 0 ? 1 : 0));
    shmem_fcollect64(dest, source, 1, 0, 0, members, sync.data());
    shmem_collect64(dest, source, 1, 0, 0, members, sync.data());
    shmem_alltoall64(dest, source, 1, 0, 0, members, sync.data());
    shmem_alltoalls64(dest, source, 1, 1, 1, 0, 0, members, sync.data());
    dest[0] = dest[1] = 0;
    shmem_barrier_all();
  }
  shmem_free(source);
  shmem_free(dest);
}

void check_complex(int size) {
  auto* const c_type = reinterpret_cast<CComplex*>(static_doubles.data());
  auto* const cpp_type = reinterpret_cast<std::complex<double>*>(static_doubles.data());
  const auto n = static_cast<double>(size);
  cpp_type[0] = {1, 2};
  shmem_barrier_all();
  CHECK(shmem_complexd_sum_reduce(SHMEM_TEAM_WORLD, c_type + 1, c_type, 1) == 0);
  CHECK(cpp_type[1] == std::complex<double>(n, 2 * n));
  CHECK(shmem_sum_reduce(SHMEM_TEAM_WORLD, c_type + 2, static_cast<const CComplex*>(c_type), 1) == 0);
  CHECK(cpp_type[2] == std::complex<double>(n, 2 * n));
  CHECK(shmem_sum_reduce(SHMEM_TEAM_WORLD, cpp_type + 3, cpp_type, 1) == 0);
  CHECK(cpp_type[3] == std::complex<double>(n, 2 * n));
  std::array<long, SHMEM_REDUCE_SYNC_SIZE> sync = {SHMEM_SYNC_VALUE};
  shmem_complexd_sum_to_all(c_type + 1, c_type, 1, 0, 0, size, c_type + 2, sync.data());
  CHECK(cpp_type[1] == std::complex<double>(n, 2 * n));
  CHECK(shmem_complexd_sum_reduce(SHMEM_TEAM_WORLD, nullptr, nullptr, 0) == 0);
}

}  // namespace

int main() {
  shmem_init();
  const int me = shmem_my_pe();
  const int size = shmem_n_pes();
  check_transfers_of_nothing((me + 1) % size);
  check_signals_of_nothing(me, size);
  check_collectives_of_nothing(size);
  check_collect_of_one(me, size);
  check_waits_for_nothing();
  check_every_word_is_found();
  check_large_alignments(me, size);
  check_outside_a_set(me, size);
  check_complex(size);
  return shmem_tests::result();
}
