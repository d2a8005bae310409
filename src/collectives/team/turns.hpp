#pragma once

#include <condition_variable>
#include <mutex>

#include "collectives/team/team_registry.hpp"

namespace librma {

/// Makes threads of one process that create teams with the same key do so one after the other. Members find
/// each other by the key, so two threads of a process with one key would be confused. Thread-safe. Allocates
/// no memory, so a thread for which none is left still meets the other members and tells them.
class Turns {
 public:
  /// A thread's turn, which lasts as long as the object. Turns with the same key come in the order in which
  /// threads asked.
  class Turn {
   public:
    /// Waits until every turn with this key that was asked for earlier has ended.
    Turn(Turns& turns, const TeamKey& key) noexcept : turns_(turns), key_(key) {
      std::unique_lock guard(turns_.lock_);
      earlier_ = turns_.last_;
      if (earlier_ != nullptr) earlier_->later_ = this;
      turns_.last_ = this;
      turns_.ended_.wait(guard, [&] { return is_first(); });
    }
    ~Turn() {
      {
        const std::lock_guard guard(turns_.lock_);
        if (earlier_ != nullptr) earlier_->later_ = later_;
        (later_ != nullptr ? later_->earlier_ : turns_.last_) = earlier_;
      }
      turns_.ended_.notify_all();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    /// Returns whether no earlier turn has the same key. The caller holds the lock.
    [[nodiscard]] bool is_first() const {
      for (const Turn* each = earlier_; each != nullptr; each = each->earlier_) {
        if (each->key_ == key_) return false;
      }
      return true;
    }

    Turns& turns_;
    const TeamKey key_;
    Turn* earlier_ = nullptr;  ///< the earlier turn in the list of all turns; the lock guards it
    Turn* later_ = nullptr;    ///< the later turn in the list; the lock guards it
  };

 private:
  std::mutex lock_;
  Turn* last_ = nullptr;  ///< the last turn of the list
  std::condition_variable ended_;
};

}  // namespace librma
