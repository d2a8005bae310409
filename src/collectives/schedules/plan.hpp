#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <vector>

namespace rma {

/// One step of a collective operation, as one member executes it.
struct PlanStep {
  enum class Kind : std::uint8_t {
    send,     ///< starts to send `bytes` bytes at `from` to `member`
    receive,  ///< starts to receive `bytes` bytes from `member` at `to`
    wait,     ///< waits for all sends and receives that were started
    copy,     ///< copies `bytes` bytes
    reduce,   ///< performs to[i] = from[i] op to[i] for `bytes` elements
    compare  ///< compares `bytes` records of the members' calls at `from`; ends the plan if they do not agree
  };
  Kind kind = Kind::wait;
  int member = 0;
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  std::size_t bytes = 0;
};

/// A collective operation as a list of steps that one member executes in their order. The messages from one
/// member to another match the receives in the order of both lists. Whoever makes a plan (plans.hpp) sees to
/// it that the lists of all members fit together.
class Plan {
 public:
  Plan(int member, int members) : member_(member), members_(members) {}

  [[nodiscard]] int member() const { return member_; }
  [[nodiscard]] int members() const { return members_; }
  /// Returns the member at this distance above this one, or below it if the distance is negative. The
  /// distance is less than the number of members.
  [[nodiscard]] int at(int distance) const { return (member_ + distance + members_) % members_; }
  [[nodiscard]] std::span<const PlanStep> steps() const { return steps_; }
  /// Returns the largest number of sends and receives between two waits.
  [[nodiscard]] std::size_t most_at_once() const;

  // These add a step. No message is sent, and nothing is copied or combined, if there are no data: both sides
  // know that.
  void send(int to, const std::byte* data, std::size_t bytes) {
    if (bytes != 0) signal(to, data, bytes);
  }
  void receive(int from, std::byte* data, std::size_t bytes) {
    if (bytes != 0) await(from, data, bytes);
  }
  void wait() {
    if (!steps_.empty() && steps_.back().kind != PlanStep::Kind::wait) steps_.push_back({});
  }
  void copy(std::byte* to, const std::byte* from, std::size_t bytes) {
    if (bytes == 0 || to == from) return;
    steps_.push_back({.kind = PlanStep::Kind::copy, .to = to, .from = from, .bytes = bytes});
  }
  void reduce(const std::byte* in, std::byte* inout, std::size_t elements) {
    if (elements == 0) return;
    steps_.push_back({.kind = PlanStep::Kind::reduce, .to = inout, .from = in, .bytes = elements});
  }
  /// Adds the comparison of the members' records, in the order of team ranks.
  void compare(const std::byte* records) {
    steps_.push_back(
        {.kind = PlanStep::Kind::compare, .from = records, .bytes = static_cast<std::size_t>(members_)});
  }
  /// Add a message that is sent even if it is empty.
  void signal(int to, const std::byte* data = nullptr, std::size_t bytes = 0) {
    steps_.push_back({.kind = PlanStep::Kind::send, .member = to, .from = data, .bytes = bytes});
  }
  void await(int from, std::byte* data = nullptr, std::size_t bytes = 0) {
    steps_.push_back({.kind = PlanStep::Kind::receive, .member = from, .to = data, .bytes = bytes});
  }

  /// Adds the steps of another plan, which some members make among themselves: its member i is members[i] of
  /// this plan. The other plan's memory becomes this one's. Throws std::bad_alloc.
  void append(Plan part, std::span<const int> members);

  /// Returns memory for `bytes` bytes, aligned to 64, that lives as long as the plan. Throws std::bad_alloc.
  [[nodiscard]] std::byte* scratch(std::size_t bytes);

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(std::byte* memory) const { ::operator delete(memory, kAlignment); }
  };

  int member_;
  int members_;
  std::vector<PlanStep> steps_;
  std::vector<std::unique_ptr<std::byte, Free>> scratch_;
};

}  // namespace rma
