// Program order: the operations of one process on one target take effect in the order of its calls, for
// any mix of operations and on any path. Each process draws its own mix on its own slice of a target.
// The slice is so small that nearly all operations overlap. A sequential model gives the result of every
// get and atomic.

#include <algorithm>
#include <array>

#include "harness.hpp"
#include "numbers.hpp"
#include "rma/direct.h"
#include "shapes.hpp"

namespace multi {
namespace {

/// The sizes of a slice in bytes. In a small one, operations overlap nearly always. A large one has room for
/// transfers that are too large for the copies that small transfers use.
constexpr std::size_t kSmall = 512;
constexpr std::size_t kLarge = std::size_t{128} << 10;

/// The local side of the transfers. It is reused all the time, because a blocking call has finished with it
/// when it returns.
struct Locals {
  explicit Locals(std::size_t bytes)
      : plain(Local::plain, bytes), window(Local::window, bytes), registered(Local::registered, bytes) {}
  Buffer plain;
  Buffer window;
  Buffer registered;
};

/// One process's operations on its slice at one target.
class Mix {
 public:
  Mix(Slices& slices, int target, Locals& locals, Random& random)
      : at_(slices.at(target)),
        model_(slices.model(target)),
        room_(model_.size()),
        target_(target),
        locals_(locals),
        random_(random) {}

  void one() {
    switch (random_.below(12)) {
      case 0:
        return put();
      case 1:
        return get();
      case 2:
        return accumulate();
      case 3:
        return put_strided();
      case 4:
        return get_strided();
      case 5:
        return accumulate_strided();
      case 6:
        return put_vector();
      case 7:
        return get_vector();
      case 8:
        return accumulate_vector();
      case 9:
        return atomic<std::uint64_t>(rma_atomic64);
      case 10:
        return atomic<std::uint32_t>(rma_atomic32);
      default:
        return inlined();
    }
  }

 private:
  std::size_t offset(std::size_t bytes, std::size_t unit = 1) {
    return random_.below((room_ - bytes) / unit + 1) * unit;
  }
  /// Returns the size of a contiguous transfer: at most a good part of the slice.
  std::size_t size(std::size_t unit = 1) { return random_.below(room_ * 2 / 5 / unit) * unit; }
  /// Returns random bytes in memory of any kind.
  std::span<std::byte> noise() {
    const std::array<const Buffer*, 3> kinds = {&locals_.plain, &locals_.window, &locals_.registered};
    const std::span<std::byte> bytes = random_.pick(kinds)->bytes();
    random_.fill(bytes);
    return bytes;
  }
  static std::vector<std::byte> copy(std::span<const std::byte> bytes) {
    return {bytes.begin(), bytes.end()};
  }
  void expect(std::span<const std::byte> got, std::span<const std::byte> expected, const char* what) {
    EXPECT_EQ(first_difference(got, expected), expected.size()) << what << " from rank " << target_;
  }

  void put() {
    const auto source = noise();
    const std::size_t bytes = size();
    const std::size_t to = offset(bytes);
    EXPECT_TRUE(ok(rma_put(at_ + to, source.data(), bytes, target_)));
    std::copy_n(source.begin(), bytes, model_.begin() + static_cast<std::ptrdiff_t>(to));
  }

  void get() {
    const auto sink = noise();
    auto expected = copy(sink);
    const std::size_t bytes = size();
    const std::size_t from = offset(bytes);
    EXPECT_TRUE(ok(rma_get(sink.data(), at_ + from, bytes, target_)));
    std::copy_n(model_.begin() + static_cast<std::ptrdiff_t>(from), bytes, expected.begin());
    expect(sink, expected, "get");
  }

  void accumulate() {
    const rma_type_t type = random_.pick(kIntegers);
    const auto source = noise();
    const std::size_t bytes = size(type_bytes(type));
    const std::size_t to = offset(bytes, type_bytes(type));
    const Scale scale(random_, type);
    EXPECT_TRUE(ok(rma_acc(at_ + to, source.data(), bytes / type_bytes(type), type, scale.get(), target_)));
    model_acc(type, model_.data() + to, source.data(), bytes, scale.get());
  }

  void put_strided() {
    const auto source = noise();
    const Strided s = draw_strided(random_, {.room = room_, .most_levels = 4});
    EXPECT_TRUE(ok(rma_put_strided(at_ + s.dst.base, s.dst.strides.data(), source.data() + s.src.base,
                                   s.src.strides.data(), s.counts.data(), s.levels, target_)));
    s.each([&](std::size_t to, std::size_t from) {
      std::copy_n(source.data() + from, s.counts[0], model_.data() + to);
    });
  }

  void get_strided() {
    const auto sink = noise();
    auto expected = copy(sink);
    const Strided s = draw_strided(random_, {.room = room_, .most_levels = 4});
    EXPECT_TRUE(ok(rma_get_strided(sink.data() + s.dst.base, s.dst.strides.data(), at_ + s.src.base,
                                   s.src.strides.data(), s.counts.data(), s.levels, target_)));
    s.each([&](std::size_t to, std::size_t from) {
      std::copy_n(model_.data() + from, s.counts[0], expected.data() + to);
    });
    expect(sink, expected, "strided get");
  }

  void accumulate_strided() {
    const rma_type_t type = random_.pick(kIntegers);
    const auto source = noise();
    const Strided s = draw_strided(random_, {.room = room_, .unit = type_bytes(type), .most_levels = 4});
    const Scale scale(random_, type);
    EXPECT_TRUE(
        ok(rma_acc_strided(at_ + s.dst.base, s.dst.strides.data(), source.data() + s.src.base,
                           s.src.strides.data(), s.counts.data(), s.levels, type, scale.get(), target_)));
    s.each([&](std::size_t to, std::size_t from) {
      model_acc(type, model_.data() + to, source.data() + from, s.counts[0], scale.get());
    });
  }

  void put_vector() {
    const auto source = noise();
    const Vector vector = draw_vector(random_, {.room = room_});
    const IoVector iov(vector, at_, source.data());
    EXPECT_TRUE(ok(rma_put_vector(iov.data(), iov.size(), target_)));
    for (const auto& descriptor : vector.descriptors) {
      for (const auto& piece : descriptor.pieces) {
        std::copy_n(source.data() + piece.src, descriptor.bytes, model_.data() + piece.dst);
      }
    }
  }

  void get_vector() {
    const auto sink = noise();
    auto expected = copy(sink);
    const Vector vector = draw_vector(random_, {.room = room_});
    const IoVector iov(vector, sink.data(), at_);
    EXPECT_TRUE(ok(rma_get_vector(iov.data(), iov.size(), target_)));
    for (const auto& descriptor : vector.descriptors) {
      for (const auto& piece : descriptor.pieces) {
        std::copy_n(model_.data() + piece.src, descriptor.bytes, expected.data() + piece.dst);
      }
    }
    expect(sink, expected, "vector get");
  }

  void accumulate_vector() {
    const rma_type_t type = random_.pick(kIntegers);
    const auto source = noise();
    const Vector vector = draw_vector(random_, {.room = room_, .unit = type_bytes(type)});
    const IoVector iov(vector, at_, source.data());
    const Scale scale(random_, type);
    EXPECT_TRUE(ok(rma_acc_vector(iov.data(), iov.size(), type, scale.get(), target_)));
    for (const auto& descriptor : vector.descriptors) {
      for (const auto& piece : descriptor.pieces) {
        model_acc(type, model_.data() + piece.dst, source.data() + piece.src, descriptor.bytes, scale.get());
      }
    }
  }

  template <typename Word, typename Call>
  void atomic(Call* call) {
    const std::size_t to = offset(sizeof(Word), sizeof(Word));
    Word value = 0;
    std::memcpy(&value, model_.data() + to, sizeof value);
    const auto operand = static_cast<Word>(random_.word());
    Word old = 0;
    auto* const word = reinterpret_cast<Word*>(at_ + to);
    if (random_.chance(50)) {
      EXPECT_TRUE(ok(call(RMA_FETCH_ADD, word, operand, 0, &old, target_)));
      EXPECT_EQ(old, value);
      value = static_cast<Word>(value + operand);
    } else {
      const Word compare = random_.chance(70) ? value : operand;
      EXPECT_TRUE(ok(call(RMA_COMPARE_SWAP, word, operand, compare, &old, target_)));
      EXPECT_EQ(old, value);
      if (value == compare) value = operand;
    }
    std::memcpy(model_.data() + to, &value, sizeof value);
  }

  void inlined() {
    const std::size_t at = offset(8, 8);
    auto* const word = reinterpret_cast<std::uint64_t*>(at_ + at);
    std::uint64_t value = 0;
    std::memcpy(&value, model_.data() + at, sizeof value);
    std::uint64_t seen = 0;
    EXPECT_TRUE(ok(rma_get8(&seen, word, target_)));
    EXPECT_EQ(seen, value);
    const std::uint64_t operand = random_.word();
    EXPECT_TRUE(ok(rma_fetch_add8(word, operand, &seen, target_)));
    EXPECT_EQ(seen, value);
    value += operand;
    if (random_.chance(50)) {
      value = random_.word();
      EXPECT_TRUE(ok(rma_put8(word, value, target_)));
    }
    std::memcpy(model_.data() + at, &value, sizeof value);
  }

  std::byte* at_;
  std::span<std::byte> model_;
  std::size_t room_;
  int target_;
  Locals& locals_;
  Random& random_;
};

/// Runs all ranks at once, each on its own slices.
void run(Remote remote, std::size_t slice, std::uint64_t key, int operations) {
  Slices slices(remote, slice);
  Locals locals(slice);
  Random random({key, static_cast<std::uint64_t>(me())});
  Mix mix(slices, neighbour(1), locals, random);
  for (int i = 0; i < operations && !testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE(testing::Message() << "operation " << i);
    mix.one();
  }
  slices.check();
}

int operations() { return rounds(ranks() <= 4 ? 3000 : 600); }

TEST(Order, OneTargetInTheHeap) { run(Remote::window, kSmall, 31, operations()); }

TEST(Order, OneTargetInRegisteredMemory) { run(Remote::registered, kSmall, 32, operations() / 2); }

TEST(Order, LargeTransfersToTheHeap) { run(Remote::window, kLarge, 34, operations() / 4); }

TEST(Order, LargeTransfersToRegisteredMemory) { run(Remote::registered, kLarge, 35, operations() / 4); }

TEST(Order, ManyTargetsAndKindsOfMemoryInTurn) {
  Slices heap(Remote::window, kSmall);
  Slices registered(Remote::registered, kSmall);
  Locals locals(kSmall);
  Random random({33, static_cast<std::uint64_t>(me())});
  for (int i = 0; i < operations() && !testing::Test::HasFailure(); ++i) {
    const int target = static_cast<int>(random.below(static_cast<std::size_t>(ranks())));
    SCOPED_TRACE(testing::Message() << "operation " << i);
    Mix(random.chance(50) ? heap : registered, target, locals, random).one();
  }
  heap.check();
  registered.check();
}

}  // namespace
}  // namespace multi
