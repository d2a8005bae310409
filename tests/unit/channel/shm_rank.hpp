#pragma once

#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "../counted.hpp"
#include "../forked.hpp"
#include "channel/channel.hpp"
#include "fabric/rails.hpp"
#include "transport/shm/shm_transport.hpp"

namespace librma {

inline constexpr std::size_t kShmMessage = 512;
inline constexpr int kMostRanks = 3;

/// The data that the ranks of a test share, besides messages.
struct ShmHost {
  std::array<std::array<std::byte, sizeof(transport::ShmCard)>, kMostRanks> cards;
  std::array<transport::HostCard, kMostRanks> hosts;
  std::atomic<int> opened;
  std::atomic<int> finished;
  std::atomic<std::uint64_t> rings;
  std::atomic<std::uint64_t> by_ring;
};

/// The ways in which a rank waits.
enum class Waiting : std::uint8_t { poll, sleep };

struct ShmShape {
  int ranks = 2;
  std::uint32_t messages = 0;  ///< from each rank to each other one
  std::uint32_t own = 3;
  std::uint32_t lent = 1;
  Waiting waiting = Waiting::poll;
  PollingSet::Policy polling = {.most = 0};
};

/// One rank with its channel. The messages from one rank to another are drawn from a seed, so that the
/// receiver knows them.
class ShmRank {
 public:
  ShmRank(ShmHost& host, const ShmShape& shape, int rank, std::uint64_t seed)
      : host_(host), shape_(shape), rank_(rank), processes_(rank, locals_of(shape)) {
    const Status ready = processes_.open();
    EXPECT_TRUE(ready.ok()) << ready.text();
    for (int peer = 0; peer < shape.ranks; ++peer) {
      to_.emplace_back(seed + static_cast<std::uint64_t>(rank * kMostRanks + peer));
      from_.emplace_back(seed + static_cast<std::uint64_t>(peer * kMostRanks + rank));
    }
    auto opened = transport::ShmTransport::open({.host = &processes_,
                                                 .rank = rank,
                                                 .locals = locals_of(shape),
                                                 .connect_timeout = std::chrono::seconds(60),
                                                 .segment_bytes = std::size_t{1} << 24U});
    EXPECT_TRUE(opened.ok()) << opened.status().text();
    std::ranges::copy(opened.value()->card(), host.cards[static_cast<std::size_t>(rank)].begin());
    host.hosts[static_cast<std::size_t>(rank)] = processes_.card();
    std::vector<std::unique_ptr<transport::Transport>> transports;
    transports.push_back(std::move(opened).value());
    rails_ = std::make_unique<Rails>(std::move(transports));
    auto channel = Channel::create(*rails_, shape.ranks,
                                   {.message_bytes = kShmMessage,
                                    .lent = shape.lent,
                                    .own = shape.own,
                                    .ring = {.slots = 4, .slot_bytes = 128},
                                    .polling = shape.polling});
    EXPECT_TRUE(channel.ok()) << channel.status().text();
    channel_ = std::move(channel).value();
    channel_->on_message(kKind, [this](const Message& message) { return check(message); });
    channel_->on_message(kOther, [this](const Message&) {
      ++received_;
      return true;
    });
    channel_->on_loss([this](int peer) { lost_.push_back(peer); });
  }

  [[nodiscard]] bool connect() {
    ++host_.opened;
    if (!comes_true([this] { return host_.opened == shape_.ranks; })) return false;
    std::vector<transport::HostPeers::Partner> partners;
    for (int peer = 0; peer < shape_.ranks; ++peer) {
      if (peer != rank_)
        partners.push_back({.rank = peer, .card = host_.hosts[static_cast<std::size_t>(peer)]});
    }
    const Status met = processes_.meet(partners, [](int, transport::HostPeer&) { return Status(); });
    if (!met.ok()) return ADD_FAILURE() << met.text(), false;
    for (int step = 1; step < shape_.ranks; ++step) {
      const int peer = (rank_ + step) % shape_.ranks;
      const Status status = (*rails_)[0].connect(peer, host_.cards[static_cast<std::size_t>(peer)]);
      if (!status.ok()) return ADD_FAILURE() << status.text(), false;
    }
    return true;
  }

  /// Sends all messages to all other ranks and receives all of theirs.
  [[nodiscard]] bool exchange() {
    const std::uint64_t all = std::uint64_t{shape_.messages} * static_cast<std::uint64_t>(shape_.ranks - 1);
    std::vector<std::uint32_t> sent(to_.size());
    std::vector<std::optional<Bytes>> next(to_.size());
    std::mt19937_64 random(7 + static_cast<std::uint64_t>(rank_));
    std::uint64_t sent_to_all = 0;
    while ((sent_to_all < all || received_ < all) && good()) {
      bool moved = false;
      for (int peer = 0; peer < shape_.ranks; ++peer) {
        const auto at = static_cast<std::size_t>(peer);
        // Sometimes one rank is ahead, and sometimes the other. A rank that can send does not sleep.
        for (std::uint64_t burst = 1 + random() % 16;
             burst > 0 && peer != rank_ && sent[at] < shape_.messages; --burst) {
          if (!next[at]) next[at] = draw(to_[at]);
          const rma_status_t status = channel_->try_send(peer, 0, kKind, *next[at], {});
          if (status == RMA_ERR_STATE) break;
          if (status != RMA_SUCCESS) return ADD_FAILURE() << "sending: " << status, false;
          next[at].reset();
          ++sent[at];
          ++sent_to_all;
          moved = true;
        }
      }
      moved = channel_->progress(Channel::Turn::wait) || moved;
      if (!moved && !wait()) return false;
    }
    return good() && finish();
  }

  [[nodiscard]] bool good() const { return wrong_ == 0 && lost_.empty(); }
  [[nodiscard]] const std::vector<int>& lost_peers() const { return lost_; }
  [[nodiscard]] Channel& channel() { return *channel_; }
  [[nodiscard]] std::uint64_t received() const { return received_; }

  bool check(const Message& message) {
    ++received_;
    const Bytes expected = draw(from_[static_cast<std::size_t>(message.peer)]);
    if (!std::ranges::equal(expected, message.body) && ++wrong_ == 1) {
      ADD_FAILURE() << "message " << received_ << " is from " << message.peer << " and wrong";
    }
    return true;
  }

  /// Waits as a helper thread does: only events wake it.
  [[nodiscard]] bool sleep() {
    const bool quiet = channel_->arm();
    if (!channel_->progress(Channel::Turn::wait) && quiet) {
      pollfd fd = {.fd = channel_->event_fds()[0], .events = POLLIN, .revents = 0};
      if (::poll(&fd, 1, 60'000) != 1) return ADD_FAILURE() << "nobody wakes rank " << rank_, false;
    }
    channel_->disarm();
    return true;
  }

  static constexpr std::uint16_t kKind = 1;
  /// Sends a message for the test's own purposes, whose contents are not checked.
  static constexpr std::uint16_t kOther = 2;

 private:
  using Bytes = std::vector<std::byte>;

  static std::vector<int> locals_of(const ShmShape& shape) {
    std::vector<int> locals(static_cast<std::size_t>(shape.ranks));
    std::iota(locals.begin(), locals.end(), 0);
    return locals;
  }

  /// Returns the next message of a sequence: mostly short, sometimes too long for a ring.
  static Bytes draw(std::mt19937_64& random) {
    const std::uint64_t most = random() % 8 == 0 ? kShmMessage - sizeof(MessageHeader) : 60;
    Bytes bytes(random() % (most + 1));
    std::uint64_t word = random();
    for (std::byte& byte : bytes) {
      byte = static_cast<std::byte>(word);
      word = word * 6364136223846793005U + 1442695040888963407U;
      word ^= word >> 32U;
    }
    return bytes;
  }

  [[nodiscard]] bool wait() {
    if (shape_.waiting == Waiting::sleep) return sleep();
    sched_yield();
    return true;
  }

  /// A rank that has received everything serves the others until they have, too.
  [[nodiscard]] bool finish() {
    host_.rings += counted(Counter::ring);
    host_.by_ring += counted(Counter::message_ring);
    if (++host_.finished == shape_.ranks) return true;
    return comes_true([this] {
      channel_->progress(Channel::Turn::wait);
      return host_.finished == shape_.ranks;
    });
  }

  ShmHost& host_;
  const ShmShape shape_;
  const int rank_;
  transport::HostPeers processes_;
  std::vector<std::mt19937_64> to_;
  std::vector<std::mt19937_64> from_;
  std::uint64_t received_ = 0;
  std::uint64_t wrong_ = 0;
  std::vector<int> lost_;
  std::unique_ptr<Rails> rails_;
  std::unique_ptr<Channel> channel_;
};

}  // namespace librma
