// Collective operations of every type on the world, on every other PE, and on active sets, against what a
// loop gives.

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "check.hpp"
#include "types.hpp"

namespace {

constexpr int kMostPes = 8;
constexpr std::size_t kCount = 5;

struct Place {
  shmem_team_t team;
  int me;
  int size;
  void* dest;
  void* source;
};

std::array<long, SHMEM_REDUCE_SYNC_SIZE> sync_words;
std::array<long double, 64> work_words;

/// Element i of the source of PE `pe` of the team. All results are exact in every type.
template <typename T>
T element(int pe, std::size_t i) {
  return static_cast<T>(static_cast<float>((static_cast<std::size_t>(pe) * 5 + i * 3 + 1) % 4));
}

template <typename T>
struct Buffers {
  T* dest;
  T* source;
};

/// Fills the sources and clears the destinations of all members.
template <typename T>
Buffers<T> prepare(const Place& place, std::size_t count) {
  const Buffers<T> buffers = {static_cast<T*>(place.dest), static_cast<T*>(place.source)};
  shmem_team_sync(place.team);
  std::fill_n(buffers.dest, count * kMostPes * 3, T(0));
  for (std::size_t i = 0; i < count; ++i) buffers.source[i] = element<T>(place.me, i);
  shmem_team_sync(place.team);
  return buffers;
}

/// Checks a reduction of the members' elements by `combine`.
template <typename T, typename Reduce, typename Combine>
void check_reduction(const Place& place, const Reduce& reduce, const Combine& combine) {
  const auto [dest, source] = prepare<T>(place, kCount);
  reduce(dest, source);
  for (std::size_t i = 0; i < kCount; ++i) {
    T expected = element<T>(0, i);
    for (int pe = 1; pe < place.size; ++pe) expected = static_cast<T>(combine(expected, element<T>(pe, i)));
    CHECK(dest[i] == expected);
  }
}

#define CHECK_REDUCTION(NAME, TYPE, OP, COMBINED)                               \
  check_reduction<TYPE>(                                                        \
      place,                                                                    \
      [&](TYPE* to, const TYPE* from) {                                         \
        CHECK(shmem_##NAME##_##OP##_reduce(place.team, to, from, kCount) == 0); \
      },                                                                        \
      [](TYPE a, TYPE b) { return COMBINED; });

#define CHECK_SUM(NAME, TYPE)                                                                          \
  CHECK_REDUCTION(NAME, TYPE, sum, a + b)                                                              \
  CHECK_REDUCTION(NAME, TYPE, prod, a* b) {                                                            \
    const auto [dest, source] = prepare<TYPE>(place, kCount);                                          \
    CHECK(shmem_##NAME##_sum_inscan(place.team, dest, source, kCount) == 0);                           \
    CHECK(shmem_##NAME##_sum_exscan(place.team, dest + kCount, source, kCount) == 0);                  \
    for (std::size_t i = 0; i < kCount; ++i) {                                                         \
      TYPE before = TYPE(0);                                                                           \
      for (int pe = 0; pe < place.me; ++pe) before = static_cast<TYPE>(before + element<TYPE>(pe, i)); \
      CHECK(dest[kCount + i] == before);                                                               \
      CHECK(dest[i] == static_cast<TYPE>(before + element<TYPE>(place.me, i)));                        \
    }                                                                                                  \
  }

#define CHECK_ORDER(NAME, TYPE)                    \
  CHECK_REDUCTION(NAME, TYPE, min, std::min(a, b)) \
  CHECK_REDUCTION(NAME, TYPE, max, std::max(a, b))

#define CHECK_BITS(NAME, TYPE)              \
  CHECK_REDUCTION(NAME, TYPE, and, (a & b)) \
  CHECK_REDUCTION(NAME, TYPE, or, (a | b))  \
  CHECK_REDUCTION(NAME, TYPE, xor, (a ^ b))

/// Extremes that only a comparison of the type itself gets right.
#define CHECK_EXTREMES(NAME, TYPE)                                                  \
  {                                                                                 \
    const auto [dest, source] = prepare<TYPE>(place, 1);                            \
    source[0] = static_cast<TYPE>(place.me == 0 ? -1 : 1);                          \
    shmem_##NAME##_min_reduce(place.team, dest, source, 1);                         \
    shmem_##NAME##_max_reduce(place.team, dest + 1, source, 1);                     \
    const auto low = static_cast<TYPE>(-1);                                         \
    CHECK(dest[0] == (place.size > 1 ? std::min(low, static_cast<TYPE>(1)) : low)); \
    CHECK(dest[1] == (place.size > 1 ? std::max(low, static_cast<TYPE>(1)) : low)); \
  }

template <typename T, typename Call>
void check_broadcast(const Place& place, const Call& call) {
  for (int root = 0; root < place.size; ++root) {
    const auto [dest, source] = prepare<T>(place, kCount);
    call(dest, source, root);
    for (std::size_t i = 0; i < kCount; ++i) CHECK(dest[i] == element<T>(root, i));
  }
}

template <typename T, typename Call>
void check_fcollect(const Place& place, const Call& call) {
  const auto [dest, source] = prepare<T>(place, kCount);
  call(dest, source);
  for (int pe = 0; pe < place.size; ++pe) {
    for (std::size_t i = 0; i < kCount; ++i)
      CHECK(dest[static_cast<std::size_t>(pe) * kCount + i] == element<T>(pe, i));
  }
}

/// PE n gives n % 4 elements.
template <typename T, typename Call>
void check_collect(const Place& place, const Call& call) {
  const auto [dest, source] = prepare<T>(place, kCount);
  call(dest, source, static_cast<std::size_t>(place.me % 4));
  std::size_t at = 0;
  for (int pe = 0; pe < place.size; ++pe) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(pe % 4); ++i) CHECK(dest[at++] == element<T>(pe, i));
  }
}

/// `call(dest, source)` gives PE n the n-th pair of elements. `apart` elements lie between those of the
/// destination.
template <typename T, typename Call>
void check_alltoall(const Place& place, std::size_t dst, std::size_t sst, const Call& call) {
  constexpr std::size_t kPair = 2;
  const auto size = static_cast<std::size_t>(place.size);
  const auto [dest, source] = prepare<T>(place, kPair * size * sst);
  call(dest, source, kPair);
  for (int pe = 0; pe < place.size; ++pe) {
    for (std::size_t i = 0; i < kPair; ++i) {
      const std::size_t sent = (static_cast<std::size_t>(place.me) * kPair + i) * sst;
      CHECK(dest[(static_cast<std::size_t>(pe) * kPair + i) * dst] == element<T>(pe, sent));
    }
  }
}

#define CHECK_MOVES(NAME, TYPE)                                                          \
  check_broadcast<TYPE>(place, [&](TYPE* to, const TYPE* from, int root) {               \
    CHECK(shmem_##NAME##_broadcast(place.team, to, from, kCount, root) == 0);            \
  });                                                                                    \
  check_fcollect<TYPE>(place, [&](TYPE* to, const TYPE* from) {                          \
    CHECK(shmem_##NAME##_fcollect(place.team, to, from, kCount) == 0);                   \
  });                                                                                    \
  check_collect<TYPE>(place, [&](TYPE* to, const TYPE* from, std::size_t count) {        \
    CHECK(shmem_##NAME##_collect(place.team, to, from, count) == 0);                     \
  });                                                                                    \
  check_alltoall<TYPE>(place, 1, 1, [&](TYPE* to, const TYPE* from, std::size_t count) { \
    CHECK(shmem_##NAME##_alltoall(place.team, to, from, count) == 0);                    \
  });                                                                                    \
  check_alltoall<TYPE>(place, 3, 2, [&](TYPE* to, const TYPE* from, std::size_t count) { \
    CHECK(shmem_##NAME##_alltoalls(place.team, to, from, 3, 2, count) == 0);             \
  });

void check_bytes(const Place& place) {
  using Byte = unsigned char;
  check_broadcast<Byte>(place, [&](Byte* to, const Byte* from, int root) {
    CHECK(shmem_broadcastmem(place.team, to, from, kCount, root) == 0);
  });
  check_fcollect<Byte>(place,
                       [&](Byte* to, const Byte* from) { shmem_fcollectmem(place.team, to, from, kCount); });
  check_collect<Byte>(place, [&](Byte* to, const Byte* from, std::size_t count) {
    shmem_collectmem(place.team, to, from, count);
  });
  check_alltoall<Byte>(place, 1, 1, [&](Byte* to, const Byte* from, std::size_t count) {
    shmem_alltoallmem(place.team, to, from, count);
  });
  check_alltoall<Byte>(place, 2, 3, [&](Byte* to, const Byte* from, std::size_t count) {
    shmem_alltoallsmem(place.team, to, from, 2, 3, count);
  });
}

void check_on_team(const Place& place) {
  SHMEM_TEST_RMA_TYPES(CHECK_SUM)
  SHMEM_TEST_COMPLEX(CHECK_SUM)
  SHMEM_TEST_RMA_TYPES(CHECK_ORDER)
  SHMEM_TEST_RMA_TYPES(CHECK_EXTREMES)
  SHMEM_TEST_BITWISE_REDUCTIONS(CHECK_BITS)
  SHMEM_TEST_RMA_TYPES(CHECK_MOVES)
  check_bytes(place);
}

/// PEs start, start + 2^log_stride ...: the old interface.
struct Set {
  int start;
  int log_stride;
  int size;
};

#define CHECK_SET_REDUCTION(NAME, TYPE, OP, COMBINED)                                               \
  check_reduction<TYPE>(                                                                            \
      place,                                                                                        \
      [&](TYPE* to, const TYPE* from) {                                                             \
        shmem_##NAME##_##OP##_to_all(to, from, static_cast<int>(kCount), set.start, set.log_stride, \
                                     set.size, reinterpret_cast<TYPE*>(work_words.data()),          \
                                     sync_words.data());                                            \
      },                                                                                            \
      [](TYPE a, TYPE b) { return COMBINED; });

#define CHECK_SET_SUM(NAME, TYPE) \
  CHECK_SET_REDUCTION(NAME, TYPE, sum, a + b) CHECK_SET_REDUCTION(NAME, TYPE, prod, a* b)
#define CHECK_SET_ORDER(NAME, TYPE) \
  CHECK_SET_REDUCTION(NAME, TYPE, min, std::min(a, b)) CHECK_SET_REDUCTION(NAME, TYPE, max, std::max(a, b))
#define CHECK_SET_BITS(NAME, TYPE)              \
  CHECK_SET_REDUCTION(NAME, TYPE, and, (a & b)) \
  CHECK_SET_REDUCTION(NAME, TYPE, or, (a | b))  \
  CHECK_SET_REDUCTION(NAME, TYPE, xor, (a ^ b))

#define CHECK_SET_MOVES(BITS, TYPE)                                                                       \
  for (int root = 0; root < set.size; ++root) {                                                           \
    const auto [dest, source] = prepare<TYPE>(place, kCount);                                             \
    shmem_broadcast##BITS(dest, source, kCount, root, set.start, set.log_stride, set.size,                \
                          sync_words.data());                                                             \
    for (std::size_t i = 0; i < kCount; ++i) {                                                            \
      CHECK(dest[i] == (place.me == root ? TYPE(0) : element<TYPE>(root, i)));                            \
    }                                                                                                     \
  }                                                                                                       \
  check_fcollect<TYPE>(place, [&](TYPE* to, const TYPE* from) {                                           \
    shmem_fcollect##BITS(to, from, kCount, set.start, set.log_stride, set.size, sync_words.data());       \
  });                                                                                                     \
  check_collect<TYPE>(place, [&](TYPE* to, const TYPE* from, std::size_t count) {                         \
    shmem_collect##BITS(to, from, count, set.start, set.log_stride, set.size, sync_words.data());         \
  });                                                                                                     \
  check_alltoall<TYPE>(place, 1, 1, [&](TYPE* to, const TYPE* from, std::size_t count) {                  \
    shmem_alltoall##BITS(to, from, count, set.start, set.log_stride, set.size, sync_words.data());        \
  });                                                                                                     \
  check_alltoall<TYPE>(place, 2, 3, [&](TYPE* to, const TYPE* from, std::size_t count) {                  \
    shmem_alltoalls##BITS(to, from, 2, 3, count, set.start, set.log_stride, set.size, sync_words.data()); \
  });

void check_on_set(const Place& place, const Set& set) {
  SHMEM_TEST_OLD_INTEGERS(CHECK_SET_SUM)
  SHMEM_TEST_COMPLEX(CHECK_SET_SUM)
  CHECK_SET_SUM(short, short)
  CHECK_SET_SUM(float, float)
  CHECK_SET_SUM(double, double)
  CHECK_SET_SUM(longdouble, shmem_tests::LongDouble)
  SHMEM_TEST_OLD_INTEGERS(CHECK_SET_ORDER)
  CHECK_SET_ORDER(short, short)
  CHECK_SET_ORDER(float, float)
  CHECK_SET_ORDER(double, double)
  CHECK_SET_ORDER(longdouble, shmem_tests::LongDouble)
  SHMEM_TEST_OLD_INTEGERS(CHECK_SET_BITS)
  CHECK_SET_BITS(short, short)
  CHECK_SET_MOVES(32, std::uint32_t)
  CHECK_SET_MOVES(64, std::uint64_t)
  shmem_barrier(set.start, set.log_stride, set.size, sync_words.data());
  shmem_sync(set.start, set.log_stride, set.size, sync_words.data());
}

/// More elements than fit into one step of any algorithm, in place, and by an overload.
void check_long(const Place& place) {
  constexpr std::size_t kLong = 20000;
  auto* const words = static_cast<unsigned short*>(shmem_malloc(kLong * sizeof(unsigned short)));
  for (std::size_t i = 0; i < kLong; ++i)
    words[i] = static_cast<unsigned short>(i + static_cast<unsigned>(place.me));
  CHECK(shmem_sum_reduce(SHMEM_TEAM_WORLD, words, words, kLong) == 0);
  bool right = true;
  const auto size = static_cast<unsigned>(place.size);
  for (std::size_t i = 0; i < kLong; ++i) {
    right = right && words[i] == static_cast<unsigned short>(i * size + size * (size - 1) / 2);
  }
  CHECK(right);
  shmem_free(words);
}

}  // namespace

int main() {
  shmem_init();
  const int size = shmem_n_pes();
  const int me = shmem_my_pe();
  void* const dest = shmem_malloc(kCount * kMostPes * 8 * sizeof(long double));
  void* const source = shmem_malloc(kCount * kMostPes * 8 * sizeof(long double));
  const Place world = {SHMEM_TEAM_WORLD, me, size, dest, source};
  check_on_team(world);
  check_on_set(world, {0, 0, size});
  check_long(world);
  shmem_barrier_all();
  // The PEs with odd numbers, and the others.
  shmem_team_t team = SHMEM_TEAM_INVALID;
  const int odd = size / 2;
  if (odd > 0) CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 2, odd, nullptr, 0, &team) == 0);
  if (me % 2 == 1) {
    const Place part = {team, shmem_team_my_pe(team), odd, dest, source};
    check_on_team(part);
    check_on_set(part, {1, 1, odd});
    shmem_team_destroy(team);
  }
  shmem_barrier_all();
  shmem_free(dest);
  shmem_free(source);
  return shmem_tests::result();
}
