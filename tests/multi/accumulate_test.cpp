// All ranks accumulate into overlapping parts of the same memory. The values are whole numbers, so that the
// sum is exact in any order. The owner draws the operations of all ranks again and adds them up.

#include "harness.hpp"
#include "numbers.hpp"
#include "shapes.hpp"

namespace multi {
namespace {

constexpr std::size_t kAccumulateRoom = 20480;  // more than one stripe of locks, if they lock by stripes

/// One rank's draws for one target. The initiator gives them to the library, the owner to a model.
class Draws {
 public:
  Draws(rma_type_t type, int initiator, int target)
      : type_(type),
        random_({51, static_cast<std::uint64_t>(type), static_cast<std::uint64_t>(initiator),
                 static_cast<std::uint64_t>(target)}) {}

  /// Calls work(source, scale, layout), the layout a Strided or a Vector.
  template <typename Work>
  void next(const Work& work) {
    std::vector<std::byte> source(kAccumulateRoom);
    fill_numbers(random_, type_, source);
    const Scale scale(random_, type_);
    const LayoutLimits limits = {.room = kAccumulateRoom, .unit = type_bytes(type_), .most_levels = 3};
    switch (random_.below(3)) {
      case 0:
        return work(source, scale, draw_strided(random_, limits));
      case 1:
        return work(source, scale, draw_vector(random_, limits));
      default: {  // the whole room
        Strided whole;
        whole.counts[0] = kAccumulateRoom;
        return work(source, scale, whole);
      }
    }
  }

 private:
  rma_type_t type_;
  Random random_;
};

struct Issue {
  std::byte* dst;
  rma_type_t type;
  int target;

  void operator()(const std::vector<std::byte>& source, const Scale& scale, const Strided& s) const {
    EXPECT_TRUE(
        ok(rma_acc_strided(dst + s.dst.base, s.dst.strides.data(), source.data() + s.src.base,
                           s.src.strides.data(), s.counts.data(), s.levels, type, scale.get(), target)));
  }
  void operator()(const std::vector<std::byte>& source, const Scale& scale, const Vector& vector) const {
    const IoVector iov(vector, dst, source.data());
    EXPECT_TRUE(ok(rma_acc_vector(iov.data(), iov.size(), type, scale.get(), target)));
  }
};

struct Model {
  std::span<std::byte> sum;
  rma_type_t type;

  void operator()(const std::vector<std::byte>& source, const Scale& scale, const Strided& s) const {
    s.each([&](std::size_t to, std::size_t from) {
      model_acc(type, sum.data() + to, source.data() + from, s.counts[0], scale.get());
    });
  }
  void operator()(const std::vector<std::byte>& source, const Scale& scale, const Vector& vector) const {
    for (const auto& descriptor : vector.descriptors) {
      for (const auto& piece : descriptor.pieces) {
        model_acc(type, sum.data() + piece.dst, source.data() + piece.src, descriptor.bytes, scale.get());
      }
    }
  }
};

void contend(Remote remote, int count) {
  for (const rma_type_t type : kTypes) {
    SCOPED_TRACE(testing::Message() << "type " << type);
    const Memory memory(remote, kAccumulateRoom);
    std::fill(memory.mine().begin(), memory.mine().end(), std::byte{0});
    barrier();
    std::vector<int> targets = {0};  // few, so that many ranks meet; on two hosts, if possible
    if (ranks() > 1) targets.push_back(ranks() - 1);
    std::vector<Draws> draws;
    draws.reserve(targets.size());
    for (const int target : targets) draws.emplace_back(type, me(), target);
    for (int round = 0; round < count; ++round) {
      for (std::size_t i = 0; i < targets.size(); ++i) {
        draws[i].next(Issue{memory.at(targets[i]), type, targets[i]});
      }
    }
    barrier();
    std::vector<std::byte> sum(kAccumulateRoom);
    if (std::find(targets.begin(), targets.end(), me()) != targets.end()) {
      for (int initiator = 0; initiator < ranks(); ++initiator) {
        Draws again(type, initiator, me());
        for (int round = 0; round < count; ++round) again.next(Model{sum, type});
      }
    }
    EXPECT_EQ(first_difference(memory.mine(), sum), kAccumulateRoom);
    barrier();
  }
}

TEST(Accumulate, OverlappingInTheHeap) { contend(Remote::window, rounds(ranks() <= 4 ? 60 : 12)); }

TEST(Accumulate, OverlappingInRegisteredMemory) {
  contend(Remote::registered, rounds(ranks() <= 4 ? 12 : 4));
}

TEST(Accumulate, OneElementByAll) {
  const Memory memory(Remote::window, sizeof(double));
  *reinterpret_cast<double*>(memory.mine().data()) = 0;
  barrier();
  const int each = rounds(2000);
  const double one = 1;
  const double two = 2;
  for (int i = 0; i < each; ++i) {
    EXPECT_TRUE(ok(rma_acc(memory.at(0), &one, 1, RMA_DOUBLE, i % 2 == 0 ? nullptr : &two, 0)));
  }
  barrier();
  EXPECT_EQ(*reinterpret_cast<double*>(memory.mine().data()), me() == 0 ? 1.5 * each * ranks() : 0);
  barrier();
}

TEST(Accumulate, OppositeDirections) {
  // Two vectors of pieces over the same places in opposite order. If a thread held the lock of one place
  // while it waited for that of another, two threads would wait for each other for ever.
  constexpr std::size_t kPieces = 64;
  constexpr std::size_t kDistance = 16384;  // no two pieces under one lock, if locks are by stripe
  const Memory memory(Remote::window, kPieces * kDistance);
  std::fill(memory.mine().begin(), memory.mine().end(), std::byte{0});
  barrier();
  const long one = 1;
  std::vector<void*> dst;
  for (std::size_t i = 0; i < kPieces; ++i) {
    dst.push_back(memory.at(0) + (me() % 2 == 0 ? i : kPieces - 1 - i) * kDistance);
  }
  const std::vector<const void*> src(kPieces, &one);
  const rma_iov_t iov = {.dst = dst.data(), .src = src.data(), .segments = kPieces, .bytes = sizeof one};
  const int count = rounds(200);
  for (int round = 0; round < count; ++round) EXPECT_TRUE(ok(rma_acc_vector(&iov, 1, RMA_LONG, nullptr, 0)));
  barrier();
  const long sum = me() == 0 ? static_cast<long>(count) * ranks() : 0;
  for (std::size_t i = 0; i < kPieces; ++i) {
    EXPECT_EQ(*reinterpret_cast<long*>(memory.mine().data() + i * kDistance), sum);
  }
  barrier();
}

}  // namespace
}  // namespace multi
