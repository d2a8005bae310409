#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "collectives/schedules/team_carrier.hpp"

// Messages between threads that take the place of a team's processes.

namespace librma::testing_threads {

/// The messages of all members on their way. Short ones are copied when they are sent, and long ones when
/// they are received, from the sender's buffer.
class Network {
 public:
  static constexpr std::size_t kEager = 64;

  static constexpr int kNobody = -1;

  explicit Network(int members) : revokers_(static_cast<std::size_t>(members), kNobody) {}
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  /// A member ends: it no longer sends or receives.
  void lose(int member) {
    const std::lock_guard guard(lock_);
    lost_.insert(member);
    for (auto& [way, queue] : queues_) {
      if (way.first == member) std::erase_if(queue, [](const auto& one) { return one.data != nullptr; });
    }
    changed_.notify_all();
  }

  /// Returns the number of messages and of revocations that nobody has received.
  [[nodiscard]] std::size_t left(int member) {
    const std::lock_guard guard(lock_);
    std::size_t count = revokers_[static_cast<std::size_t>(member)] == kNobody ? 0 : 1;
    for (const auto& [way, queue] : queues_) count += way.second == member ? queue.size() : 0;
    return count;
  }

 private:
  friend class ThreadTeamCarrier;

  struct Message {
    int tag = 0;
    std::vector<std::byte> copy;
    const void* data = nullptr;  ///< null: `copy` holds the data
    std::size_t bytes = 0;
    std::uint64_t number = 0;
  };
  [[nodiscard]] static Status lost_member(int member) {
    return {RMA_ERR_PEER_LOST, "member " + std::to_string(member) + " was lost by the test"};
  }

  std::mutex lock_;  // guards the members below
  std::condition_variable changed_;
  std::map<std::pair<int, int>, std::deque<Message>> queues_;  ///< by sender and receiver
  std::set<int> lost_;
  std::vector<int> revokers_;              ///< by member: the first that has revoked the group there
  std::set<std::pair<int, int>> revoked_;  ///< by revoker and member
  std::uint64_t sent_ = 0;
  std::set<std::uint64_t> under_way_;  ///< numbers of long messages that were not received
};

/// One member's end of the network.
class ThreadTeamCarrier final : public TeamCarrier {
 public:
  static constexpr int kForEver = -1;

  /// The member ends instead of its message number `life`, counted from 0.
  ThreadTeamCarrier(Network& network, int me, int life = kForEver)
      : network_(network), me_(me), life_(life) {}

  [[nodiscard]] Status start(int member, int tag, const void* data, std::size_t bytes,
                             Sending& sending) override {
    sending.member = member;
    sending.send.reset();
    if (!lives_on()) return Network::lost_member(me_);
    const std::lock_guard guard(network_.lock_);
    if (network_.lost_.contains(member)) return Network::lost_member(member);
    if (network_.revoked_.contains({member, me_})) return revoked_here(member);
    Network::Message message = {
        .tag = tag, .copy = {}, .data = nullptr, .bytes = bytes, .number = ++network_.sent_};
    if (bytes <= Network::kEager) {
      const auto* const from = static_cast<const std::byte*>(data);
      message.copy.assign(from, from + bytes);
    } else {
      message.data = data;
      network_.under_way_.insert(message.number);
      sending.send.emplace().name = message.number;
    }
    network_.queues_[{me_, member}].push_back(std::move(message));
    network_.changed_.notify_all();
    return {};
  }

  [[nodiscard]] Status finish(Sending& sending) override {
    if (!sending.send) return {};
    const std::uint64_t number = sending.send->name;
    sending.send.reset();
    const int to = sending.member;
    std::unique_lock guard(network_.lock_);
    const auto over = [&] { return !network_.under_way_.contains(number); };
    const auto given_up = [&] {
      return network_.lost_.contains(to) || network_.lost_.contains(me_) ||
             network_.revoked_.contains({to, me_});
    };
    network_.changed_.wait(guard, [&] { return over() || given_up(); });
    if (over()) return {};
    network_.under_way_.erase(number);
    std::erase_if(network_.queues_[{me_, to}], [&](const auto& one) { return one.number == number; });
    return network_.lost_.contains(to) ? Network::lost_member(to) : revoked_here(to);
  }

  [[nodiscard]] Status receive(int member, int& tag, void* data, std::size_t bytes) override {
    if (!lives_on()) return Network::lost_member(me_);
    std::unique_lock guard(network_.lock_);
    auto& queue = network_.queues_[{member, me_}];
    auto found = queue.end();
    const auto here = [&] {
      found = std::find_if(queue.begin(), queue.end(),
                           [&](const auto& one) { return tag == kAnyTag || one.tag == tag; });
      return found != queue.end();
    };
    const auto revoked = [&] {
      return network_.revokers_[static_cast<std::size_t>(me_)] != Network::kNobody;
    };
    network_.changed_.wait(guard, [&] { return here() || network_.lost_.contains(member) || revoked(); });
    if (!here()) return network_.lost_.contains(member) ? Network::lost_member(member) : revoked_here(member);
    if (found->bytes != bytes) return {RMA_ERR_TRUNCATED, "a message of another size"};
    if (bytes != 0) std::memcpy(data, found->data != nullptr ? found->data : found->copy.data(), bytes);
    tag = found->tag;
    network_.under_way_.erase(found->number);
    queue.erase(found);
    network_.changed_.notify_all();
    return {};
  }

  [[nodiscard]] Status usable() override {
    const int first = revoker();
    return first == Network::kNobody ? Status() : give_up(revoked_here(first), first);
  }
  [[nodiscard]] Status give_up(Status failure, int /*member*/) override {
    const std::lock_guard guard(network_.lock_);
    if (network_.lost_.contains(me_)) return failure;
    for (std::size_t member = 0; member < network_.revokers_.size(); ++member) {
      if (static_cast<int>(member) != me_) network_.revoked_.insert({me_, static_cast<int>(member)});
      int& first = network_.revokers_[member];
      if (first == Network::kNobody) first = me_;
    }
    network_.changed_.notify_all();
    return failure;
  }
  [[nodiscard]] int revoker() {
    const std::lock_guard guard(network_.lock_);
    return network_.revokers_[static_cast<std::size_t>(me_)];
  }

 private:
  [[nodiscard]] bool lives_on() {
    if (life_ == 0) {
      network_.lose(me_);
      return false;
    }
    if (life_ > 0) --life_;
    return true;
  }
  [[nodiscard]] static Status revoked_here(int member) {
    return {RMA_ERR_PEER_LOST, "given up, as member " + std::to_string(member) + " knows"};
  }

  Network& network_;
  const int me_;
  int life_;
};

}  // namespace librma::testing_threads
