// Cross memory attach when signals interrupt its system calls, and when the kernel copies less than it was
// asked for.

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "transport/shm/cma_transport.hpp"
#include "transport/shm/wakeup.hpp"

namespace {

/// What the system calls of this thread do. They do as the kernel's if nothing is set.
struct Disturbance {
  int interruptions = 0;        ///< so many calls end with EINTR first
  std::size_t most = SIZE_MAX;  ///< a copy ends after this many bytes, if it gets so far
  int copies = 0;               ///< copies that were asked for
};
thread_local Disturbance disturbance;

bool interrupted() {
  if (disturbance.interruptions == 0) return false;
  --disturbance.interruptions;
  errno = EINTR;
  return true;
}

ssize_t copy(long number, pid_t process, const iovec* local, unsigned long locals, const iovec* remote,
             unsigned long remotes, unsigned long flags) {
  ++disturbance.copies;
  if (interrupted()) return -1;
  std::vector<iovec> some;  // of this process's side: the kernel ends where either side does
  std::size_t left = disturbance.most;
  for (unsigned long i = 0; i < locals && left != 0; ++i) {
    some.push_back({.iov_base = local[i].iov_base, .iov_len = std::min(left, local[i].iov_len)});
    left -= some.back().iov_len;
  }
  return syscall(number, process, some.data(), some.size(), remote, remotes, flags);
}

}  // namespace

// In place of the C library's, for this whole program.
extern "C" int poll(pollfd* polled, nfds_t count, int timeout) {
  return interrupted() ? -1 : static_cast<int>(syscall(SYS_poll, polled, count, timeout));
}
extern "C" ssize_t process_vm_readv(pid_t process, const iovec* local, unsigned long locals,
                                    const iovec* remote, unsigned long remotes,
                                    unsigned long flags) noexcept {
  return copy(SYS_process_vm_readv, process, local, locals, remote, remotes, flags);
}
extern "C" ssize_t process_vm_writev(pid_t process, const iovec* local, unsigned long locals,
                                     const iovec* remote, unsigned long remotes,
                                     unsigned long flags) noexcept {
  return copy(SYS_process_vm_writev, process, local, locals, remote, remotes, flags);
}

namespace librma::transport {
namespace {

/// A process with itself as its peer, whose end it looks for by a pidfd.
class DisturbedCma : public testing::Test {
 protected:
  void SetUp() override {
    if (!CmaTransport::available()) GTEST_SKIP() << "this system forbids process_vm_readv";
    peer.process = getpid();
    peer.files[static_cast<std::size_t>(Handed::process)] =
        Descriptor(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
    ASSERT_TRUE(cma.connect(0, CmaTransport::card_of(peer)).ok());
    std::iota(mine.begin(), mine.end(), static_cast<unsigned char>(1));
  }
  void TearDown() override { disturbance = {}; }

  /// Posts one piece of work for each offset: `bytes` bytes at the offset of `mine` to or from that of
  /// `theirs`.
  [[nodiscard]] std::vector<rma_status_t> post(Direction direction, std::span<const std::size_t> offsets,
                                               std::size_t bytes) {
    std::vector<Local> pieces;
    std::vector<Work> work;
    for (const std::size_t offset : offsets) {
      pieces.push_back(
          {.address = reinterpret_cast<std::byte*>(mine.data() + offset), .bytes = bytes, .key = 0});
    }
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      work.push_back({.direction = direction,
                      .remote = {.address = reinterpret_cast<std::uintptr_t>(theirs + offsets[i]), .key = 0},
                      .pieces = {&pieces[i], 1},
                      .cookie = i + 1,
                      .flags = {}});
    }
    std::size_t posted = 0;
    EXPECT_EQ(cma.post(0, work, &posted), RMA_SUCCESS);
    EXPECT_EQ(posted, work.size());
    std::vector<Completion> completions(work.size() + 1);
    EXPECT_EQ(cma.poll(completions), work.size());
    std::vector<rma_status_t> statuses;
    for (std::size_t i = 0; i < work.size(); ++i) {
      EXPECT_EQ(completions[i].cookie, i + 1);
      statuses.push_back(completions[i].status);
    }
    return statuses;
  }

  /// Moves one piece that waits for no completion.
  rma_status_t move(Direction direction, std::uintptr_t address, std::span<std::byte> local) {
    CmaTransport::Pieces pieces(cma, 0, direction);
    EXPECT_TRUE(pieces.add(address, local));
    return pieces.move();
  }

  HostPeer peer;
  CmaTransport cma{1, true};
  std::vector<unsigned char> mine = std::vector<unsigned char>(40'000);
  std::vector<unsigned char> memory = std::vector<unsigned char>(40'000);
  unsigned char* theirs = memory.data();
};

TEST_F(DisturbedCma, PiecesShareSystemCalls) {
  constexpr std::size_t kPieces = 3000;  // three calls of 1024 pieces at most
  constexpr std::size_t kStride = 12;
  for (const std::size_t most : {SIZE_MAX, std::size_t{4000}}) {
    SCOPED_TRACE(most);
    std::fill(memory.begin(), memory.end(), static_cast<unsigned char>(0));
    disturbance = {.most = most};
    CmaTransport::Pieces pieces(cma, 0, Direction::read);
    for (std::size_t i = 0; i < kPieces; ++i) {
      const auto from = reinterpret_cast<std::uintptr_t>(mine.data() + i * kStride);
      ASSERT_TRUE(pieces.add(from, {reinterpret_cast<std::byte*>(theirs + i * kStride), kStride - 1}));
    }
    EXPECT_EQ(pieces.move(), RMA_SUCCESS);
    EXPECT_TRUE(most != SIZE_MAX || disturbance.copies == 3) << disturbance.copies << " calls";
    for (std::size_t i = 0; i < kPieces * kStride; ++i)
      ASSERT_EQ(memory[i], i % kStride == kStride - 1 ? 0 : mine[i]) << i;
  }
}

TEST_F(DisturbedCma, RandomPiecesMoveAsOneByOne) {
  const char* const asked = std::getenv("LIBRMA_TEST_SEED");
  const auto seed = static_cast<unsigned>(asked != nullptr ? std::strtoul(asked, nullptr, 0) : 31);
  SCOPED_TRACE(testing::Message() << "LIBRMA_TEST_SEED=" << seed);
  std::mt19937 random(seed);
  const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random() % limit); };
  for (int round = 0; round < 50; ++round) {
    const Direction direction = round % 2 == 0 ? Direction::read : Direction::write;
    std::fill(memory.begin(), memory.end(), static_cast<unsigned char>(0));
    std::vector<unsigned char> model = memory;
    disturbance = {.interruptions = static_cast<int>(below(3)), .most = 1 + below(20'000)};
    CmaTransport::Pieces pieces(cma, 0, direction);
    const std::size_t longest = 1 + below(200);
    // `memory` is read in order, and written in order: pieces may join on one side alone.
    for (std::size_t to = below(50); to + longest < memory.size();) {
      const std::size_t bytes = below(longest);
      const std::size_t from = below(mine.size() - longest);
      std::copy_n(mine.data() + from, bytes, model.data() + to);
      unsigned char* const there = direction == Direction::read ? mine.data() + from : theirs + to;
      unsigned char* const here = direction == Direction::read ? theirs + to : mine.data() + from;
      ASSERT_TRUE(
          pieces.add(reinterpret_cast<std::uintptr_t>(there), {reinterpret_cast<std::byte*>(here), bytes}));
      to += bytes + (below(3) == 0 ? 0 : below(10));
    }
    EXPECT_EQ(pieces.move(), RMA_SUCCESS);
    ASSERT_EQ(memory, model) << round;
  }
}

TEST_F(DisturbedCma, APieceThatIsNotReadableEndsTheRest) {
  // The failure comes with the call in the middle, and no call follows it.
  constexpr std::size_t kPieces = 3000;
  CmaTransport::Pieces pieces(cma, 0, Direction::read);
  std::size_t added = 0;
  for (; added < kPieces; ++added) {
    const auto from = added == 1500 ? 0 : reinterpret_cast<std::uintptr_t>(mine.data() + added * 12);
    if (!pieces.add(from, {reinterpret_cast<std::byte*>(theirs + added * 12), 8})) break;
  }
  EXPECT_EQ(added, 2048U) << "the piece that found no room in the second call";
  EXPECT_EQ(pieces.move(), RMA_ERR_ADDRESS);
  EXPECT_EQ(std::memcmp(theirs + 1499 * 12, mine.data() + 1499 * 12, 8), 0) << "earlier pieces are there";
  const int calls = disturbance.copies;
  EXPECT_FALSE(
      pieces.add(reinterpret_cast<std::uintptr_t>(mine.data()), {reinterpret_cast<std::byte*>(theirs), 8}));
  EXPECT_EQ(pieces.move(), RMA_ERR_ADDRESS);
  EXPECT_EQ(disturbance.copies, calls);
}

TEST_F(DisturbedCma, ASignalIsNotThePeersEnd) {
  std::array<std::byte, 8> into = {};
  const auto from = reinterpret_cast<std::uintptr_t>(mine.data());
  // A short copy makes it look at the peer, with a system call that a signal interrupts, too.
  for (int interruptions = 0; interruptions < 6; ++interruptions) {
    disturbance = {.interruptions = interruptions, .most = 5};
    EXPECT_EQ(move(Direction::read, from, into), RMA_SUCCESS) << interruptions;
    EXPECT_EQ(std::memcmp(into.data(), mine.data(), into.size()), 0);
    disturbance = {.interruptions = interruptions, .most = 5};
    EXPECT_EQ(move(Direction::write, reinterpret_cast<std::uintptr_t>(theirs), into), RMA_SUCCESS)
        << interruptions;
    EXPECT_EQ(std::memcmp(into.data(), theirs, into.size()), 0);
    into.fill({});
    std::fill_n(theirs, 8, static_cast<unsigned char>(0));
  }
  disturbance = {.interruptions = 3};
  ASSERT_GE(peer.end(), 0) << "this system has no pidfds";
  EXPECT_FALSE(has_ended(peer.end()));
  EXPECT_EQ(disturbance.interruptions, 0);
}

TEST_F(DisturbedCma, CopiesThatEndEarlyGoOn) {
  const std::array<std::size_t, 4> offsets = {0, 100, 101, 3000};
  for (const Direction direction : {Direction::write, Direction::read}) {
    for (std::size_t most = 1; most < 30; ++most) {
      std::iota(mine.begin(), mine.end(), static_cast<unsigned char>(most));
      std::ranges::fill(memory, static_cast<unsigned char>(200));
      disturbance = {.interruptions = static_cast<int>(most % 3), .most = most};
      const auto statuses = post(direction, offsets, 7);
      EXPECT_EQ(std::ranges::count(statuses, RMA_SUCCESS), 4) << most;
      for (const std::size_t offset : offsets) {
        EXPECT_EQ(std::memcmp(mine.data() + offset, theirs + offset, 7), 0) << most << " at " << offset;
      }
    }
  }
}

TEST_F(DisturbedCma, OneCallTakesAsManyPiecesAsTheKernel) {
  std::vector<std::size_t> offsets;
  for (std::size_t i = 0; i < 5000; ++i) offsets.push_back(8 * i);
  disturbance.copies = 0;
  const auto statuses = post(Direction::write, offsets, 4);
  EXPECT_EQ(std::ranges::count(statuses, RMA_SUCCESS), 5000);
  EXPECT_EQ(disturbance.copies, 5);
  for (const std::size_t offset : offsets)
    ASSERT_EQ(std::memcmp(mine.data() + offset, theirs + offset, 4), 0);
  // Neighbours are one piece.
  disturbance.copies = 0;
  EXPECT_EQ(std::ranges::count(post(Direction::read, offsets, 8), RMA_SUCCESS), 5000);
  EXPECT_EQ(disturbance.copies, 1);
}

TEST_F(DisturbedCma, ABadPieceInTheMiddleIsItsOwnFailureOnly) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  auto* const pages = static_cast<unsigned char*>(
      mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(static_cast<void*>(pages), MAP_FAILED);
  ASSERT_EQ(mprotect(pages + page, page, PROT_NONE), 0);
  theirs = pages;
  const std::array<std::size_t, 8> offsets = {0,         16,           page - 4, page,
                                              page + 64, 2 * page - 4, 2 * page, 2 * page + 16};
  const std::vector<rma_status_t> expected = {RMA_SUCCESS,     RMA_SUCCESS,     RMA_ERR_ADDRESS,
                                              RMA_ERR_ADDRESS, RMA_ERR_ADDRESS, RMA_ERR_ADDRESS,
                                              RMA_SUCCESS,     RMA_SUCCESS};
  for (const Direction direction : {Direction::write, Direction::read}) {
    EXPECT_EQ(post(direction, offsets, 8), expected);
    for (const std::size_t good : {std::size_t{0}, std::size_t{16}, 2 * page, 2 * page + 16}) {
      EXPECT_EQ(std::memcmp(mine.data() + good, pages + good, 8), 0);
    }
    std::ranges::fill(mine, static_cast<unsigned char>(77));
  }
  theirs = memory.data();
  munmap(pages, 3 * page);
}

}  // namespace
}  // namespace librma::transport
