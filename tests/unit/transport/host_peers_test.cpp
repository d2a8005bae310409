#include "transport/shm/host_peers.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "../../scratch_directory.hpp"
#include "../forked.hpp"
#include "transport/shm/host_meeting.hpp"

namespace librma::transport {
namespace {

using testing::HasSubstr;

constexpr std::size_t at(Handed kind) { return static_cast<std::size_t>(kind); }

FileIdentity identity(int file) {
  struct stat about {};
  EXPECT_EQ(fstat(file, &about), 0);
  return {.device = about.st_dev, .inode = about.st_ino};
}

/// One process of a host, or one that a thread plays: a window, a segment and a wakeup.
struct Member {
  Member(int number, const std::vector<int>& locals, const std::string& directory = {})
      : rank(number),
        window(memfd_create("window", MFD_CLOEXEC)),
        segment(memfd_create("segment", MFD_CLOEXEC)),
        wakeup(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        peers(number, locals, directory) {
    EXPECT_TRUE(peers.open().ok());
    EXPECT_TRUE(peers.offer(Handed::window, window.get()).ok());
    EXPECT_TRUE(peers.offer(Handed::segment, segment.get()).ok());
    EXPECT_TRUE(peers.offer(Handed::wakeup, wakeup.get()).ok());
  }
  [[nodiscard]] Status meet(std::vector<HostPeers::Partner> partners) {
    return peers.meet(partners, [this](int its_rank, HostPeer& peer) {
      windows[its_rank] = identity(peer.file(Handed::window));
      peer.close(Handed::window);
      return Status();
    });
  }

  const int rank;
  const Descriptor window;
  const Descriptor segment;
  const Descriptor wakeup;
  HostPeers peers;
  std::map<int, FileIdentity> windows;
};

/// Members in threads of this process.
class HostMeetingTest : public testing::Test {
 protected:
  void open(int count, const std::string& directory = {}) {
    std::vector<int> locals;
    for (int i = 0; i < count; ++i) locals.push_back(3 * i);
    for (const int rank : locals) members.push_back(std::make_unique<Member>(rank, locals, directory));
  }
  [[nodiscard]] std::vector<HostPeers::Partner> partners_of(const Member& member) const {
    std::vector<HostPeers::Partner> partners;
    for (const auto& other : members) {
      if (other->rank != member.rank) partners.push_back({.rank = other->rank, .card = other->peers.card()});
    }
    return partners;
  }
  /// All members meet. Returns their outcomes.
  std::vector<Status> meet() {
    std::vector<Status> outcomes(members.size());
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < members.size(); ++i) {
      threads.emplace_back(
          [this, &outcomes, i] { outcomes[i] = members[i]->meet(partners_of(*members[i])); });
    }
    for (std::thread& thread : threads) thread.join();
    return outcomes;
  }
  void expect_all_met() {
    for (const Status& status : meet()) EXPECT_TRUE(status.ok()) << status.text();
    for (const auto& member : members) {
      for (const auto& other : members) {
        const HostPeer* const peer = member->peers.find(other->rank);
        ASSERT_NE(peer, nullptr);
        EXPECT_EQ(identity(peer->file(Handed::segment)), identity(other->segment.get()));
        EXPECT_EQ(peer->process, getpid());
        EXPECT_FALSE(member->peers.ended(other->rank));
        if (other == member) continue;
        EXPECT_EQ(member->windows.at(other->rank), identity(other->window.get()));
      }
    }
  }
  /// Connects with a member as a stranger does.
  static Descriptor stranger(const HostCard& card) {
    Descriptor made(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
    const std::size_t name = strnlen(card.name.data(), card.name.size());
    std::memcpy(address.sun_path + 1, card.name.data(), name);
    EXPECT_EQ(connect(made.get(), reinterpret_cast<const sockaddr*>(&address),
                      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name)),
              0);
    return made;
  }

  std::vector<std::unique_ptr<Member>> members;
};

TEST_F(HostMeetingTest, AllHandTheirFilesToAll) {
  for (const int count : {1, 2, 3, 20}) {
    SCOPED_TRACE(count);
    members.clear();
    open(count);
    expect_all_met();
  }
}

TEST_F(HostMeetingTest, FilesServeInsteadOfNames) {
  const ScratchDirectory directory;
  open(5, directory.path().string());
  for (const auto& member : members) EXPECT_EQ(member->peers.card().name[0], '\0');
  expect_all_met();
  EXPECT_TRUE(std::filesystem::is_empty(directory.path())) << "no file is left";
}

TEST_F(HostMeetingTest, AnEventfdWakesItsOwner) {
  open(2);
  expect_all_met();
  const std::uint64_t one = 1;
  ASSERT_EQ(write(members[0]->peers.find(3)->file(Handed::wakeup), &one, sizeof one), 8);
  pollfd event = {.fd = members[1]->wakeup.get(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&event, 1, 0), 1);
}

TEST_F(HostMeetingTest, StrangersAreRefusedAndHarmNobody) {
  open(3);
  const HostMeeting::Words wrong[] = {
      {},
      {.secret = members[0]->peers.card().secret, .rank = 77, .kinds = 0},
      {.secret = members[0]->peers.card().secret, .rank = 0, .kinds = 0},
      {.secret = members[0]->peers.card().secret, .rank = 3, .kinds = 0},
      {.magic = 1, .secret = members[0]->peers.card().secret, .rank = 3, .kinds = 0},
      {.secret = {1, 2}, .rank = 3, .kinds = 0},
      {.secret = members[0]->peers.card().secret, .rank = 3, .kinds = UINT32_MAX}};
  std::vector<Descriptor> calls;
  for (const HostMeeting::Words& words : wrong) {
    calls.push_back(stranger(members[0]->peers.card()));
    ASSERT_EQ(send(calls.back().get(), &words, sizeof words, MSG_NOSIGNAL), ssize_t{sizeof words});
  }
  calls.push_back(stranger(members[0]->peers.card()));  // says too little
  ASSERT_EQ(send(calls.back().get(), "x", 1, MSG_NOSIGNAL), 1);
  calls.push_back(stranger(members[0]->peers.card()));  // says nothing
  stranger(members[0]->peers.card());                   // goes away
  expect_all_met();
}

TEST_F(HostMeetingTest, FilesThatTheCardDoesNotNameAreRefused) {
  open(2);
  const Descriptor other(memfd_create("other", MFD_CLOEXEC));
  HostPeers::Partner forged = {.rank = 3, .card = members[1]->peers.card()};
  forged.card.files[at(Handed::window)] = identity(other.get());
  Status outcome;
  std::thread caller([&] { outcome = members[1]->meet(partners_of(*members[1])); });
  // Rank 0 refuses rank 3, which learns of it; then it waits for rank 3, which has gone.
  const Status status = members[0]->meet({forged});
  caller.join();
  EXPECT_EQ(outcome.code(), RMA_ERR_PEER_LOST);
  EXPECT_EQ(status.code(), RMA_ERR_PEER_LOST);
}

TEST_F(HostMeetingTest, WhoEndsBeforeItCallsIsLost) {
  open(1);
  Member& first = *members[0];
  struct Shared {
    HostCard card;
    std::atomic<int> ready;
  };
  const SharedWithForked<Shared> shared;
  Forked child([&] {
    const Member gone(3, {0, 3});
    shared->card = gone.peers.card();
    shared->ready = 1;
    return true;
  });
  ASSERT_TRUE(comes_true([&] { return shared->ready == 1; }));
  const std::vector<int> both = {0, 3};
  HostPeers peers(0, both);
  ASSERT_TRUE(peers.open().ok());
  const HostPeers::Partner partner = {.rank = 3, .card = shared->card};
  const Status status = peers.meet({&partner, 1}, [](int, HostPeer&) { return Status(); });
  EXPECT_EQ(status.code(), RMA_ERR_PEER_LOST) << status.text();
  EXPECT_TRUE(child.ended_well());
  EXPECT_TRUE(first.meet({}).ok());
}

TEST_F(HostMeetingTest, ItsEndIsSeenWithAndWithoutPidfds) {
  struct Shared {
    std::array<HostCard, 2> cards;
    std::atomic<int> step;
  };
  const std::vector<int> both = {0, 3};
  for (const bool pidfds : {true, false}) {
    SCOPED_TRACE(pidfds);
    const SharedWithForked<Shared> shared;
    const auto use = [](int, HostPeer&) { return Status(); };
    Forked child([&] {
      HostPeers peers(3, both);
      if (!peers.open().ok()) return false;
      if (!pidfds) peers.withhold(Handed::process);
      shared->cards[1] = peers.card();
      shared->step = 1;
      if (!comes_true([&] { return shared->step == 2; })) return false;
      const HostPeers::Partner partner = {.rank = 0, .card = shared->cards[0]};
      if (!peers.meet({&partner, 1}, use).ok()) return false;
      return comes_true([&] { return shared->step == 3; });
    });
    HostPeers peers(0, both);
    ASSERT_TRUE(peers.open().ok());
    shared->cards[0] = peers.card();
    ASSERT_TRUE(comes_true([&] { return shared->step == 1; }));
    shared->step = 2;
    const HostPeers::Partner partner = {.rank = 3, .card = shared->cards[1]};
    ASSERT_TRUE(peers.meet({&partner, 1}, use).ok());
    EXPECT_EQ(peers.find(3)->file(Handed::process) >= 0, pidfds);
    EXPECT_FALSE(peers.ended(3));
    shared->step = 3;
    EXPECT_TRUE(child.ended_well());
    EXPECT_TRUE(peers.ended(3));
  }
}

TEST_F(HostMeetingTest, TooFewDescriptorsAreAnErrorThatNamesTheLimit) {
  Forked child([this] {
    open(2);
    rlimit limit = {};
    getrlimit(RLIMIT_NOFILE, &limit);
    const int next = fcntl(0, F_DUPFD_CLOEXEC, 0);
    limit.rlim_cur = limit.rlim_max =
        static_cast<rlim_t>(next) + 6;  // self has three, each connection needs more
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
    const std::vector<Status> outcomes = meet();
    return std::ranges::any_of(outcomes, [](const Status& status) {
      return status.code() == RMA_ERR_NO_MEMORY && status.text().find("ulimit -n") != std::string_view::npos;
    });
  });
  EXPECT_TRUE(child.ended_well());
}

}  // namespace
}  // namespace librma::transport
