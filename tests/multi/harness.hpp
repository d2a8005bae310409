#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rma/rma.h"

// The harness of the tests with several ranks. Every rank runs every test. A test uses only EXPECT_, never
// ASSERT_, so that a rank that finds a failure still takes part in the collective calls of the others.

namespace multi {

/// Returns an address in the form of the error texts.
inline std::string text(const void* address) { return (testing::Message() << address).GetString(); }

inline int me() { return rma_rank(); }
inline int ranks() { return rma_size(); }
/// Returns the rank `distance` places after this one, modulo the number of ranks.
inline int neighbour(int distance) { return (me() + distance) % ranks(); }
inline void barrier() { EXPECT_EQ(rma_barrier(rma_team_world()), RMA_SUCCESS) << rma_last_error(); }

/// Returns the seed of all draws: LIBRMA_TEST_SEED, or a fixed number. It is the same on every rank.
std::uint64_t seed();

/// Random draws that depend only on seed() and `key`, so that two ranks can make the same ones.
class Random {
 public:
  Random(std::initializer_list<std::uint64_t> key);

  /// Returns a number from 0 to count - 1.
  std::size_t below(std::size_t count) {
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(engine_);
  }
  /// Returns a number from `from` to `to`, both included.
  std::int64_t between(std::int64_t from, std::int64_t to) {
    return std::uniform_int_distribution<std::int64_t>(from, to)(engine_);
  }
  bool chance(std::size_t percent) { return below(100) < percent; }
  std::uint64_t word() { return engine_(); }
  template <typename List>
  auto pick(const List& list) {
    return *(std::begin(list) + static_cast<std::ptrdiff_t>(below(std::size(list))));
  }
  void fill(std::span<std::byte> bytes);
  std::mt19937_64& engine() { return engine_; }

 private:
  std::mt19937_64 engine_;
};

/// For EXPECT_TRUE(ok(call)): the call must succeed. A failure shows the error text.
testing::AssertionResult ok(rma_status_t status);

/// For EXPECT_TRUE(refused(call, code, words)): the call must fail with this code, and rma_last_error() must
/// contain all the words.
testing::AssertionResult refused(rma_status_t status, rma_status_t code,
                                 std::initializer_list<std::string_view> words = {});

/// The number by which rounds() divides, the same on all ranks: on one host 1, or 3 under a sanitizer.
int fewer_rounds();
/// Returns how often to run a loop that runs `count` times on one host without a sanitizer. Operations
/// between hosts take a hundred times as long as within a host, and between emulated hosts a thousand times.
template <typename Count>
Count rounds(Count count) {
  return std::max<Count>(count / static_cast<Count>(fewer_rounds()), 4);
}

/// The kinds of memory that other ranks can access: of the heap (rma_malloc), or registered (rma_register).
enum class Remote { window, registered };
/// The kinds of local memory: unknown to the library, of the heap, or registered.
enum class Local { plain, window, registered };
inline constexpr std::initializer_list<Remote> kRemotes = {Remote::window, Remote::registered};
inline constexpr std::initializer_list<Local> kLocals = {Local::plain, Local::window, Local::registered};
const char* name(Remote kind);
const char* name(Local kind);

/// The ways in which a transfer completes: at its return, by its request, or by a fence.
enum class Mode { blocking, request, implicit };
inline constexpr std::initializer_list<Mode> kModes = {Mode::blocking, Mode::request, Mode::implicit};
const char* name(Mode mode);

/// Memory of `bytes` bytes at every member of a team. The constructor and the destructor are collective
/// over the team.
class Memory {
 public:
  Memory(Remote kind, std::size_t bytes, rma_team_t team = rma_team_world());
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// Returns the memory's address at a member. Only the library may use it, unless it is this rank's.
  [[nodiscard]] std::byte* at(int team_rank) const {
    return static_cast<std::byte*>(addresses_[static_cast<std::size_t>(team_rank)]);
  }
  [[nodiscard]] std::span<std::byte> mine() const { return mine_; }

 private:
  Remote kind_;
  rma_team_t team_;
  std::vector<std::byte> own_;  // used if kind_ is registered
  std::vector<void*> addresses_;
  std::span<std::byte> mine_;
};

/// Memory for the local side of a transfer.
class Buffer {
 public:
  Buffer(Local kind, std::size_t bytes);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }
  [[nodiscard]] std::byte* data() const { return bytes_.data(); }

 private:
  Local kind_;
  std::vector<std::byte> own_;
  std::span<std::byte> bytes_;
};

/// Memory in which each rank has a slice of its own at every target, and a model of that slice. Only this
/// rank writes to its slices, so the model is sequential.
class Slices {
 public:
  /// Returns the initial contents of a slice.
  using Fill = std::function<void(Random&, std::span<std::byte>)>;
  static void random_bytes(Random& random, std::span<std::byte> bytes) { random.fill(bytes); }

  /// Collective.
  Slices(Remote kind, std::size_t bytes, const Fill& fill = random_bytes);

  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// Returns the address of this rank's slice at `target`.
  [[nodiscard]] std::byte* at(int target) const {
    return memory_.at(target) + static_cast<std::size_t>(me()) * bytes_;
  }
  [[nodiscard]] std::span<std::byte> model(int target) { return models_[static_cast<std::size_t>(target)]; }

  /// Checks that every slice holds the contents of its model, including the guard bytes between transfers:
  /// first by a get, then at the owner, who compares checksums with the others. Collective.
  void check();

 private:
  std::size_t bytes_;
  Memory memory_;
  std::vector<std::vector<std::byte>> models_;
};

/// Issues an operation to `rank` by the form that belongs to the mode, and completes it. `arguments` are the
/// arguments before the rank.
template <typename Blocking, typename WithRequest, typename Implicit, typename... Arguments>
void run(Mode mode, int rank, Blocking blocking, WithRequest with_request, Implicit implicit,
         Arguments... arguments) {
  rma_request_t request = 77;  // a value that no wait accepts
  switch (mode) {
    case Mode::blocking:
      EXPECT_TRUE(ok(blocking(arguments..., rank)));
      break;
    case Mode::request:
      EXPECT_TRUE(ok(with_request(arguments..., rank, &request)));
      EXPECT_TRUE(ok(rma_wait(&request)));
      break;
    case Mode::implicit:
      EXPECT_TRUE(ok(implicit(arguments..., rank)));
      EXPECT_TRUE(ok(rma_fence(rank)));
      break;
  }
}

/// Calls work(local kind, mode, target) for this many rounds with each kind of local memory.
template <typename Work>
void each_round(int rounds_of_each, Remote remote, Random& random, const Work& work) {
  for (const Local local : kLocals) {
    for (int round = 0; round < rounds_of_each; ++round) {
      const Mode mode = random.pick(kModes);
      const int target = static_cast<int>(random.below(static_cast<std::size_t>(ranks())));
      SCOPED_TRACE(testing::Message() << name(remote) << ", " << name(local) << ", " << name(mode)
                                      << ", rank " << target << ", round " << round);
      work(local, mode, target);
    }
  }
}

/// Returns every rank's value, by rank. Collective.
template <typename T>
std::vector<T> gather(const T& mine, rma_team_t team = rma_team_world()) {
  int size = 0;
  EXPECT_TRUE(ok(rma_team_info(team, nullptr, &size)));
  std::vector<T> all(static_cast<std::size_t>(size));
  EXPECT_TRUE(ok(rma_allgather(team, all.data(), &mine, sizeof mine)));
  return all;
}

/// Returns the index of the first byte that differs, for the text of a failure; the size if none differs.
std::size_t first_difference(std::span<const std::byte> one, std::span<const std::byte> other);

}  // namespace multi
