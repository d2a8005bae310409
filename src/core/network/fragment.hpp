#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include "core/completion/requests.hpp"
#include "fabric/registrar.hpp"
#include "fabric/registration_cache.hpp"
#include "transport/transport.hpp"

namespace librma {

class BouncePool;

/// A contiguous transfer between this process's memory and a part of a rank's memory that lies in one
/// registration.
struct Span {
  transport::Direction direction = transport::Direction::write;
  std::uintptr_t remote = 0;
  std::byte* local = nullptr;
  std::size_t bytes = 0;
  RailKeys remote_keys = {};
  RailKeys local_keys = {};  ///< valid if the local part is registered
  /// The rank keeps the remote part registered until it ends, or until the transfer has: see Completions.
  bool lasts = false;

  /// Takes the first `count` bytes off this span and returns them.
  [[nodiscard]] Span split(std::size_t count) {
    Span first = *this;
    first.bytes = count;
    remote += count;
    local += count;
    bytes -= count;
    return first;
  }
};

/// A fragment of a transfer: one signaled work request, from before it is posted until its completion. Says
/// what the completion has to do, and holds what the request needs until then.
struct Fragment {
  int rank = -1;
  Span span = {};
  rma_request_t operation = RMA_REQUEST_NULL;  ///< the fragment's operation; null if its put has returned
  CompletionContext* context = nullptr;        ///< in which the fragment is counted if it has no operation
  BouncePool* pool = nullptr;                  ///< the pool that `buffer` goes back to
  std::byte* buffer = nullptr;
  std::byte* copy_to = nullptr;  ///< the program's memory that gets the data of a get from the buffer
  std::shared_ptr<RegistrationCache::Use> use = nullptr;  ///< the local memory's registration
  bool movable = false;      ///< may go to another rail, because nobody can have seen its effect yet
  Fragment* next = nullptr;  ///< in the list of FragmentPool or of a FragmentQueue

  [[nodiscard]] transport::Cookie cookie() { return reinterpret_cast<std::uintptr_t>(this); }
  [[nodiscard]] static Fragment& of(transport::Cookie cookie) {
    return *reinterpret_cast<Fragment*>(cookie);  // NOLINT(performance-no-int-to-ptr): cookie() made it
  }

  /// Returns the work request for `rail`, except for its local part.
  [[nodiscard]] transport::Work work(std::size_t rail) {
    return {.direction = span.direction,
            .remote = {.address = span.remote, .key = span.remote_keys[rail]},
            .pieces = {},
            .cookie = cookie(),
            .flags = {}};
  }
  [[nodiscard]] transport::Local local(std::size_t rail) const {
    return {.address = span.local, .bytes = span.bytes, .key = span.local_keys[rail]};
  }
};

/// Fragments in the order in which they came. push() needs no memory, because a thread that takes in
/// completions calls it and must lose none of them. A fragment is in one list at most. Not thread-safe.
class FragmentQueue {
 public:
  void push(Fragment& fragment) {
    fragment.next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = &fragment;
    last_ = &fragment;
  }
  /// Takes all fragments out. Returns the first one, to which the others are linked, or null.
  [[nodiscard]] Fragment* take_all() { return std::exchange(first_, nullptr); }

 private:
  Fragment* first_ = nullptr;
  Fragment* last_ = nullptr;  ///< valid if first_ is not null
};

/// Reuses fragments. A fragment never changes its address, because the cookie of its work request is that
/// address. Thread-safe.
class FragmentPool {
 public:
  /// Throws std::bad_alloc.
  [[nodiscard]] Fragment& take() {
    const std::lock_guard guard(lock_);
    if (free_ == nullptr) return fragments_.emplace_back();
    return *std::exchange(free_, free_->next);
  }
  /// Takes the fragment back. Also ends its use of a registration. Needs no memory.
  void give(Fragment& fragment) {
    fragment.use.reset();
    const std::lock_guard guard(lock_);
    fragment.next = std::exchange(free_, &fragment);
  }

 private:
  std::mutex lock_;
  std::deque<Fragment> fragments_;
  Fragment* free_ = nullptr;  ///< the one that came back last
};

}  // namespace librma
