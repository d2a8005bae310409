#pragma once

#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "loopback/loopback_transport.hpp"

namespace librma {

/// A loopback that executes work when it is polled, not when it is posted, as a device does: in the order
/// of posting, some items at a time. So tests notice data that is reused too early, and an order that two
/// rails do not keep. It can break, as a connection does. Then accepted work that was not executed ends
/// with RMA_ERR_PEER_LOST, also if it is unsignaled. After the first such completion was polled, later
/// posts are refused. Thread-safe.
class SlowRail final : public transport::Transport {
 public:
  SlowRail(std::unique_ptr<transport::LoopbackTransport> inner, std::string name, std::uint64_t seed)
      : inner_(std::move(inner)), name_(std::move(name)), random_(seed) {}

  /// From now on, peers do not answer to connect().
  void connect_to_nobody() { silent_ = true; }

  /// From now on, each poll executes between 0 and `most` items of work.
  void do_at_most(std::size_t most) {
    const std::lock_guard guard(lock_);
    at_most_ = most;
  }
  /// Breaks after `count` more items of work.
  void break_after(std::size_t count) {
    const std::lock_guard guard(lock_);
    left_ = count;
    if (count == 0) breaking_ = true;
  }
  /// Work that is posted and not executed yet.
  [[nodiscard]] std::size_t waiting() {
    const std::lock_guard guard(lock_);
    return queue_.size();
  }
  [[nodiscard]] std::uint64_t done() const { return inner_->posts(); }
  [[nodiscard]] transport::LoopbackTransport& inner() { return *inner_; }

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] const transport::Limits& limits() const override { return inner_->limits(); }
  [[nodiscard]] Result<transport::Registration> register_memory(std::byte* address,
                                                                std::size_t bytes) override {
    return inner_->register_memory(address, bytes);
  }
  void deregister_memory(const transport::Registration& registration) override {
    inner_->deregister_memory(registration);
  }
  [[nodiscard]] std::span<const std::byte> card() const override { return inner_->card(); }
  [[nodiscard]] Status connect(int peer, std::span<const std::byte> card) override {
    if (silent_) return {RMA_ERR_PEER_LOST, "no answer"};
    return inner_->connect(peer, card);
  }
  void fail(int /*peer*/) override { break_after(0); }
  [[nodiscard]] rma_status_t post(int peer, std::span<const transport::Work> work,
                                  std::size_t* posted) override {
    const std::lock_guard guard(lock_);
    *posted = 0;
    for (const transport::Work& one : work) {
      Held held = {.peer = peer, .work = one, .silent = one.flags.unsignaled};
      held.pieces.assign(one.pieces.begin(), one.pieces.end());
      if (one.flags.inline_data) {
        if (held.pieces[0].bytes > limits().max_inline) return RMA_ERR_SIZE;
        held.copy.assign(held.pieces[0].address, held.pieces[0].address + held.pieces[0].bytes);
      }
      if (const rma_status_t status = take(std::move(held)); status != RMA_SUCCESS) return status;
      ++*posted;
    }
    return RMA_SUCCESS;
  }
  [[nodiscard]] rma_status_t post_atomic(int peer, rma_atomic_op_t op, transport::Remote target,
                                         std::uint64_t operand, std::uint64_t compare, transport::Local old,
                                         transport::Cookie cookie) override {
    const std::lock_guard guard(lock_);
    Held held = {.peer = peer,
                 .work = {.remote = target, .pieces = {}, .cookie = cookie, .flags = {}},
                 .atomic = Atomic{op, operand, compare}};
    held.pieces.push_back(old);
    return take(std::move(held));
  }
  [[nodiscard]] std::uint32_t outstanding(int peer) override {
    const std::lock_guard guard(lock_);
    std::uint32_t count = 0;
    for (const Held& held : queue_) count += held.peer == peer ? 1 : 0;
    for (const transport::Completion& completion : ready_) count += completion.peer == peer ? 1 : 0;
    return count;
  }
  [[nodiscard]] std::size_t poll(std::span<transport::Completion> completions) override {
    const std::lock_guard guard(lock_);
    work_some();
    std::size_t filled = 0;
    while (filled < completions.size() && !ready_.empty()) {
      broken_ = broken_ || ready_.front().status != RMA_SUCCESS;
      completions[filled++] = ready_.front();
      ready_.pop_front();
    }
    return filled;
  }
  [[nodiscard]] int event_fd() const override { return -1; }
  [[nodiscard]] bool arm() override { return true; }

 private:
  struct Atomic {
    rma_atomic_op_t op;
    std::uint64_t operand;
    std::uint64_t compare;
  };
  struct Held {
    int peer = -1;
    transport::Work work = {};
    std::vector<transport::Local> pieces = {};
    std::vector<std::byte> copy = {};  ///< of inline data
    std::optional<Atomic> atomic = {};
    bool silent = false;  ///< its success is not reported
  };

  rma_status_t take(Held held) {
    if (broken_) return RMA_ERR_PEER_LOST;
    if (queue_.size() >= limits().max_outstanding) return RMA_ERR_STATE;
    queue_.push_back(std::move(held));
    return RMA_SUCCESS;
  }

  void work_some() {
    std::size_t most = queue_.size();
    if (at_most_ != kAll) most = random_() % (at_most_ + 1);
    for (; !queue_.empty() && (most > 0 || breaking_); --most) {
      Held held = std::move(queue_.front());
      queue_.pop_front();
      if (breaking_) {
        end(held, RMA_ERR_PEER_LOST);
        continue;
      }
      do_now(held);
      if (left_ != kAll && --left_ == 0) breaking_ = true;
    }
  }

  void do_now(Held& held) {
    held.work.pieces = held.pieces;
    if (!held.copy.empty()) held.pieces[0].address = held.copy.data();
    held.work.flags.unsignaled = false;
    std::size_t posted = 0;
    const transport::Work& work = held.work;
    const rma_status_t refused =
        held.atomic ? inner_->post_atomic(held.peer, held.atomic->op, work.remote, held.atomic->operand,
                                          held.atomic->compare, held.pieces[0], work.cookie)
                    : inner_->post(held.peer, {&work, 1}, &posted);
    transport::Completion completion;
    const std::size_t ended = inner_->poll({&completion, 1});
    const rma_status_t status = ended == 1 ? completion.status : refused;
    if (status != RMA_SUCCESS) breaking_ = true;  // an error ends a connection
    end(held, status);
  }

  void end(const Held& held, rma_status_t status) {
    if (status == RMA_SUCCESS && held.silent) return;
    ready_.push_back({.cookie = held.work.cookie, .peer = held.peer, .status = status, .bytes = 0});
  }

  static constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
  const std::unique_ptr<transport::LoopbackTransport> inner_;
  const std::string name_;
  bool silent_ = false;  ///< set before any connection
  std::mutex lock_;      ///< of the following
  std::mt19937_64 random_;
  std::size_t at_most_ = kAll;
  std::size_t left_ = kAll;
  bool breaking_ = false;  ///< accepted work ends with an error
  bool broken_ = false;    ///< posts are refused as well
  std::deque<Held> queue_;
  std::deque<transport::Completion> ready_;
};

}  // namespace librma
