#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

#include "transport/transport.hpp"
#include "util/tables/fifo.hpp"

namespace librma::transport {

/// The number of operations to each peer that can be under way whether there is memory or not.
inline constexpr std::size_t kOfiSpare = 16;

/// The program's operations to one peer that are not complete, in the order of posting. A write without data
/// is complete when all before it are. As each of these is complete at the peer, the empty write need not be
/// sent: it rides on them. Thread-safe.
class OfiOrder {
 public:
  /// Makes room for some operations, so that some can always be under way. Returns false if there is no
  /// memory.
  [[nodiscard]] bool make_room() {
    const std::lock_guard guard(lock_);
    return entries_.reserve(kOfiSpare);
  }
  /// Adds an operation that is about to be posted. Returns its number; no value if there is no memory.
  [[nodiscard]] std::optional<std::uint64_t> add() {
    const std::lock_guard guard(lock_);
    if (!entries_.reserve(entries_.size() + 1)) return std::nullopt;
    entries_.push_back({});
    return first_ + entries_.size() - 1;
  }
  /// Adds an empty write. Returns false if nothing is under way, the peer has failed, or there is no memory.
  [[nodiscard]] bool ride(Cookie cookie) {
    const std::lock_guard guard(lock_);
    if (entries_.empty() || failed_ || !entries_.reserve(entries_.size() + 1)) return false;
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
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      Entry& entry = entries_[i];
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
  Fifo<Entry> entries_;
  std::uint64_t first_ = 0;  ///< the number of the first entry
  bool failed_ = false;
};

}  // namespace librma::transport
