#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <vector>

namespace librma {

/// One step of a collective operation, as one member executes it.
struct PlanStep {
  enum class Kind : std::uint8_t {
    send,     ///< starts to send `bytes` bytes at `from` to `member`
    receive,  ///< starts to receive `bytes` bytes from `member` at `to`
    wait,     ///< waits for all sends and receives that were started
    copy,     ///< copies `bytes` bytes
    reduce,   ///< performs to[i] = from[i] op to[i] for `bytes` elements
    /// Compares `bytes` records of the members' calls at `from`. Ends the plan if they do not agree.
    compare,
    // The next three need members that have announced memory of one layout to each other. `to` is the place
    // in this member's memory that corresponds to the one in `member`'s.
    put,        ///< adds `bytes` bytes at `from` to what the next flag step writes to `member`
    flag,       ///< writes what was put, and behind it `bytes`, as a word of 64 bits, to `to`
    await_flag  ///< waits until the word at `from`, which `member` writes, is at least `bytes`
  };
  Kind kind = Kind::wait;
  int member = 0;
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  std::size_t bytes = 0;
};
static_assert(sizeof(std::size_t) == sizeof(std::uint64_t), "`bytes` holds the value of a flag");

/// Executes the steps of a plan as they are added, so that the plan keeps none.
class PlanExecutor {
 public:
  PlanExecutor() = default;
  PlanExecutor(const PlanExecutor&) = delete;
  PlanExecutor& operator=(const PlanExecutor&) = delete;
  virtual void execute(const PlanStep& step) = 0;
  /// Returns memory for `bytes` bytes, aligned to 64, until the plan ends.
  [[nodiscard]] virtual std::byte* scratch(std::size_t bytes) = 0;
  /// All scratch of one plan together has at most this size.
  static constexpr std::size_t kMostScratch = std::size_t{64} << 10U;

 protected:
  ~PlanExecutor() = default;
};

/// A collective operation as a list of steps that one member executes in their order. The messages from one
/// member to another match the receives in the order of both lists. The maker of a plan (plans.hpp) sees to
/// it that the lists of all members fit together.
class Plan {
 public:
  /// `executor`, if it is not null, gets the steps and outlives the plan.
  Plan(int member, int members, PlanExecutor* executor = nullptr)
      : member_(member), members_(members), executor_(executor) {}

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
    if (executor_ != nullptr || (!steps_.empty() && steps_.back().kind != PlanStep::Kind::wait)) add({});
  }
  void copy(std::byte* to, const std::byte* from, std::size_t bytes) {
    if (bytes == 0 || to == from) return;
    add({.kind = PlanStep::Kind::copy, .to = to, .from = from, .bytes = bytes});
  }
  void reduce(const std::byte* in, std::byte* inout, std::size_t elements) {
    if (elements == 0) return;
    add({.kind = PlanStep::Kind::reduce, .to = inout, .from = in, .bytes = elements});
  }
  /// Adds the comparison of the members' records, in the order of team ranks.
  void compare(const std::byte* records) {
    add({.kind = PlanStep::Kind::compare, .from = records, .bytes = static_cast<std::size_t>(members_)});
  }
  /// Add a message that is sent even if it is empty.
  void signal(int to, const std::byte* data = nullptr, std::size_t bytes = 0) {
    add({.kind = PlanStep::Kind::send, .member = to, .from = data, .bytes = bytes});
  }
  void await(int from, std::byte* data = nullptr, std::size_t bytes = 0) {
    add({.kind = PlanStep::Kind::receive, .member = from, .to = data, .bytes = bytes});
  }

  // These add puts and flags. A member that sees the flag sees what was put before it. Puts wait for nothing.
  void put(int to, std::byte* there, const std::byte* data, std::size_t bytes) {
    add({.kind = PlanStep::Kind::put, .member = to, .to = there, .from = data, .bytes = bytes});
  }
  void raise(int to, std::uint64_t& there, std::uint64_t value) {
    add({.kind = PlanStep::Kind::flag,
         .member = to,
         .to = reinterpret_cast<std::byte*>(&there),
         .bytes = std::size_t{value}});
  }
  void await_flag(int from, const std::uint64_t& flag, std::uint64_t value) {
    add({.kind = PlanStep::Kind::await_flag,
         .member = from,
         .from = reinterpret_cast<const std::byte*>(&flag),
         .bytes = std::size_t{value}});
  }

  /// Adds the steps of another plan, which some members make among themselves: its member i is members[i] of
  /// this plan. The other plan's memory becomes this one's. Throws std::bad_alloc.
  void append(Plan part, std::span<const int> members);

  /// Returns memory for `bytes` bytes, aligned to 64, that lives as long as the plan. Throws std::bad_alloc.
  [[nodiscard]] std::byte* scratch(std::size_t bytes);
  /// All scratch together has at most this size.
  [[nodiscard]] std::size_t most_scratch() const {
    return executor_ != nullptr ? PlanExecutor::kMostScratch : SIZE_MAX;
  }

 private:
  void add(const PlanStep& step) {
    if (executor_ != nullptr) {
      executor_->execute(step);
    } else {
      steps_.push_back(step);
    }
  }

  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(std::byte* memory) const { ::operator delete(memory, kAlignment); }
  };

  int member_;
  int members_;
  PlanExecutor* executor_;
  std::vector<PlanStep> steps_;
  std::vector<std::unique_ptr<std::byte, Free>> scratch_;
};

}  // namespace librma
