// Operations of all kinds and shapes to one process take effect in program order, without a fence between
// them. Each process checks this with a model of its own part of the others' memory.

#include "armci_test.hpp"

namespace {

using armci_test::me;
using armci_test::Memory;
using armci_test::Random;
using armci_test::ranks;
using armci_test::Shape;

constexpr std::size_t kPart = std::size_t{64} << 10U;

using Element = int;

/// This process's part of `process`'s memory, and its model.
class Part {
 public:
  Part(const Memory& memory, int process)
      : process_(process),
        base_(memory.at(process) + static_cast<std::size_t>(me()) * kPart),
        model_(kPart) {}

  void step(Random& random) {
    const Shape shape = Shape::draw(random, sizeof(Element), true);
    if (shape.remote_extent > kPart) return;
    const std::size_t room = (kPart - shape.remote_extent) / sizeof(Element);
    const std::size_t offset = random.below(room + 1) * sizeof(Element);
    std::vector<char> local(shape.local_extent);
    random.fill(std::as_writable_bytes(std::span(local)));
    switch (random.below(6)) {
      case 0:
      case 1:
        put(random, shape, offset, local);
        break;
      case 2:
      case 3:
        accumulate(random, shape, offset, local);
        break;
      default:
        get(random, shape, offset, local);
    }
  }

  /// All of it.
  void check() {
    std::vector<char> got(kPart);
    EXPECT_EQ(ARMCI_Get(base_, got.data(), kPart, process_), 0);
    EXPECT_TRUE(got == model_) << "the part at process " << process_;
  }

 private:
  /// The segments as ARMCI's descriptor.
  struct List {
    std::vector<void*> remote;
    std::vector<void*> local;
    armci_giov_t put = {};
    armci_giov_t get = {};
    List(const Shape& shape, char* remote_base, char* local_base) {
      shape.for_each([&](std::size_t r, std::size_t l) {
        remote.push_back(remote_base + r);
        local.push_back(local_base + l);
      });
      const int length = static_cast<int>(remote.size());
      put = {local.data(), remote.data(), length, shape.counts[0]};
      get = {remote.data(), local.data(), length, shape.counts[0]};
    }
  };

  void put(Random& random, const Shape& drawn, std::size_t offset, std::vector<char>& local) {
    Shape shape = drawn;
    char* const there = base_ + offset;
    switch (random.below(5)) {
      case 0:
        EXPECT_EQ(ARMCI_PutS(local.data(), shape.local_strides.data(), there, shape.remote_strides.data(),
                             shape.counts.data(), shape.levels, process_),
                  0);
        break;
      case 1: {
        armci_hdl_t handle;
        ARMCI_INIT_HANDLE(&handle);
        EXPECT_EQ(ARMCI_NbPutS(local.data(), shape.local_strides.data(), there, shape.remote_strides.data(),
                               shape.counts.data(), shape.levels, process_, &handle),
                  0);
        EXPECT_EQ(ARMCI_Wait(&handle), 0);
        break;
      }
      case 2: {
        List list(shape, there, local.data());
        EXPECT_EQ(ARMCI_PutV(&list.put, 1, process_), 0);
        break;
      }
      case 3: {
        EXPECT_EQ(ARMCI_NbPutS(local.data(), shape.local_strides.data(), there, shape.remote_strides.data(),
                               shape.counts.data(), shape.levels, process_, nullptr),
                  0);
        EXPECT_EQ(ARMCI_WaitProc(process_), 0);
        break;
      }
      default: {
        armci_hdl_t handle;
        ARMCI_INIT_HANDLE(&handle);
        ARMCI_SET_AGGREGATE_HANDLE(&handle);
        shape.for_each([&](std::size_t r, std::size_t l) {
          EXPECT_EQ(ARMCI_NbPut(local.data() + l, there + r, shape.counts[0], process_, &handle), 0);
        });
        EXPECT_EQ(ARMCI_Wait(&handle), 0);
        ARMCI_UNSET_AGGREGATE_HANDLE(&handle);
      }
    }
    shape.for_each([&](std::size_t r, std::size_t l) {
      std::memcpy(model_.data() + offset + r, local.data() + l, static_cast<std::size_t>(shape.counts[0]));
    });
    std::memset(local.data(), 0x5a, local.size());  // the source may be reused
  }

  void accumulate(Random& random, const Shape& drawn, std::size_t offset, std::vector<char>& local) {
    Shape shape = drawn;
    Element scale = static_cast<Element>(random.between(-3, 3));
    char* const there = base_ + offset;
    switch (random.below(3)) {
      case 0:
        EXPECT_EQ(ARMCI_AccS(ARMCI_ACC_INT, &scale, local.data(), shape.local_strides.data(), there,
                             shape.remote_strides.data(), shape.counts.data(), shape.levels, process_),
                  0);
        break;
      case 1: {
        armci_hdl_t handle;
        ARMCI_INIT_HANDLE(&handle);
        EXPECT_EQ(
            ARMCI_NbAccS(ARMCI_ACC_INT, &scale, local.data(), shape.local_strides.data(), there,
                         shape.remote_strides.data(), shape.counts.data(), shape.levels, process_, &handle),
            0);
        EXPECT_EQ(ARMCI_Wait(&handle), 0);
        break;
      }
      default: {
        List list(shape, there, local.data());
        EXPECT_EQ(ARMCI_AccV(ARMCI_ACC_INT, &scale, &list.put, 1, process_), 0);
      }
    }
    shape.for_each([&](std::size_t r, std::size_t l) {
      for (std::size_t i = 0; i < static_cast<std::size_t>(shape.counts[0]); i += sizeof(Element)) {
        unsigned sum = 0;
        unsigned addend = 0;
        std::memcpy(&sum, model_.data() + offset + r + i, sizeof sum);
        std::memcpy(&addend, local.data() + l + i, sizeof addend);
        sum += static_cast<unsigned>(scale) * addend;
        std::memcpy(model_.data() + offset + r + i, &sum, sizeof sum);
      }
    });
  }

  void get(Random& random, const Shape& drawn, std::size_t offset, std::vector<char>& local) {
    Shape shape = drawn;
    std::vector<char> expected = local;
    shape.for_each([&](std::size_t r, std::size_t l) {
      std::memcpy(expected.data() + l, model_.data() + offset + r, static_cast<std::size_t>(shape.counts[0]));
    });
    char* const there = base_ + offset;
    switch (random.below(4)) {
      case 0:
        EXPECT_EQ(ARMCI_GetS(there, shape.remote_strides.data(), local.data(), shape.local_strides.data(),
                             shape.counts.data(), shape.levels, process_),
                  0);
        break;
      case 1: {
        List list(shape, there, local.data());
        EXPECT_EQ(ARMCI_GetV(&list.get, 1, process_), 0);
        break;
      }
      case 2: {
        armci_hdl_t handle;
        ARMCI_INIT_HANDLE(&handle);
        EXPECT_EQ(ARMCI_NbGetS(there, shape.remote_strides.data(), local.data(), shape.local_strides.data(),
                               shape.counts.data(), shape.levels, process_, &handle),
                  0);
        EXPECT_EQ(ARMCI_Wait(&handle), 0);
        break;
      }
      default: {
        armci_hdl_t handle;
        ARMCI_INIT_HANDLE(&handle);
        ARMCI_SET_AGGREGATE_HANDLE(&handle);
        shape.for_each([&](std::size_t r, std::size_t l) {
          EXPECT_EQ(ARMCI_NbGet(there + r, local.data() + l, shape.counts[0], process_, &handle), 0);
        });
        ARMCI_UNSET_AGGREGATE_HANDLE(&handle);
      }
    }
    EXPECT_TRUE(local == expected) << "got from process " << process_ << ", " << shape.levels << " levels";
  }

  int process_;
  char* base_;
  std::vector<char> model_;
};

TEST(Order, PutThenAccumulateThenGet) {
  const Memory memory(kPart * static_cast<std::size_t>(ranks()));
  Random random{0xa7, static_cast<std::uint64_t>(me())};
  std::vector<Part> parts;
  for (int process = 0; process < ranks(); ++process) parts.emplace_back(memory, process);
  for (int i = 0; i < multi::rounds(1500); ++i) parts[random.below(parts.size())].step(random);
  for (Part& part : parts) part.check();
}

TEST(Order, FlagBehindData) {
  constexpr int kCount = 300;
  struct PointToPoint {
    std::array<int, kCount> data;
    volatile int flag;
    volatile int answer;
  };
  const Memory memory(sizeof(PointToPoint));
  if (ranks() > 1 && me() < 2) {
    const int other = 1 - me();
    auto& mine = *memory.as<PointToPoint>(me());
    auto* const theirs = memory.as<PointToPoint>(other);
    for (int round = 1; round <= multi::rounds(200); ++round) {
      if (me() == 0) {
        std::array<int, kCount> data = {};
        data.fill(round);
        if (round % 2 == 0) {
          EXPECT_EQ(ARMCI_Put_flag(data.data(), theirs->data.data(), sizeof data,
                                   const_cast<int*>(&theirs->flag), round, other),
                    0);
        } else {
          std::array<int, 1> stride = {sizeof data / 3};
          std::array<int, 2> counts = {sizeof data / 3, 3};
          EXPECT_EQ(ARMCI_PutS_flag(data.data(), stride.data(), theirs->data.data(), stride.data(),
                                    counts.data(), 1, const_cast<int*>(&theirs->flag), round, other),
                    0);
        }
        while (__atomic_load_n(&mine.answer, __ATOMIC_ACQUIRE) != round) sched_yield();
      } else {
        while (__atomic_load_n(&mine.flag, __ATOMIC_ACQUIRE) != round) sched_yield();
        for (const int value : mine.data) EXPECT_EQ(value, round);
        EXPECT_EQ(ARMCI_PutValueInt(round, const_cast<int*>(&theirs->answer), other), 0);
      }
    }
  }
}

TEST(Order, ValuesComeBack) {
  const Memory memory(64);
  const int other = multi::neighbour(1);
  EXPECT_EQ(ARMCI_PutValueInt(-5 - me(), memory.at(other), other), 0);
  EXPECT_EQ(ARMCI_PutValueLong(1L << 40, memory.at(other) + 8, other), 0);
  EXPECT_EQ(ARMCI_PutValueFloat(1.5F, memory.at(other) + 16, other), 0);
  EXPECT_EQ(ARMCI_PutValueDouble(-2.25, memory.at(other) + 24, other), 0);
  EXPECT_EQ(ARMCI_GetValueInt(memory.at(other), other), -5 - me());
  EXPECT_EQ(ARMCI_GetValueLong(memory.at(other) + 8, other), 1L << 40);
  EXPECT_EQ(ARMCI_GetValueFloat(memory.at(other) + 16, other), 1.5F);
  EXPECT_EQ(ARMCI_GetValueDouble(memory.at(other) + 24, other), -2.25);
  armci_hdl_t handle;
  ARMCI_INIT_HANDLE(&handle);
  EXPECT_EQ(ARMCI_NbPutValueInt(7, memory.at(other) + 32, other, &handle), 0);
  EXPECT_EQ(ARMCI_NbPutValueLong(8, memory.at(other) + 40, other, nullptr), 0);
  EXPECT_EQ(ARMCI_NbPutValueFloat(9, memory.at(other) + 48, other, &handle), 0);
  EXPECT_EQ(ARMCI_NbPutValueDouble(10, memory.at(other) + 56, other, &handle), 0);
  EXPECT_EQ(ARMCI_Wait(&handle), 0);
  ARMCI_Barrier();
  EXPECT_EQ(*reinterpret_cast<int*>(memory.mine() + 32), 7);
  EXPECT_EQ(*reinterpret_cast<long*>(memory.mine() + 40), 8);
  EXPECT_EQ(*reinterpret_cast<float*>(memory.mine() + 48), 9);
  EXPECT_EQ(*reinterpret_cast<double*>(memory.mine() + 56), 10);
}

}  // namespace
