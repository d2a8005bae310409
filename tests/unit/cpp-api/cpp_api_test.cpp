// The C++ interface in a job of one. Every part of it compiles, passes its arguments on in the
// documented units, owns the documented objects, and throws the documented exceptions. Other tests cover
// operations between ranks.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <rma/rma.hpp>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

static_assert(std::is_trivially_copyable_v<rma::GlobalPtr<double>>);
static_assert(std::is_convertible_v<rma::GlobalPtr<int>, rma::GlobalPtr<const int>>);
static_assert(!std::is_convertible_v<rma::GlobalPtr<const int>, rma::GlobalPtr<int>>);
static_assert(!std::is_copy_constructible_v<rma::Request> &&
              std::is_nothrow_move_constructible_v<rma::Request>);
static_assert(!std::is_copy_constructible_v<rma::Team> && std::is_nothrow_move_constructible_v<rma::Team>);
static_assert(rma::Transferable<std::complex<double>> && !rma::Transferable<std::string>);
static_assert(rma::Accumulable<double> && !rma::Accumulable<char>);
static_assert(rma::AtomicInteger<int> && rma::AtomicInteger<std::uint64_t> && !rma::AtomicInteger<bool> &&
              !rma::AtomicInteger<short> && !rma::AtomicInteger<double>);

class CppApi : public testing::Test {
 protected:
  rma::Environment environment_;
  rma::Team world_ = rma::Team::world();
};

// Returns the status of the exception that `call` throws, or RMA_SUCCESS if it throws none. `Kind` is the
// expected exception class.
template <class Kind, class Call>
rma_status_t thrown(Call call) {
  try {
    call();
  } catch (const Kind& error) {
    EXPECT_STRNE(error.what(), "");
    return error.status();
  }
  return RMA_SUCCESS;
}

TEST_F(CppApi, Job) {
  EXPECT_EQ(rma::rank(), 0);
  EXPECT_EQ(rma::size(), 1);
  EXPECT_EQ(rma::program(), 0);
  EXPECT_TRUE(rma::same_host(0));
  EXPECT_FALSE(rma::same_host(1));
  { const rma::Environment nested; }
  EXPECT_EQ(rma::size(), 1);
}

TEST_F(CppApi, GlobalPointersCountInElements) {
  std::array<double, 4> memory{};
  const rma::GlobalPtr<double> begin(memory.data(), 3);
  rma::GlobalPtr<double> pointer = begin + 2;
  EXPECT_EQ(pointer.address(), &memory[2]);
  EXPECT_EQ(pointer.rank(), 3);
  EXPECT_EQ(pointer - begin, 2);
  EXPECT_EQ(--pointer, begin + 1);
  EXPECT_LT(begin, pointer);
  EXPECT_LT(pointer, rma::GlobalPtr<double>(memory.data(), 4));
  EXPECT_FALSE(rma::GlobalPtr<double>());
  EXPECT_NE(begin, nullptr);
}

TEST_F(CppApi, SharedArrayIsReachableAndDirect) {
  rma::SharedArray<double> array(world_, 8);
  ASSERT_EQ(array.local().size(), 8U);
  EXPECT_EQ(array[0].address(), array.local().data());
  EXPECT_EQ(rma::direct(array[0], 8), array.local().data());
  EXPECT_EQ(rma::direct(rma::GlobalPtr<double>(array[0].address(), 1)), nullptr);
  EXPECT_EQ(rma::direct(array[0], SIZE_MAX), nullptr);
  rma::SharedArray<double> moved(std::move(array));
  EXPECT_EQ(moved.local().size(), 8U);
  const rma::SharedArray<int> none(world_, 0);
  EXPECT_TRUE(none.local().empty());
  EXPECT_FALSE(none[0]);
  moved.free();
  EXPECT_TRUE(moved.local().empty());
  EXPECT_EQ(thrown<rma::ArgumentError>([&] { rma::SharedArray<double>(world_, SIZE_MAX / 4); }),
            RMA_ERR_SIZE);
}

TEST_F(CppApi, LocalArrayAndRegistration) {
  rma::LocalArray<int> array(3);
  std::iota(array.begin(), array.end(), 1);
  EXPECT_EQ(rma::get(array.global() + 2), 3);
  std::vector<int> anywhere{4, 5, 6};
  const rma::Registration registration{std::span(anywhere)};
  rma::put(rma::GlobalPtr<int>(&anywhere[1], 0), 50);
  EXPECT_THAT(anywhere, ElementsAre(4, 50, 6));
}

TEST_F(CppApi, ContiguousTransfers) {
  rma::LocalArray<long> array(3);
  const rma::GlobalPtr<long> remote = array.global();
  const std::vector<long> source{1, 2, 3};
  rma::put(remote, source);
  std::vector<long> copy(3);
  rma::get(copy, remote);
  EXPECT_EQ(copy, source);
  rma::put(remote + 1, 20);  // 8 bytes, inlined
  EXPECT_EQ(rma::get(rma::GlobalPtr<const long>(remote + 1)), 20);
  std::ranges::fill(array, 0L);
  rma::Request put = rma::put_nb(remote, source);
  put.wait();
  EXPECT_TRUE(put.is_null());
  EXPECT_TRUE(std::ranges::equal(array, source));
  std::ranges::fill(array, 0L);
  rma::put_nbi(remote, source);
  rma::fence(0);
  EXPECT_TRUE(std::ranges::equal(array, source));
  std::ranges::fill(copy, 0L);
  rma::Request get = rma::get_nb(copy, remote);
  while (!get.test()) {
  }
  EXPECT_EQ(copy, source);
  std::ranges::fill(copy, 0L);
  rma::get_nbi(copy, remote);
  rma::fence_all();
  EXPECT_EQ(copy, source);

  struct Three {
    char bytes[3];
  };
  rma::LocalArray<Three> odd(1);
  rma::put(odd.global(), Three{{'a', 'b', 'c'}});
  EXPECT_EQ(rma::get(odd.global()).bytes[2], 'c');
}

TEST_F(CppApi, RequestsTogether) {
  rma::LocalArray<int> array(4);
  const std::vector<int> source{1, 2, 3, 4};
  std::vector<rma::Request> requests;
  for (int i = 0; i < 4; ++i) {
    requests.push_back(
        rma::put_nb(array.global() + i, std::span(source).subspan(static_cast<std::size_t>(i), 1)));
  }
  const std::size_t first = rma::wait_any(requests);
  ASSERT_LT(first, requests.size());
  EXPECT_TRUE(requests[first].is_null());
  rma::wait_all(requests);
  EXPECT_EQ(rma::wait_any(requests), requests.size());
  EXPECT_EQ(std::vector<int>(array.begin(), array.end()), source);
}

TEST_F(CppApi, AccumulateScales) {
  rma::LocalArray<std::complex<double>> array(2);
  std::ranges::fill(array, std::complex<double>(1, 0));
  const std::vector<std::complex<double>> source{{1, 1}, {2, 0}};
  rma::accumulate(array.global(), source);
  rma::accumulate_nb(array.global(), source, {0, 1}).wait();
  rma::accumulate_nbi(array.global(), source, 2.0);
  rma::fence_all();
  EXPECT_EQ(array[0], std::complex<double>(3, 4));  // 1 + (1 + i + 2) * (1 + i)
  EXPECT_EQ(array[1], std::complex<double>(7, 2));  // 1 + (1 + i + 2) * 2
}

TEST_F(CppApi, StridedInElements) {
  // Two columns of a 3 x 4 matrix, transferred into the last two of another and back upside down.
  rma::LocalArray<int> matrix(12);
  std::ranges::fill(matrix, 0);
  std::vector<int> source(12);
  std::iota(source.begin(), source.end(), 0);
  const std::array<std::size_t, 2> counts{2, 3};
  const std::array<std::ptrdiff_t, 1> rows{4};
  rma::put_strided(matrix.global() + 2, rows, source.data(), rows, counts);
  EXPECT_THAT(std::vector<int>(matrix.begin(), matrix.end()),
              ElementsAre(0, 0, 0, 1, 0, 0, 4, 5, 0, 0, 8, 9));

  std::vector<int> back(6);
  const std::array<std::ptrdiff_t, 1> packed{2};
  const std::array<std::ptrdiff_t, 1> upwards{-4};
  rma::get_strided(back.data(), packed, matrix.global() + 10, upwards, counts);
  EXPECT_THAT(back, ElementsAre(8, 9, 4, 5, 0, 1));
  rma::accumulate_strided(matrix.global() + 2, rows, back.data(), packed, counts, 10);
  EXPECT_EQ(matrix[2], 80);
  EXPECT_EQ(matrix[11], 9 + 10);

  const std::array<std::ptrdiff_t, 2> too_many{4, 4};
  EXPECT_EQ(thrown<rma::ArgumentError>(
                [&] { rma::put_strided(matrix.global(), too_many, source.data(), rows, counts); }),
            RMA_ERR_ARGUMENT);
  const std::array<std::size_t, 2> huge{SIZE_MAX, 1};
  EXPECT_EQ(
      thrown<rma::ArgumentError>([&] { rma::put_strided(matrix.global(), rows, source.data(), rows, huge); }),
      RMA_ERR_SIZE);
}

TEST_F(CppApi, VectorPieces) {
  rma::LocalArray<int> array(6);
  std::ranges::fill(array, 0);
  const std::vector<int> source{1, 2, 3, 4};
  const std::array<int*, 2> dst{&array[4], &array[0]};
  const std::array<const int*, 2> src{&source[0], &source[2]};
  const rma::Pieces<int> pieces{dst, src, 2};
  rma::put_vector(pieces, 0);
  EXPECT_THAT(std::vector<int>(array.begin(), array.end()), ElementsAre(3, 4, 0, 0, 1, 2));
  rma::accumulate_vector(pieces, 0, 2);
  EXPECT_THAT(std::vector<int>(array.begin(), array.end()), ElementsAre(9, 12, 0, 0, 3, 6));
  const rma::Pieces<int> uneven{dst, std::span(src).first(1), 2};
  EXPECT_EQ(thrown<rma::ArgumentError>([&] { rma::get_vector(uneven, 0); }), RMA_ERR_SIZE);
}

template <class T>
void check_atomics() {
  rma::LocalArray<T> array(1);
  const rma::GlobalPtr<T> target = array.global();
  rma::atomic_set(target, static_cast<T>(-2));
  EXPECT_EQ(rma::fetch_add(target, 5), static_cast<T>(-2));
  EXPECT_EQ(rma::swap(target, 12), T{3});
  EXPECT_EQ(rma::compare_swap(target, 11, 1), T{12});
  EXPECT_EQ(rma::compare_swap(target, 12, 10), T{12});
  EXPECT_EQ(rma::fetch_and(target, 6), T{10});
  EXPECT_EQ(rma::fetch_or(target, 5), T{2});
  EXPECT_EQ(rma::fetch_xor(target, 1), T{7});
  EXPECT_EQ(rma::atomic_fetch(target), T{6});
}

TEST_F(CppApi, AtomicsOfEverySizeAndSign) {
  check_atomics<std::int32_t>();
  check_atomics<std::uint32_t>();
  check_atomics<std::int64_t>();
  check_atomics<std::uint64_t>();
}

TEST_F(CppApi, Messages) {
  const std::array<int, 3> out = {1, 2, 3};
  std::array<int, 3> in = {};
  rma::Request receive = rma::recv_nb(std::span<int>(in), rma::kAnySource, {.tag = 7, .context = 2});
  EXPECT_FALSE(rma::iprobe());
  rma::send(std::span<const int>(out), 0, {.tag = 7, .context = 2});
  receive.wait();
  EXPECT_EQ(in, out);

  rma::send_value(4.5, 0, {.tag = 1});
  const rma::MessageInfo info = rma::probe();
  EXPECT_EQ(info.bytes, sizeof(double));
  EXPECT_EQ(info.tag, 1);
  EXPECT_TRUE(rma::iprobe(0, {.tag = 1}));
  EXPECT_EQ(rma::recv_value<double>(), 4.5);
  rma::send_value('x', 0);
  EXPECT_THROW(static_cast<void>(rma::recv_value<double>()), rma::Error);
  rma::send(std::span<int>(in), 0);
  EXPECT_THROW(rma::recv(std::span<int>(in).first(2)), rma::Error);

  rma::Request synchronous = rma::ssend_nb(std::span<const int>(out), 0);
  EXPECT_FALSE(synchronous.test());
  EXPECT_EQ(rma::recv(std::span<int>(in)).source, 0);
  synchronous.wait();
  rma::Persistent sender = rma::Persistent::send(std::span<const int>(out), 0, {.tag = 9});
  rma::Persistent receiver = rma::Persistent::recv(std::span<int>(in));
  for (int i = 0; i < 3; ++i) {
    in = {};
    rma::Request started = sender.start();
    receiver.start().wait();
    EXPECT_EQ(in, out);
  }
  EXPECT_THROW(rma::send_value(1, 1), rma::ArgumentError);
}

TEST_F(CppApi, Notification) {
  rma::LocalArray<std::uint64_t> flag(1);
  rma::LocalArray<int> data(2);
  flag[0] = 0;
  EXPECT_FALSE(rma::test_until(flag[0], rma::Compare::kEqual, 7));
  rma::put_notify(data.global(), std::array{1, 2}, flag.global(), 7);
  EXPECT_TRUE(rma::test_until(flag[0], rma::Compare::kGreater, 6));
  EXPECT_EQ(rma::wait_until(flag[0], rma::Compare::kNotEqual, 0), 7U);
  EXPECT_EQ(data[1], 2);
  const rma::GlobalPtr<std::uint64_t> elsewhere(flag.data(), 1);
  EXPECT_EQ(thrown<rma::ArgumentError>([&] { rma::put_notify(data.global(), std::array{1}, elsewhere, 8); }),
            RMA_ERR_RANK);
}

TEST_F(CppApi, TeamsAndCollectives) {
  EXPECT_EQ(world_.size(), 1);
  EXPECT_EQ(world_.world_rank(0), 0);
  const rma::Team listed = rma::Team::create(std::array{0});
  EXPECT_EQ(listed.rank(), 0);
  rma::Team split = world_.split(5, 1);
  EXPECT_EQ(split.size(), 1);
  EXPECT_FALSE(world_.split(-1));
  split = rma::Team();
  EXPECT_FALSE(split);

  std::vector<int> values{3, 4};
  world_.barrier();
  world_.broadcast(values, 0);
  world_.reduce(values, rma::Reduction::kSum, 0);
  world_.allreduce(values, rma::Reduction::kBitXor);
  EXPECT_THAT(values, ElementsAre(3, 4));
  EXPECT_EQ(world_.allreduce(2.5, rma::Reduction::kMax), 2.5);
  EXPECT_EQ(world_.broadcast(std::int16_t{9}, 0), 9);
  EXPECT_THAT(world_.allgather('x'), ElementsAre('x'));
  std::vector<int> all(2);
  world_.allgather(std::span(all), values);
  EXPECT_EQ(all, values);
  EXPECT_EQ(thrown<rma::ArgumentError>([&] { world_.allgather(std::span(all).first(1), values); }),
            RMA_ERR_SIZE);
}

template <typename T>
void expect_nonblocking_atomics(rma::GlobalPtr<T> target) {
  T old = 0;
  rma::put(target, T{7});
  rma::fetch_add_nb(target, 5, &old).wait();
  EXPECT_EQ(old, T{7});
  rma::fetch_add_nb(target, 1).wait();
  rma::swap_nb(target, 20, &old).wait();
  EXPECT_EQ(old, T{13});
  rma::compare_swap_nb(target, 20, 30, &old).wait();
  EXPECT_EQ(old, T{20});
  const rma::Context context;
  const rma::ContextScope scope(context);
  rma::fetch_add_nbi(target, 1, &old);
  rma::fence_all();
  EXPECT_EQ(old, T{30});
  rma::swap_nbi(target, 40, &old);
  rma::fence_all();
  EXPECT_EQ(old, T{31});
  rma::compare_swap_nbi(target, 1, 2, &old);
  rma::fence_all();
  EXPECT_EQ(old, T{40});
  rma::atomic_set_nbi(target, 50);
  rma::fence_all();
  EXPECT_EQ(rma::atomic_fetch(target), T{50});
}

TEST_F(CppApi, NonblockingAtomicsInAContext) {
  rma::SharedArray<std::int64_t> wide(world_, 1);
  rma::SharedArray<std::uint32_t> narrow(world_, 1);
  expect_nonblocking_atomics(wide[0]);
  expect_nonblocking_atomics(narrow[0]);
  rma_context_t left = RMA_CONTEXT_DEFAULT;
  rma::check(rma_context_use(RMA_CONTEXT_DEFAULT, &left));
  EXPECT_EQ(left, RMA_CONTEXT_DEFAULT) << "the scope has ended";
}

TEST_F(CppApi, MutexesLockByGuard) {
  const rma::Mutexes mutexes(world_, 2);
  rma::Mutex mutex = mutexes.mutex(1, 0);
  {
    const std::lock_guard guard(mutex);
    EXPECT_EQ(thrown<rma::Error>([&] { mutex.lock(); }), RMA_ERR_STATE);
  }
  EXPECT_EQ(thrown<rma::Error>([&] { mutex.unlock(); }), RMA_ERR_STATE);
}

TEST_F(CppApi, ErrorsCarryStatusAndText) {
  rma::LocalArray<int> array(1);
  const rma::GlobalPtr<int> nobody(array.data(), 7);
  EXPECT_EQ(thrown<rma::ArgumentError>([&] { rma::put(nobody, 1); }), RMA_ERR_RANK);
  EXPECT_EQ(thrown<rma::ArgumentError>([&] { static_cast<void>(rma::get(rma::GlobalPtr<double>())); }),
            RMA_ERR_RANK);
  try {
    rma::fence(7);
    ADD_FAILURE() << "there is no rank 7";
  } catch (const rma::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("7"));
  }
}

TEST_F(CppApi, UnwindingSkipsCollectiveDestructors) {
  // Only one rank throws. If the array were freed while the exception unwinds, the other ranks would have to
  // take part.
  void* address = nullptr;
  try {
    const rma::SharedArray<int> array(world_, 1);
    address = array.local().data();
    throw std::runtime_error("");
  } catch (const std::runtime_error&) {
    EXPECT_EQ(rma_free(world_.handle(), address), RMA_SUCCESS) << "it was freed already";
  }
}

TEST(CppApiOutside, EverythingThrowsOutsideTheJob) {
  EXPECT_EQ(rma::rank(), -1);
  EXPECT_NE(thrown<rma::Error>([] { rma::fence_all(); }), RMA_SUCCESS);
  EXPECT_NE(thrown<rma::Error>([] { static_cast<void>(rma::Team::world()); }), RMA_SUCCESS);
  EXPECT_NE(thrown<rma::Error>([] { rma::LocalArray<int>(1); }), RMA_SUCCESS);
}

/// The value of a setting in a job is the job's, and counters count what the program does.
TEST_F(CppApi, CountersAndSettings) {
  const auto puts = rma::find_counter("put_bytes");
  ASSERT_TRUE(puts);
  EXPECT_THAT(std::string(puts->text()), HasSubstr("bytes"));
  EXPECT_EQ(rma::counters().at(puts->number()).name(), "put_bytes");
  EXPECT_FALSE(rma::find_counter("no such counter"));
  rma::LocalArray<char> array(1000);
  const std::array<char, 300> data = {};
  const std::uint64_t before = puts->value();
  rma::put(array.global(), std::span(data));
  EXPECT_EQ(puts->value(), before + data.size());

  const auto settings = rma::settings();
  const auto piece = std::find_if(settings.begin(), settings.end(),
                                  [](const auto& each) { return each.name() == "RMA_PIECE"; });
  ASSERT_NE(piece, settings.end());
  EXPECT_THAT(std::string(piece->text()), HasSubstr("RDMA"));
  ASSERT_EQ(setenv("RMA_PIECE", "2M", 1), 0);
  EXPECT_EQ(piece->value(), "1M");
  std::uint64_t number = 0;
  EXPECT_EQ(rma_setting_number(piece->number(), &number), RMA_SUCCESS);
  EXPECT_EQ(number, 1U << 20U);
  ASSERT_EQ(unsetenv("RMA_PIECE"), 0);

  EXPECT_EQ(rma_counter_name(rma_counter_count()), nullptr);
  EXPECT_EQ(rma_counter_text(rma_counter_count()), nullptr);
  EXPECT_EQ(rma_counter_value(rma_counter_count()), 0U);
  EXPECT_EQ(rma_setting_name(settings.size()), nullptr);
  EXPECT_EQ(rma_setting_text(settings.size()), nullptr);
  EXPECT_EQ(rma_setting_is_number(settings.size()), 0);
  EXPECT_EQ(rma_setting_number(settings.size(), &number), RMA_ERR_ARGUMENT);
  EXPECT_EQ(rma_setting_number(piece->number(), nullptr), RMA_ERR_ARGUMENT);
  EXPECT_EQ(rma_setting_value(settings.size(), nullptr, 0, nullptr), RMA_ERR_ARGUMENT);
  EXPECT_EQ(rma_setting_value(piece->number(), nullptr, 1, nullptr), RMA_ERR_ARGUMENT);
  std::array<char, 2> beginning = {'x', 'x'};
  std::size_t needed = 0;
  EXPECT_EQ(rma_setting_value(piece->number(), beginning.data(), beginning.size(), &needed), RMA_SUCCESS);
  EXPECT_STREQ(beginning.data(), "1");
  EXPECT_EQ(needed, 3U);
}

/// Outside of a job the settings are those that rma_init would read.
TEST(CppApiOutside, SettingsOfTheEnvironment) {
  const auto settings = rma::settings();
  const auto log = std::find_if(settings.begin(), settings.end(),
                                [](const auto& each) { return each.name() == "RMA_LOG"; });
  ASSERT_NE(log, settings.end());
  ASSERT_EQ(setenv("RMA_LOG", "error", 1), 0);
  EXPECT_EQ(log->value(), "error");
  EXPECT_EQ(rma_setting_is_number(log->number()), 0);
  std::uint64_t number = 0;
  EXPECT_EQ(rma_setting_number(log->number(), &number), RMA_ERR_ARGUMENT);
  ASSERT_EQ(setenv("RMA_SPIN", "often", 1), 0);
  EXPECT_EQ(rma_setting_value(log->number(), nullptr, 0, nullptr), RMA_ERR_SETTING);
  EXPECT_THAT(std::string(rma_last_error()), HasSubstr("RMA_SPIN=often"));
  ASSERT_EQ(unsetenv("RMA_SPIN"), 0);
  ASSERT_EQ(unsetenv("RMA_LOG"), 0);
}

TEST_F(CppApi, Collectives) {
  std::array<int, 3> src = {1, 2, 3};
  std::array<int, 3> dst = {};
  const std::span<int> out(dst);
  const auto given = ElementsAre(1, 2, 3);
  const auto got = [&](rma::Request request) {
    request.wait();
    return std::exchange(dst, {});
  };
  rma::barrier_nb(world_).wait();
  rma::broadcast_nb(world_, src, 0).wait();
  EXPECT_THAT(got(rma::gather_nb(world_, out, src, 0)), given);
  EXPECT_THAT(got(rma::scatter_nb(world_, out, src, 0)), given);
  EXPECT_THAT(got(rma::allgather_nb(world_, out, src)), given);
  EXPECT_THAT(got(rma::alltoall_nb(world_, out, src)), given);
  EXPECT_THAT(got(rma::reduce_scatter_nb(world_, out, src, rma::Reduction::kSum)), given);
  rma::gather(world_, out, src, 0);
  EXPECT_THAT(std::exchange(dst, {}), given);
  rma::scatter(world_, out, src, 0);
  EXPECT_THAT(std::exchange(dst, {}), given);
  rma::alltoall(world_, out, src);
  EXPECT_THAT(std::exchange(dst, {}), given);
  rma::reduce_scatter(world_, out, src, rma::Reduction::kMax);
  EXPECT_THAT(std::exchange(dst, {}), given);
  rma::reduce_nb(world_, src, rma::Reduction::kSum, 0).wait();
  rma::allreduce_nb(world_, src, rma::Reduction::kSum).wait();
  rma::scan(world_, src, rma::Reduction::kSum);
  rma::scan_nb(world_, src, rma::Reduction::kSum).wait();
  EXPECT_THAT(src, given);
  EXPECT_EQ(thrown<rma::ArgumentError>([&] { rma::gather(world_, out, src, 1); }), RMA_ERR_RANK);
  EXPECT_EQ(thrown<rma::ArgumentError>([&] { rma::gather(world_, out.first(2), src, 0); }), RMA_ERR_SIZE);
}

}  // namespace
