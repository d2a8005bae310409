#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>

#include "transport/transport.hpp"

namespace librma::transport {

/// The program's operations to one peer that are not complete, in the order of posting. A write without data
/// is complete when all before it are. As each of these is complete at the peer, the empty write need not be
/// sent: it rides on them. Thread-safe.
class OfiOrder {
 public:
  /// Adds an operation that is about to be posted. Returns its number.
  [[nodiscard]] std::uint64_t add() {
    const std::lock_guard guard(lock_);
    entries_.push_back({});
    return first_ + entries_.size() - 1;
  }
  /// Adds an empty write. Returns false if nothing is under way, or the peer has failed.
  [[nodiscard]] bool ride(Cookie cookie) {
    const std::lock_guard guard(lock_);
    if (entries_.empty() || failed_) return false;
    entries_.push_back({.cookie = cookie, .rides = true, .over = false});
    return true;
  }
  /// Records the end of an operation. Calls `complete(cookie)` for each empty write that is complete now.
  template <typename Complete>
  void end(std::uint64_t number, const Complete& complete) {
    const std::lock_guard guard(lock_);
    entries_[static_cast<std::size_t>(number - first_)].over = true;
    while (!entries_.empty() && (entries_.front().over || entries_.front().rides)) {
      if (!entries_.front().over) complete(entries_.front().cookie);
      entries_.pop_front();
      ++first_;
    }
  }
  /// The peer has failed. Calls `lost(cookie)` for each empty write.
  template <typename Lost>
  void fail(const Lost& lost) {
    const std::lock_guard guard(lock_);
    failed_ = true;
    for (Entry& entry : entries_) {
      if (!entry.rides || entry.over) continue;
      entry.over = true;
      lost(entry.cookie);
    }
  }

 private:
  struct Entry {
    Cookie cookie = 0;
    bool rides = false;  ///< is an empty write
    bool over = false;
  };
  std::mutex lock_;
  std::deque<Entry> entries_;
  std::uint64_t first_ = 0;  ///< the number of the first entry
  bool failed_ = false;
};

}  // namespace librma::transport
