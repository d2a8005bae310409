#include "transport/shm/cma_transport.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <numeric>
#include <vector>

namespace librma::transport {
namespace {

/// Memory pages without a file behind them. The destructor unmaps them.
class Pages {
 public:
  explicit Pages(std::size_t count) : bytes_(count * page()) {
    void* const at = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at != MAP_FAILED) base_ = static_cast<std::byte*>(at);
  }
  ~Pages() { munmap(base_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  static std::size_t page() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }
  [[nodiscard]] std::byte* base() const { return base_; }
  /// Unmaps the pages from this one on.
  void cut(std::size_t from_page) const {
    ASSERT_EQ(munmap(base_ + from_page * page(), bytes_ - from_page * page()), 0);
  }

 private:
  std::size_t bytes_;
  std::byte* base_ = nullptr;
};

/// Does fork() with a chosen process number. Returns -1 if this process lacks the right to do so.
pid_t fork_as(pid_t number) {
  clone_args how = {};
  how.exit_signal = SIGCHLD;
  how.set_tid = reinterpret_cast<std::uintptr_t>(&number);
  how.set_tid_size = 1;
  return static_cast<pid_t>(syscall(SYS_clone3, &how, sizeof how));
}

/// A copy of this process that does nothing until it is ended.
class Child {
 public:
  Child() : Child(fork()) {}
  explicit Child(pid_t forked) : process_(forked) {
    if (process_ != 0) {
      peer_.process = process_;
      peer_.files[static_cast<std::size_t>(Handed::process)] =
          Descriptor(static_cast<int>(syscall(SYS_pidfd_open, process_, 0)));
      return;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (true) pause();
  }
  ~Child() { end(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  [[nodiscard]] pid_t process() const { return process_; }
  [[nodiscard]] const HostPeer& peer() const { return peer_; }
  [[nodiscard]] std::vector<std::byte> card() const { return CmaTransport::card_of(peer_); }
  void end() {
    if (process_ <= 0) return;
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    process_ = -1;
  }

 private:
  pid_t process_;
  HostPeer peer_;
};

class Cma : public testing::Test {
 protected:
  static constexpr int kSelf = 0;
  static constexpr int kChild = 1;

  void SetUp() override {
    // This asks the system itself, so that available() is tested too.
    char to = 0;
    char from = 1;
    const iovec here = {.iov_base = &to, .iov_len = 1};
    const iovec there = {.iov_base = &from, .iov_len = 1};
    if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) != 1) {
      GTEST_SKIP() << "this system forbids process_vm_readv";
    }
    ASSERT_TRUE(CmaTransport::available());
    ASSERT_TRUE(cma.connect(kSelf, cma.card()).ok());
    std::iota(mine.begin(), mine.end(), 1);
  }

  [[nodiscard]] Local local(std::size_t offset, std::size_t bytes) {
    return {.address = reinterpret_cast<std::byte*>(mine.data() + offset), .bytes = bytes, .key = 0};
  }
  static Remote remote(const void* address) {
    return {.address = reinterpret_cast<std::uintptr_t>(address), .key = 0};
  }
  /// These return the status of the operation's only completion, and check that no other follows.
  rma_status_t write(int peer, const void* to, const std::vector<Local>& pieces) {
    EXPECT_EQ(cma.post_write(peer, remote(to), pieces, 7, {}), RMA_SUCCESS);
    return outcome(peer, 7);
  }
  rma_status_t read(int peer, const std::vector<Local>& pieces, const void* from) {
    EXPECT_EQ(cma.post_read(peer, pieces, remote(from), 8, {}), RMA_SUCCESS);
    return outcome(peer, 8);
  }
  rma_status_t outcome(int peer, Cookie cookie) {
    std::array<Completion, 2> completions;
    EXPECT_EQ(cma.poll(completions), 1U);
    EXPECT_EQ(completions[0].cookie, cookie);
    EXPECT_EQ(completions[0].peer, peer);
    return completions[0].status;
  }

  CmaTransport cma{2, true};
  std::array<unsigned char, 64> mine = {};
};

TEST_F(Cma, MovesBytesWithinItsOwnProcess) {
  std::array<unsigned char, 64> other = {};
  EXPECT_EQ(write(kSelf, &other[10], {local(0, 5), local(20, 3)}), RMA_SUCCESS);
  EXPECT_EQ(std::memcmp(&other[10], &mine[0], 5), 0);
  EXPECT_EQ(std::memcmp(&other[15], &mine[20], 3), 0);
  EXPECT_EQ(other[9], 0);
  EXPECT_EQ(other[18], 0);
  other.fill(99);
  EXPECT_EQ(read(kSelf, {local(60, 4), local(0, 1)}, &other[0]), RMA_SUCCESS);
  EXPECT_EQ(mine[60], 99);
  EXPECT_EQ(mine[0], 99);
  EXPECT_EQ(mine[1], 2);
}

TEST_F(Cma, ReadsAndWritesAnotherProcess) {
  const Pages pages(1);
  ASSERT_NE(pages.base(), nullptr);
  std::memset(pages.base(), 5, 16);
  const Child child;
  ASSERT_GT(child.process(), 0);
  ASSERT_TRUE(cma.connect(kChild, child.card()).ok());
  EXPECT_EQ(write(kChild, pages.base(), {local(0, 8)}), RMA_SUCCESS);
  EXPECT_EQ(pages.base()[0], std::byte{5}) << "ours is a copy";
  EXPECT_EQ(read(kChild, {local(30, 16)}, pages.base()), RMA_SUCCESS);
  EXPECT_EQ(std::memcmp(&mine[30], &mine[0], 8), 0);
  EXPECT_EQ(mine[38], 5);
  EXPECT_EQ(mine[45], 5);
}

TEST_F(Cma, WhatIsNotMappedThereIsAnAddressError) {
  const Pages pages(2);
  ASSERT_NE(pages.base(), nullptr);
  pages.cut(1);
  std::byte* const end = pages.base() + Pages::page();
  const Child child;
  ASSERT_GT(child.process(), 0);
  ASSERT_TRUE(cma.connect(kChild, child.card()).ok());
  for (const int peer : {kSelf, kChild}) {
    SCOPED_TRACE(peer);
    EXPECT_EQ(read(peer, {local(0, 8)}, end), RMA_ERR_ADDRESS);
    EXPECT_EQ(write(peer, end, {local(0, 8)}), RMA_ERR_ADDRESS);
    EXPECT_EQ(read(peer, {local(0, 8)}, end - 4), RMA_ERR_ADDRESS) << "the second half is not mapped";
    EXPECT_EQ(write(peer, end - 4, {local(0, 8)}), RMA_ERR_ADDRESS);
    EXPECT_EQ(read(peer, {local(0, 8)}, nullptr), RMA_ERR_ADDRESS);
    EXPECT_EQ(read(peer, {local(0, 8)}, end - 8), RMA_SUCCESS);
  }
}

TEST_F(Cma, AProcessThatEndedIsLost) {
  Child child;
  ASSERT_GT(child.process(), 0);
  ASSERT_TRUE(cma.connect(kChild, child.card()).ok());
  EXPECT_EQ(read(kChild, {local(0, 8)}, mine.data()), RMA_SUCCESS);
  child.end();
  EXPECT_EQ(read(kChild, {local(0, 8)}, mine.data()), RMA_ERR_PEER_LOST);
  EXPECT_EQ(write(kChild, mine.data(), {local(0, 8)}), RMA_ERR_PEER_LOST);
  EXPECT_EQ(read(kSelf, {local(0, 8)}, mine.data()), RMA_SUCCESS) << "the others go on";
}

TEST_F(Cma, AnotherProcessWithThePeersNumberIsNotThePeer) {
  const Pages pages(1);
  ASSERT_NE(pages.base(), nullptr);
  pages.base()[0] = std::byte{77};
  Child peer;
  const pid_t number = peer.process();
  ASSERT_GT(number, 0);
  ASSERT_TRUE(cma.connect(kChild, peer.card()).ok());
  peer.end();
  const Child other(fork_as(number));
  if (other.process() < 0) GTEST_SKIP() << "this process may not choose the number of another";
  ASSERT_EQ(other.process(), number);
  EXPECT_EQ(read(kChild, {local(0, 1)}, pages.base()), RMA_ERR_PEER_LOST);
  EXPECT_EQ(write(kChild, pages.base(), {local(1, 1)}), RMA_ERR_PEER_LOST);
  std::byte there = {};
  const iovec to = {.iov_base = &there, .iov_len = 1};
  const iovec from = {.iov_base = pages.base(), .iov_len = 1};
  ASSERT_EQ(process_vm_readv(number, &to, 1, &from, 1, 0), 1);
  EXPECT_EQ(there, std::byte{77}) << "it was written to";
}

TEST_F(Cma, AProcessThatHasEndedIsNotConnected) {
  Child child;
  child.end();
  const Status status = cma.connect(kChild, child.card());
  EXPECT_EQ(status.code(), RMA_ERR_PEER_LOST);
  EXPECT_NE(status.text().find("has ended"), std::string_view::npos) << status.text();
  EXPECT_EQ(read(kChild, {local(0, 8)}, mine.data()), RMA_ERR_PEER_LOST);
}

TEST_F(Cma, AProcessWithoutANumberHereIsOutOfReach) {
  HostPeer elsewhere = {.process = 0, .files = {}, .connection = {}};
  const Child child;
  elsewhere.files[static_cast<std::size_t>(Handed::process)] =
      Descriptor(fcntl(child.peer().file(Handed::process), F_DUPFD_CLOEXEC, 0));
  EXPECT_EQ(cma.connect(kChild, CmaTransport::card_of(elsewhere)).code(), RMA_ERR_UNSUPPORTED);
  const Local piece = local(0, 8);
  EXPECT_EQ(cma.post_read(kChild, {&piece, 1}, remote(mine.data()), 1, {}), RMA_ERR_UNSUPPORTED);
  EXPECT_EQ(cma.post_write(kChild, remote(mine.data()), {&piece, 1}, 1, {}), RMA_ERR_UNSUPPORTED);
}

TEST_F(Cma, APeerThatWasNeverConnectedIsLost) {
  EXPECT_EQ(read(kChild, {local(0, 8)}, mine.data()), RMA_ERR_PEER_LOST);
}

TEST_F(Cma, OnlyFailuresOfUnsignalledOperationsComplete) {
  std::array<unsigned char, 64> other = {};
  const Local piece = local(0, 8);
  ASSERT_EQ(cma.post_write(kSelf, remote(other.data()), {&piece, 1}, 1, {.unsignaled = true}), RMA_SUCCESS);
  EXPECT_TRUE(cma.arm());
  EXPECT_EQ(other[7], 8);
  ASSERT_EQ(cma.post_write(kSelf, remote(nullptr), {&piece, 1}, 2, {.unsignaled = true}), RMA_SUCCESS);
  EXPECT_FALSE(cma.arm());
  EXPECT_EQ(outcome(kSelf, 2), RMA_ERR_ADDRESS);
  EXPECT_TRUE(cma.arm());
}

TEST_F(Cma, CompletionsWaitForPollInOrder) {
  for (const Cookie cookie : {4U, 5U, 6U}) {
    const Local piece = local(0, 1);
    ASSERT_EQ(cma.post_read(kSelf, {&piece, 1}, remote(mine.data()), cookie, {}), RMA_SUCCESS);
  }
  std::array<Completion, 2> completions;
  ASSERT_EQ(cma.poll(completions), 2U);
  EXPECT_EQ(completions[0].cookie, 4U);
  EXPECT_EQ(completions[1].cookie, 5U);
  ASSERT_EQ(cma.poll(completions), 1U);
  EXPECT_EQ(completions[0].cookie, 6U);
  EXPECT_EQ(cma.poll(completions), 0U);
}

TEST_F(Cma, ItsLimitsAreKept) {
  const std::vector<Local> most(cma.limits().max_gather, local(0, 1));
  std::array<unsigned char, 256> other = {};
  EXPECT_EQ(write(kSelf, other.data(), most), RMA_SUCCESS);
  EXPECT_EQ(other[most.size() - 1], 1);
  const std::vector<Local> too_many(cma.limits().max_gather + 1, local(0, 1));
  EXPECT_EQ(cma.post_write(kSelf, remote(other.data()), too_many, 1, {}), RMA_ERR_ARGUMENT);
  const Local too_long = {.address = local(0, 0).address, .bytes = cma.limits().max_message + 1, .key = 0};
  EXPECT_EQ(cma.post_read(kSelf, {&too_long, 1}, remote(other.data()), 1, {}), RMA_ERR_SIZE);
  std::array<Completion, 1> none;
  EXPECT_EQ(cma.poll(none), 0U);
}

TEST(CmaContract, RefusesEverythingWhenNotAllowed) {
  CmaTransport cma(1, false);
  EXPECT_EQ(cma.connect(0, cma.card()).code(), RMA_ERR_UNSUPPORTED);
  EXPECT_EQ(cma.connect(0, cma.card()).code(), RMA_ERR_UNSUPPORTED) << "again";
  std::array<std::byte, 8> bytes = {};
  const Local piece = {.address = bytes.data(), .bytes = 8, .key = 0};
  const Remote there = {.address = reinterpret_cast<std::uintptr_t>(bytes.data()), .key = 0};
  EXPECT_EQ(cma.post_write(0, there, {&piece, 1}, 1, {}), RMA_ERR_UNSUPPORTED);
  EXPECT_EQ(cma.post_read(0, {&piece, 1}, there, 1, {}), RMA_ERR_UNSUPPORTED);
  std::array<Completion, 1> none;
  EXPECT_EQ(cma.poll(none), 0U);
}

TEST(CmaContract, HasNoMessagesAtomicsOrKeys) {
  CmaTransport cma(1, true);
  std::array<std::byte, 8> bytes = {};
  const Local piece = {.address = bytes.data(), .bytes = 8, .key = 0};
  const Remote there = {.address = reinterpret_cast<std::uintptr_t>(bytes.data()), .key = 0};
  EXPECT_EQ(cma.message_endpoint(), nullptr);
  EXPECT_EQ(cma.post_atomic(0, RMA_FETCH_ADD, there, 1, 0, piece, 1), RMA_ERR_UNSUPPORTED);
  EXPECT_FALSE(cma.limits().atomics64);
  const auto registration = cma.register_memory(bytes.data(), bytes.size());
  ASSERT_TRUE(registration.ok());
  EXPECT_EQ(registration.value().bytes, bytes.size());
  cma.deregister_memory(registration.value());
}

TEST(CmaContract, ACardOfAnotherSizeIsRefused) {
  CmaTransport cma(1, true);
  EXPECT_EQ(cma.connect(0, std::vector<std::byte>(cma.card().size() - 1)).code(), RMA_ERR_LAUNCH);
  EXPECT_EQ(cma.connect(0, std::vector<std::byte>(cma.card().size() + 1)).code(), RMA_ERR_LAUNCH);
  EXPECT_EQ(cma.connect(0, {}).code(), RMA_ERR_LAUNCH);
  EXPECT_TRUE(cma.connect(0, cma.card()).ok());
  EXPECT_TRUE(cma.connect(0, cma.card()).ok()) << "connecting again changes nothing";
}

}  // namespace
}  // namespace librma::transport
