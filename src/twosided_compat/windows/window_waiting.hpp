#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rma/messages.h"
#include "rma/waits.h"
#include "twosided_compat/objects/library_failure.hpp"
#include "twosided_compat/windows/fair_lock.hpp"
#include "twosided_compat/windows/window.hpp"
#include "twosided_compat/windows/window_words.hpp"

namespace librma::mpi {

/// Returns MPI_ERR_PROC_ABORTED if one of the members has ended, else MPI_SUCCESS.
[[nodiscard]] int find_lost(const Members& members);

/// A wait for what another member does to a word: it releases a lock, posts or completes. The word may lie in
/// another process, so nobody wakes this one. It polls, lets other processes run, and naps when it has waited
/// long.
class WindowWait {
 public:
  /// The act of another member that ends the wait.
  enum class For : std::uint8_t {
    kLock,      ///< unlocks `member`
    kLockAll,   ///< ends MPI_Win_lock_all
    kLocks,     ///< unlocks members that it holds for itself
    kPost,      ///< `member` posts
    kComplete,  ///< `member` completes
    kUpdate     ///< ends an accumulate at `member`
  };
  WindowWait(const Window& win, For what, int member)
      : win_(win), members_(*win.members()), what_(what), member_(member) {}
  ~WindowWait();
  WindowWait(const WindowWait&) = delete;
  WindowWait& operator=(const WindowWait&) = delete;
  /// Passes some time, and makes progress of messages. Returns MPI_ERR_PROC_ABORTED if a member of the window
  /// has ended: it may be the one that the caller waits for.
  [[nodiscard]] int pause();

 private:
  /// Starts receives of messages that never come, from the members on other hosts. librma asks a rank that a
  /// receive awaits for signs of life, and so learns that the rank has ended.
  void watch_other_hosts();
  /// Ends the pauses without naps if they have taken long by the clock.
  void look_at_clock();
  /// Shows the wait to the launcher once it has become long, and again when others may have the lock.
  void show();
  /// Finds the members that the wait is for, and says in `about` what it is for.
  [[nodiscard]] std::vector<int> find_awaited(std::string& about) const;
  /// Returns the world ranks of the members that hold what this one waits for.
  [[nodiscard]] std::vector<int> find_holders() const;

  const Window& win_;
  const Members& members_;
  const For what_;
  const int member_;
  int pauses_ = 0;
  std::int64_t began_ = 0;  ///< of the first look, in nanoseconds of CLOCK_MONOTONIC, as the next two
  std::int64_t since_ = 0;  ///< of the first nap
  std::int64_t shown_at_ = 0;
  rma_shown_wait_t* shown_ = nullptr;
  std::vector<rma_request_t> watches_;
};

/// The words of a lock of a member, for fair_lock.
class LockWords {
 public:
  using Word = fair_lock::Word;
  /// As many turns of processes that run take about as long as the turn of one that the system must let run
  /// first.
  static constexpr Word kOvertakings = 256;
  class Wait : public WindowWait {
   public:
    explicit Wait(const LockWords& words)
        : WindowWait(words.win_, words.what_, words.win_.members()->rank_of(words.part_.rank)) {}
  };

  /// `what` says to people what a wait is for.
  LockWords(const Window& win, const WindowPart& part, FairLock WindowControl::*lock, WindowWait::For what)
      : win_(win),
        part_(part),
        lock_(&(reinterpret_cast<WindowControl*>(part.control)->*lock)),
        what_(what) {}
  [[nodiscard]] int add(std::uint64_t FairLock::*word, Word operand, Word& old) {
    return checked(update_word<Word>(RMA_FETCH_ADD, &(lock_->*word), operand, 0, old, part_.rank));
  }
  [[nodiscard]] int load(std::uint64_t FairLock::*word, Word& value) {
    return checked(update_word<Word>(RMA_FETCH, &(lock_->*word), 0, 0, value, part_.rank));
  }

 private:
  const Window& win_;
  const WindowPart& part_;
  FairLock* const lock_;
  const WindowWait::For what_;
};

}  // namespace librma::mpi
