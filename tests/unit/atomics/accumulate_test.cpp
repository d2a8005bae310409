#include "atomics/accumulate.hpp"

#include <thread>

#include "../counted.hpp"
#include "atomics/types.hpp"
#include "job_of_one.hpp"
#include "model.hpp"
#include "util/statistics.hpp"

namespace librma {
namespace {

class Accumulate : public JobOfOne {
 protected:
  /// Accumulates random elements to random places of the `bytes` bytes at `memory`, which are aligned only to
  /// the elements' parts, and compares with the model.
  template <typename T>
  void check(rma_type_t type, std::byte* memory, std::size_t bytes, Random& random) {
    const std::size_t parts = bytes / type_alignment(type);
    const std::size_t parts_each = sizeof(T) / type_alignment(type);
    for (int round = 0; round < 20; ++round) {
      const std::size_t first = std::uniform_int_distribution<std::size_t>(0, parts - parts_each)(random);
      const std::size_t count =
          std::uniform_int_distribution<std::size_t>(0, (parts - first) / parts_each)(random);
      std::vector<T> y = random_elements<T>(random, count);
      const std::vector<T> x = random_elements<T>(random, count);
      const T scale = round % 3 == 0 ? T(1) : random_element<T>(random);
      std::byte* const dst = memory + first * type_alignment(type);
      if (count != 0) std::memcpy(dst, y.data(), count * sizeof(T));
      const Status status = accumulator->accumulate(dst, x.data(), count * sizeof(T), type,
                                                    round % 3 == 1 ? nullptr : &scale, 0);
      ASSERT_TRUE(status.ok()) << status.text();
      std::vector<T> found(count);
      if (count != 0) std::memcpy(found.data(), dst, count * sizeof(T));
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(found[i], model(y[i], round % 3 == 1 ? T(1) : scale, x[i])) << "type " << type << ", " << i;
      }
    }
  }
};

TEST_F(Accumulate, AgreesWithTheModelInTheHeap) {
  Random random = seeded_random();
  auto* const memory = heap<std::byte>(5 * kStripe);
  for (const rma_type_t type : kTypes) {
    with_type(type, [&]<typename T>(T) { check<T>(type, memory, 5 * kStripe, random); });
  }
}

TEST_F(Accumulate, AgreesWithTheModelInRegisteredMemory) {
  Random random = seeded_random();
  std::vector<double> memory(5 * kStripe / sizeof(double));
  expose(memory.data(), 5 * kStripe);
  for (const rma_type_t type : kTypes) {
    with_type(type, [&]<typename T>(T) {
      check<T>(type, reinterpret_cast<std::byte*>(memory.data()), 5 * kStripe, random);
    });
  }
}

TEST_F(Accumulate, AtOnceAgreesWithTheModelAndWaitsForNothing) {
  Random random = seeded_random();
  auto* const memory = heap<std::byte>(2 * kStripe);
  for (const rma_type_t type : kTypes) {
    with_type(type, [&]<typename T>(T) {
      constexpr std::size_t kCount = 10;
      const std::vector<T> x = random_elements<T>(random, kCount);
      const std::vector<T> y = random_elements<T>(random, kCount);
      const auto accumulate_at = [&](std::byte* dst) {
        std::memcpy(dst, y.data(), kCount * sizeof(T));
        return accumulator->accumulate_at_once(dst, dst, x.data(), kCount * sizeof(T), type, 0);
      };
      std::byte* const end = memory + kStripe - kCount * sizeof(T);
      const std::uint64_t before = total_count(Counter::accumulate);
      ASSERT_TRUE(accumulate_at(end));
      EXPECT_EQ(total_count(Counter::accumulate), before + 1);
      for (std::size_t i = 0; i < kCount; ++i) {
        T found = {};
        std::memcpy(&found, end + i * sizeof(T), sizeof(T));
        EXPECT_EQ(found, model(y[i], T(1), x[i])) << "type " << type << ", " << i;
      }
      // Nothing is done for data that lie in two stripes, and for a lock that another thread holds.
      std::byte* const across = end + type_alignment(type);
      EXPECT_FALSE(accumulate_at(across));
      EXPECT_EQ(std::memcmp(across, y.data(), kCount * sizeof(T)), 0);
      SharedLock& lock = accumulator->locks(0).of(reinterpret_cast<std::uintptr_t>(end));
      ASSERT_TRUE(lock.try_lock(0)) << "the lock was given back";
      EXPECT_FALSE(accumulate_at(end));
      EXPECT_EQ(std::memcmp(end, y.data(), kCount * sizeof(T)), 0);
      lock.unlock();
    });
  }
}

TEST_F(Accumulate, RefusesOtherMemoryAndLeavesIt) {
  double y = 1;
  const double x = 2;
  EXPECT_EQ(accumulator->accumulate(&y, &x, sizeof y, RMA_DOUBLE, nullptr, 0).code(), RMA_ERR_ADDRESS);
  EXPECT_EQ(y, 1);
}

TEST_F(Accumulate, LosesNothingAmongThreads) {
  constexpr std::size_t kCount = 2 * kStripe / sizeof(double) + 200;
  constexpr int kRounds = 300;
  auto* const y = heap<double>(kCount);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const std::vector<double> x(kCount - t, 1.0);
      const double scale = 2;
      for (int i = 0; i < kRounds; ++i) {
        const Status status = accumulator->accumulate(y + t, x.data(), x.size() * sizeof(double), RMA_DOUBLE,
                                                      i % 2 == 0 ? nullptr : &scale, 0);
        ASSERT_TRUE(status.ok()) << status.text();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(y[i], static_cast<double>(std::min<std::size_t>(i + 1, 4) * kRounds * 3 / 2)) << i;
  }
}

TEST_F(Accumulate, LosesNothingAtTheBorderOfTwoStripes) {
  auto* const memory = heap<double>(2 * kStripe / sizeof(double));
  double* const y = memory + kStripe / sizeof(double) - 1;  // real part in one stripe, imaginary in the next
  ASSERT_EQ(StripeLocks::left_in_stripe(reinterpret_cast<std::uintptr_t>(y)), sizeof(double));
  constexpr int kRounds = 2000;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const std::complex<double> x = {3, 1};
      const std::complex<double> i = {0, 1};
      const std::array<double, 2> parts = {-1, 3};
      for (int round = 0; round < kRounds; ++round) {
        // i * (3 + i), as one complex number and as two real ones.
        const Status status =
            t % 2 == 0 ? accumulator->accumulate(y, &x, sizeof x, RMA_COMPLEX_DOUBLE, &i, 0)
                       : accumulator->accumulate(y, parts.data(), sizeof parts, RMA_DOUBLE, nullptr, 0);
        ASSERT_TRUE(status.ok()) << status.text();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(y[0], -1.0 * 4 * kRounds);
  EXPECT_EQ(y[1], 3.0 * 4 * kRounds);
}

TEST_F(Accumulate, DoesNotWaitForOtherStripes) {
  auto* const memory = heap<long>(2 * kStripe / sizeof(long));
  long* const other = memory + kStripe / sizeof(long);
  SharedLock& held = accumulator->locks(0).of(reinterpret_cast<std::uintptr_t>(memory));
  ASSERT_NE(&held, &accumulator->locks(0).of(reinterpret_cast<std::uintptr_t>(other)));
  ASSERT_TRUE(held.try_lock(0));
  const std::vector<long> x(kStripe / sizeof(long), 7);
  const Status status = accumulator->accumulate(other, x.data(), kStripe, RMA_LONG, nullptr, 0);
  held.unlock();
  ASSERT_TRUE(status.ok()) << status.text();
  EXPECT_EQ(other[0], 7);
  EXPECT_EQ(other[kStripe / sizeof(long) - 1], 7);
}

TEST_F(Accumulate, ManyPiecesInAnyOrder) {
  constexpr std::size_t kCount = 4 * kStripe / sizeof(int);
  constexpr std::size_t kPieces = 5000;
  auto* const y = heap<int>(kCount);
  std::vector<int> expected(kCount);
  Random random = seeded_random();
  const int scale = 3;
  {
    Accumulation accumulation(*accumulator, RMA_INT, &scale, 0);
    for (std::size_t i = 0; i < kPieces; ++i) {
      const std::size_t first = std::uniform_int_distribution<std::size_t>(0, kCount - 8)(random);
      const std::vector<int> x = random_elements<int>(random, i % 9);
      for (std::size_t j = 0; j < x.size(); ++j)
        expected[first + j] = model(expected[first + j], scale, x[j]);
      const Status status = accumulation.add(y + first, x.data(), x.size() * sizeof(int));
      ASSERT_TRUE(status.ok()) << status.text();
    }
    double outside = 0;
    EXPECT_EQ(accumulation.add(&outside, y, sizeof(int)).code(), RMA_ERR_ADDRESS);
  }
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), y));
  for (std::size_t i = 0; i < kCount; i += kStripe / sizeof(int)) {  // all locks are free again
    SharedLock& lock = accumulator->locks(0).of(reinterpret_cast<std::uintptr_t>(y + i));
    EXPECT_TRUE(lock.try_lock(0));
    lock.unlock();
  }
}

TEST_F(Accumulate, IsCounted) {
  auto* const y = heap<int>(1);
  const int x = 1;
  const auto before = counted(Counter::accumulate);
  ASSERT_TRUE(accumulator->accumulate(y, &x, sizeof x, RMA_INT, nullptr, 0).ok());
  EXPECT_EQ(counted(Counter::accumulate), before + 1);
}

}  // namespace
}  // namespace librma
