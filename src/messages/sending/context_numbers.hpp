#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "messages/matching/contexts.hpp"
#include "messages/rings/envelope.hpp"
#include "messages/sending/outbox.hpp"
#include "util/tables/number_pool.hpp"

namespace librma {

/// The numbers of objects that several ranks share and whose messages have contexts of their own
/// (drawn_numbers.hpp): communicators of MPI. One member, the *owner*, draws the number. It is drawn again
/// when no message that was sent under it can arrive any more. protocols.md ("Freed communicators") has the
/// proof.
///
/// Each member gives the number back when it is done with it. From then on the member forgets what comes
/// under the number. By a *flush* of its paths to the other members it learns that they have taken in all it
/// has sent. Then it tells the owner. When all members have, the owner lets them all *renew* the number,
/// which ends the forgetting. The number is free when they have answered. Flushes are made for many numbers
/// at once. Thread-safe.
class ContextNumbers {
 public:
  /// Forgets the messages of a context that no receive will take, as Arrivals::discard().
  using Discard = std::function<void(MessageContext& context, std::uint32_t number)>;

  /// The references outlive this.
  ContextNumbers(int rank, int ranks, ContextTable& contexts, Outbox& outbox, Discard discard);

  /// Returns a number that no other object of the job has, or no value if all of this process are in use.
  [[nodiscard]] std::optional<std::uint32_t> draw();
  /// Returns whether a rank of the job may have drawn the number.
  [[nodiscard]] bool exists(std::uint32_t number) const { return number / pool_.size() < to_flush_.size(); }
  /// Says that this process, one of `ranks`, is done with a number: it sends nothing under it, and its sends
  /// and receives under it have ended. Every one of the ranks says so once. Throws std::bad_alloc; then, and
  /// if one of the ranks is lost, the number is never drawn again.
  void give_back(std::uint32_t number, std::span<const int> ranks);

  /// Takes in a message of MessageType::numbers. Returns false if no honest rank sends it.
  [[nodiscard]] bool take_in(const Arrival& arrival);
  /// Forgets what a lost rank has not answered. The numbers that wait for that are never drawn again.
  void lose(int rank);
  /// Sends nothing any more, because this process leaves the job.
  void stop() { stopped_.store(true, std::memory_order_release); }

  /// At most so many numbers wait for the next flush.
  static constexpr std::uint32_t kMostWaiting = 64;

 private:
  /// A number that this process has given back.
  struct GivenBack {
    std::uint32_t number = 0;
    std::uint32_t members = 0;
  };
  /// A number that this process could not retire yet.
  struct InUse {
    std::uint32_t number = 0;
    std::vector<int> ranks;
  };
  /// The numbers of one flush, and the ranks that have not answered it.
  struct Flush {
    std::vector<GivenBack> numbers;
    std::vector<int> awaited;
  };
  /// The owner's record of a number that members have given back: these members, or once all have, those that
  /// have not answered the order to renew it.
  struct Returning {
    std::uint32_t members = 0;
    bool renewing = false;
    std::vector<int> ranks;
  };

  [[nodiscard]] int owner_of(std::uint32_t number) const { return static_cast<int>(number / pool_.size()); }
  [[nodiscard]] bool retire(std::uint32_t number);
  /// Adds a number that is retired to those of the next flush. Returns whether these are enough for one.
  [[nodiscard]] bool add(std::uint32_t number, std::span<const int> ranks);
  /// Retires and adds the numbers that could not be retired before.
  void try_again();
  void flush();
  /// Tells the owners about numbers whose flush is over.
  void report(std::vector<GivenBack> numbers);
  /// Sends behind all messages that this process has sent to the rank, which may be itself.
  void send_on_path(int rank, const NumbersHead& head);
  /// Does the same, or takes the message in if the rank is this one.
  void send(int rank, const NumbersHead& head);

  [[nodiscard]] bool take_in(int source, const NumbersHead& head);
  void take_in_flushed(int source, std::uint32_t flush);
  [[nodiscard]] bool take_in_returned(int source, const NumbersHead& head);
  [[nodiscard]] bool take_in_renew(int source, const NumbersHead& head);
  [[nodiscard]] bool take_in_renewed(int source, const NumbersHead& head);

  const int rank_;
  ContextTable& contexts_;
  Outbox& outbox_;
  const Discard discard_;
  NumberPool pool_;
  const std::uint32_t most_waiting_;
  std::atomic<bool> stopped_ = false;

  std::mutex lock_;                 ///< guards the members below; not held while anything is sent
  std::vector<InUse> in_use_;       ///< flush() tries again
  std::vector<GivenBack> waiting_;  ///< for the next flush
  std::vector<bool> to_flush_;      ///< by rank: it is a member of one of these
  std::map<std::uint32_t, Flush> flushes_;
  std::uint32_t next_flush_ = 0;
  std::map<std::uint32_t, Returning> returning_;
};

}  // namespace librma
