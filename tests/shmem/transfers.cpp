// Puts and gets of every type and size, blocking and not, contiguous, strided and in blocks, with and without
// a context: from each PE to the next, to the heap and to static data, against what a copy gives.

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "check.hpp"
#include "types.hpp"

namespace {

constexpr std::size_t kElements = 96;

alignas(16) std::array<std::byte, kElements * 16> static_area;
std::mt19937_64 draw;

/// The functions of one type. `T` is void for those of a size, which take any pointers.
template <typename T>
struct Functions {
  void (*put)(T*, const T*, std::size_t, int);
  void (*get)(T*, const T*, std::size_t, int);
  void (*put_nbi)(T*, const T*, std::size_t, int);
  void (*get_nbi)(T*, const T*, std::size_t, int);
  void (*put_ctx)(shmem_ctx_t, T*, const T*, std::size_t, int);
  void (*get_ctx)(shmem_ctx_t, T*, const T*, std::size_t, int);
  void (*put_nbi_ctx)(shmem_ctx_t, T*, const T*, std::size_t, int);
  void (*get_nbi_ctx)(shmem_ctx_t, T*, const T*, std::size_t, int);
};
template <typename T>
struct StridedFunctions {
  void (*put)(T*, const T*, std::ptrdiff_t, std::ptrdiff_t, std::size_t, int);
  void (*get)(T*, const T*, std::ptrdiff_t, std::ptrdiff_t, std::size_t, int);
  void (*put_ctx)(shmem_ctx_t, T*, const T*, std::ptrdiff_t, std::ptrdiff_t, std::size_t, int);
  void (*get_ctx)(shmem_ctx_t, T*, const T*, std::ptrdiff_t, std::ptrdiff_t, std::size_t, int);
};
template <typename T>
struct BlockFunctions {
  void (*put)(T*, const T*, std::ptrdiff_t, std::ptrdiff_t, std::size_t, std::size_t, int);
  void (*get)(T*, const T*, std::ptrdiff_t, std::ptrdiff_t, std::size_t, std::size_t, int);
  void (*put_ctx)(shmem_ctx_t, T*, const T*, std::ptrdiff_t, std::ptrdiff_t, std::size_t, std::size_t, int);
  void (*get_ctx)(shmem_ctx_t, T*, const T*, std::ptrdiff_t, std::ptrdiff_t, std::size_t, std::size_t, int);
};
template <typename T>
struct ValueFunctions {
  void (*p)(T*, T, int);
  T (*g)(const T*, int);
  void (*p_ctx)(shmem_ctx_t, T*, T, int);
  T (*g_ctx)(shmem_ctx_t, const T*, int);
};

using Bytes = std::vector<std::byte>;

Bytes random_bytes(std::size_t count, std::mt19937_64& source) {
  Bytes bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(source());
  return bytes;
}

struct Place {
  std::byte* area;
  int me;
  int next;
  int previous;
  shmem_ctx_t ctx;
};

/// Fills the areas with bytes that all PEs know, and returns this PE's and the next one's.
struct Filled {
  Bytes mine;
  Bytes of_next;
};
Filled fill(const Place& place) {
  const auto seed = draw();
  const auto of = [&](int pe) {
    std::mt19937_64 source(seed + static_cast<unsigned>(pe));
    return random_bytes(static_area.size(), source);
  };
  Filled filled = {.mine = of(place.me), .of_next = of(place.next)};
  shmem_barrier_all();
  std::memcpy(place.area, filled.mine.data(), filled.mine.size());
  shmem_barrier_all();
  return filled;
}

/// Elements of a block, of blocks, and from block to block at both ends. All PEs draw the same.
struct Shape {
  std::size_t block;
  std::size_t blocks;
  std::ptrdiff_t dst;
  std::ptrdiff_t sst;
};
Shape draw_shape(std::size_t most_block) {
  Shape shape = {};
  shape.block = 1 + draw() % most_block;
  const auto widest = static_cast<std::ptrdiff_t>(shape.block + 3);
  shape.dst = static_cast<std::ptrdiff_t>(shape.block + draw() % 4);
  shape.sst = static_cast<std::ptrdiff_t>(shape.block + draw() % 4);
  shape.blocks = draw() % (kElements / static_cast<std::size_t>(widest));
  return shape;
}

/// Checks a put: `put(to, from)` puts from `from` to the next PE. What that PE then has must be a copy by
/// `shape`.
template <typename Put>
void check_put(const Place& place, std::size_t element, const Shape& shape, const Put& put) {
  const Filled filled = fill(place);
  const auto seed = draw();
  const auto sent_by = [&](int pe) {
    std::mt19937_64 source(seed + static_cast<unsigned>(pe));
    return random_bytes(kElements * 16, source);
  };
  const Bytes sent = sent_by(place.me);
  put(place.area, sent.data());
  shmem_quiet();
  shmem_ctx_quiet(place.ctx);
  shmem_barrier_all();
  Bytes expected = filled.mine;
  const Bytes received = sent_by(place.previous);
  for (std::size_t i = 0; i < shape.blocks; ++i) {
    std::memcpy(expected.data() + i * static_cast<std::size_t>(shape.dst) * element,
                received.data() + i * static_cast<std::size_t>(shape.sst) * element, shape.block * element);
  }
  CHECK(std::memcmp(place.area, expected.data(), expected.size()) == 0);
}

/// Checks a get: `get(to, from)` gets from the next PE.
template <typename Get>
void check_get(const Place& place, std::size_t element, const Shape& shape, const Get& get) {
  const Filled filled = fill(place);
  Bytes got(kElements * 16);
  Bytes expected = got;
  get(got.data(), place.area);
  shmem_quiet();
  shmem_ctx_quiet(place.ctx);
  for (std::size_t i = 0; i < shape.blocks; ++i) {
    std::memcpy(expected.data() + i * static_cast<std::size_t>(shape.dst) * element,
                filled.of_next.data() + i * static_cast<std::size_t>(shape.sst) * element,
                shape.block * element);
  }
  CHECK(got == expected);
}

template <typename T>
T* as(std::byte* at) {
  return static_cast<T*>(static_cast<void*>(at));
}
template <typename T>
const T* as(const std::byte* at) {
  return static_cast<const T*>(static_cast<const void*>(at));
}

template <typename T>
void check_contiguous(const Place& place, std::size_t element, const Functions<T>& functions) {
  const std::size_t count = draw() % kElements;
  const Shape shape = {.block = count, .blocks = 1, .dst = 0, .sst = 0};
  const int next = place.next;
  const auto ctx = place.ctx;
  using Byte = std::byte;
  check_put(place, element, shape,
            [&](Byte* to, const Byte* from) { functions.put(as<T>(to), as<T>(from), count, next); });
  check_put(place, element, shape,
            [&](Byte* to, const Byte* from) { functions.put_nbi(as<T>(to), as<T>(from), count, next); });
  check_put(place, element, shape,
            [&](Byte* to, const Byte* from) { functions.put_ctx(ctx, as<T>(to), as<T>(from), count, next); });
  check_put(place, element, shape, [&](Byte* to, const Byte* from) {
    functions.put_nbi_ctx(ctx, as<T>(to), as<T>(from), count, next);
  });
  check_get(place, element, shape,
            [&](Byte* to, const Byte* from) { functions.get(as<T>(to), as<T>(from), count, next); });
  check_get(place, element, shape,
            [&](Byte* to, const Byte* from) { functions.get_nbi(as<T>(to), as<T>(from), count, next); });
  check_get(place, element, shape,
            [&](Byte* to, const Byte* from) { functions.get_ctx(ctx, as<T>(to), as<T>(from), count, next); });
  check_get(place, element, shape, [&](Byte* to, const Byte* from) {
    functions.get_nbi_ctx(ctx, as<T>(to), as<T>(from), count, next);
  });
}

template <typename T>
void check_strided(const Place& place, std::size_t element, const StridedFunctions<T>& functions) {
  const Shape s = draw_shape(1);
  const int next = place.next;
  const auto ctx = place.ctx;
  using Byte = std::byte;
  check_put(place, element, s, [&](Byte* to, const Byte* from) {
    functions.put(as<T>(to), as<T>(from), s.dst, s.sst, s.blocks, next);
  });
  check_put(place, element, s, [&](Byte* to, const Byte* from) {
    functions.put_ctx(ctx, as<T>(to), as<T>(from), s.dst, s.sst, s.blocks, next);
  });
  check_get(place, element, s, [&](Byte* to, const Byte* from) {
    functions.get(as<T>(to), as<T>(from), s.dst, s.sst, s.blocks, next);
  });
  check_get(place, element, s, [&](Byte* to, const Byte* from) {
    functions.get_ctx(ctx, as<T>(to), as<T>(from), s.dst, s.sst, s.blocks, next);
  });
}

template <typename T>
void check_blocks(const Place& place, std::size_t element, const BlockFunctions<T>& functions) {
  const Shape s = draw_shape(7);
  const int next = place.next;
  const auto ctx = place.ctx;
  using Byte = std::byte;
  check_put(place, element, s, [&](Byte* to, const Byte* from) {
    functions.put(as<T>(to), as<T>(from), s.dst, s.sst, s.block, s.blocks, next);
  });
  check_put(place, element, s, [&](Byte* to, const Byte* from) {
    functions.put_ctx(ctx, as<T>(to), as<T>(from), s.dst, s.sst, s.block, s.blocks, next);
  });
  check_get(place, element, s, [&](Byte* to, const Byte* from) {
    functions.get(as<T>(to), as<T>(from), s.dst, s.sst, s.block, s.blocks, next);
  });
  check_get(place, element, s, [&](Byte* to, const Byte* from) {
    functions.get_ctx(ctx, as<T>(to), as<T>(from), s.dst, s.sst, s.block, s.blocks, next);
  });
}

template <typename T>
void check_values(const Place& place, const ValueFunctions<T>& functions) {
  fill(place);
  T* const area = as<T>(place.area);
  // Values that any type has. Long double has bytes that no value uses, so values are compared, not bytes.
  const auto value = [&](int pe, int i) { return static_cast<T>(static_cast<int>((pe * 7 + i * 3) % 100)); };
  functions.p(&area[5], value(place.me, 0), place.next);
  functions.p_ctx(place.ctx, &area[6], value(place.me, 1), place.next);
  shmem_barrier_all();
  CHECK(area[5] == value(place.previous, 0));
  CHECK(area[6] == value(place.previous, 1));
  CHECK(functions.g(&area[5], place.next) == value(place.me, 0));
  CHECK(functions.g_ctx(place.ctx, &area[6], place.next) == value(place.me, 1));
}

#define CHECK_TYPE(NAME, TYPE)                                                                           \
  check_contiguous<TYPE>(place, sizeof(TYPE),                                                            \
                         {shmem_##NAME##_put, shmem_##NAME##_get, shmem_##NAME##_put_nbi,                \
                          shmem_##NAME##_get_nbi, shmem_ctx_##NAME##_put, shmem_ctx_##NAME##_get,        \
                          shmem_ctx_##NAME##_put_nbi, shmem_ctx_##NAME##_get_nbi});                      \
  check_strided<TYPE>(                                                                                   \
      place, sizeof(TYPE),                                                                               \
      {shmem_##NAME##_iput, shmem_##NAME##_iget, shmem_ctx_##NAME##_iput, shmem_ctx_##NAME##_iget});     \
  check_blocks<TYPE>(                                                                                    \
      place, sizeof(TYPE),                                                                               \
      {shmem_##NAME##_ibput, shmem_##NAME##_ibget, shmem_ctx_##NAME##_ibput, shmem_ctx_##NAME##_ibget}); \
  check_values<TYPE>(place, {shmem_##NAME##_p, shmem_##NAME##_g, shmem_ctx_##NAME##_p, shmem_ctx_##NAME##_g});

#define CHECK_SIZE(BITS)                                                                                    \
  check_contiguous<void>(                                                                                   \
      place, BITS / 8,                                                                                      \
      {shmem_put##BITS, shmem_get##BITS, shmem_put##BITS##_nbi, shmem_get##BITS##_nbi, shmem_ctx_put##BITS, \
       shmem_ctx_get##BITS, shmem_ctx_put##BITS##_nbi, shmem_ctx_get##BITS##_nbi});                         \
  check_strided<void>(place, BITS / 8,                                                                      \
                      {shmem_iput##BITS, shmem_iget##BITS, shmem_ctx_iput##BITS, shmem_ctx_iget##BITS});    \
  check_blocks<void>(place, BITS / 8,                                                                       \
                     {shmem_ibput##BITS, shmem_ibget##BITS, shmem_ctx_ibput##BITS, shmem_ctx_ibget##BITS});

void check_all(const Place& place) {
  SHMEM_TEST_RMA_TYPES(CHECK_TYPE)
  CHECK_SIZE(8)
  CHECK_SIZE(16)
  CHECK_SIZE(32)
  CHECK_SIZE(64)
  CHECK_SIZE(128)
  check_contiguous<void>(place, 1,
                         {shmem_putmem, shmem_getmem, shmem_putmem_nbi, shmem_getmem_nbi, shmem_ctx_putmem,
                          shmem_ctx_getmem, shmem_ctx_putmem_nbi, shmem_ctx_getmem_nbi});
}

/// Strides may be negative: the elements are put in the opposite order.
void check_reversed(const Place& place) {
  fill(place);
  long* const area = as<long>(place.area);
  std::array<long, 5> sent = {1, 2, 3, 4, 5};
  shmem_long_iput(area + 8, sent.data(), -2, 1, sent.size(), place.next);
  shmem_barrier_all();
  for (int i = 0; i < 5; ++i) CHECK(area[8 - 2 * i] == i + 1);
  std::array<long, 5> got = {};
  shmem_long_iget(got.data() + 4, area + 8, -1, -2, got.size(), place.next);
  for (std::size_t i = 0; i < 5; ++i) CHECK(got[4 - i] == static_cast<long>(i) + 1);
  shmem_barrier_all();
}

/// Sizes that go through the library, and are not multiples of anything.
void check_large(int me, int next, int previous) {
  constexpr std::size_t kMost = 3 << 20;
  auto* const area = static_cast<char*>(shmem_malloc(kMost));
  std::vector<char> sent(kMost, static_cast<char>(me + 1));
  std::vector<char> got(kMost);
  for (const std::size_t bytes :
       {std::size_t{1023}, std::size_t{1024}, std::size_t{1025}, std::size_t{70001}, kMost}) {
    shmem_putmem(area, sent.data(), bytes, next);
    shmem_barrier_all();
    CHECK(area[0] == previous + 1 && area[bytes / 2] == previous + 1 && area[bytes - 1] == previous + 1);
    shmem_getmem(got.data(), area, bytes, next);
    CHECK(got[0] == me + 1 && got[bytes - 1] == me + 1);
    shmem_barrier_all();
    std::memset(area, 0, kMost);
    shmem_barrier_all();
  }
  shmem_free(area);
}

}  // namespace

int main() {
  shmem_init();
  draw = shmem_tests::generator();
  const int me = shmem_my_pe();
  const int size = shmem_n_pes();
  const int next = (me + 1) % size;
  const int previous = (me + size - 1) % size;
  auto* const heap = static_cast<std::byte*>(shmem_malloc(static_area.size()));
  shmem_ctx_t ctx = SHMEM_CTX_INVALID;
  CHECK(shmem_ctx_create(SHMEM_CTX_PRIVATE | SHMEM_CTX_SERIALIZED, &ctx) == 0);
  for (std::byte* const area : {heap, static_area.data()}) {
    const Place place = {.area = area, .me = me, .next = next, .previous = previous, .ctx = ctx};
    check_all(place);
    check_reversed(place);
  }
  check_large(me, next, previous);
  shmem_ctx_destroy(ctx);
  shmem_free(heap);
  return shmem_tests::result();
}
