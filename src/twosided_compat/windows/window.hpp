#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "mpi.h"
#include "rma/rma.h"
#include "twosided_compat/communicators/communicator.hpp"
#include "twosided_compat/objects/attributes.hpp"
#include "twosided_compat/objects/errors.hpp"
#include "twosided_compat/objects/found.hpp"
#include "twosided_compat/objects/info.hpp"
#include "twosided_compat/objects/places.hpp"
#include "twosided_compat/windows/fair_lock.hpp"
#include "util/range_check.hpp"

// Windows (MPI 4.1, chapter 12) over rma.h. The two memory models are one here (MPI_WIN_UNIFIED): a put
// stores into the memory that its owner's program reads.

namespace librma::mpi {

/// The block that each member keeps in its heap for the others. Two arrays of counters follow it
/// (Window::post_counter() and complete_counter()). Other processes change all of that, by atomic operations
/// or notifications only. Behind it is an array of Held, which only the member itself writes.
struct WindowControl {
  alignas(64) FairLock lock;          ///< of MPI_Win_lock; see window_locks.cpp
  alignas(64) FairLock all_locks;     ///< of member 0: of MPI_Win_lock_all
  alignas(64) FairLock accumulating;  ///< of accumulates; see window_accumulation.hpp
};

/// The mode in which a process holds the lock of a member. A process that waits for a lock for long reads it
/// to say for whom.
enum class Held : std::uint8_t { kNothing, kShared, kExclusive };

/// How this process may access the memory of a member, besides the epochs that concern all members.
enum class Access : std::uint8_t {
  kNone,
  kShared,     ///< MPI_Win_lock
  kExclusive,  ///< MPI_Win_lock
  kUnchecked,  ///< MPI_Win_lock with MPI_MODE_NOCHECK: no lock is held
  kStarted,    ///< MPI_Win_start
};

/// The memory of a process that interfaces share although it is not the heap's by its addresses: static data
/// of OpenSHMEM (rma_alias_range).
struct SharedData {
  std::uintptr_t begin = 0;  ///< in the address space of the owner
  std::size_t bytes = 0;
  std::uintptr_t in_heap = 0;  ///< where `begin` lies in the owner's heap; 0: the alias was refused

  [[nodiscard]] bool holds(std::uintptr_t address, std::size_t count) const {
    return range_contains(bytes, address - begin, count);
  }
  /// Returns the address by which all interfaces know the `count` bytes at `address`, whatever memory they
  /// are.
  [[nodiscard]] std::uintptr_t common_address(std::uintptr_t address, std::size_t count) const {
    return in_heap != 0 && holds(address, count) ? in_heap + (address - begin) : address;
  }
};

/// The memory of one member, as this process reaches it. Its size is a power of two, so a shift finds it by
/// its index.
struct alignas(128) WindowPart {
  std::uintptr_t base = 0;  ///< in the address space of `owner`; 0 in a dynamic window
  std::size_t bytes = 0;    ///< in a dynamic window: every address is inside
  std::size_t unit = 1;     ///< bytes of a displacement
  int owner = 0;            ///< the world rank whose memory it is: another one in a contiguous shared window
  int rank = 0;             ///< the world rank of the member
  std::byte* here = nullptr;     ///< where all of it is mapped in this process, or null
  std::size_t mapped_bytes = 0;  ///< `bytes` if it is mapped, else 0
  std::uintptr_t control = 0;    ///< the member's WindowControl, in its address space
  bool has_words = false;        ///< whether accumulates update words there; see window_accumulation.hpp
  bool is_dynamic = false;       ///< whether each address decides that, in a dynamic window
  /// Relaxed: a program that opens an epoch in one thread and uses it in another orders the two.
  std::atomic<Access> access = Access::kNone;
  SharedData data;  ///< in a dynamic window: the owner's

  /// Notes that all of it is mapped here. `bytes` is set.
  void map_at(std::byte* address) {
    here = address;
    mapped_bytes = bytes;
  }
};

/// The epoch of this process that concerns all members.
enum class Epoch : std::uint8_t {
  kNone,
  kFence,    ///< between two calls of MPI_Win_fence; it does not count until it is used
  kLockAll,  ///< between MPI_Win_lock_all and MPI_Win_unlock_all
  kLockAllUnchecked,
};

/// The state of generalized active target synchronization (MPI_Win_post, MPI_Win_start, MPI_Win_complete,
/// MPI_Win_wait and MPI_Win_test; MPI 4.1, 12.5.2).
struct ActiveTarget {
  explicit ActiveTarget(std::size_t members)
      : posts(members), starts(members), completes(members), waited(members) {}

  bool started = false;      ///< between MPI_Win_start and MPI_Win_complete
  bool posted = false;       ///< between MPI_Win_post and MPI_Win_wait
  unsigned tests = 0;        ///< calls of MPI_Win_test that found an epoch open
  std::int64_t looked = 0;   ///< when one of them looked whether a member has ended
  std::vector<int> targets;  ///< the members of MPI_Win_start
  std::vector<int> origins;  ///< the members of MPI_Win_post
  // By member: how often this process has posted to it, started to access it, completed that, and waited for
  // it.
  std::vector<std::uint64_t> posts;
  std::vector<std::uint64_t> starts;
  std::vector<std::uint64_t> completes;
  std::vector<std::uint64_t> waited;
};

/// The memory of this member that MPI_Win_free gives back.
struct OwnMemory {
  std::mutex attaching;                     ///< guards `attached`
  std::map<std::uintptr_t, bool> attached;  ///< memory of a dynamic window; true: this library registered it
  bool registered = false;                  ///< this library registered the memory of MPI_Win_create
  void* block = nullptr;                    ///< this member's memory of rma_malloc, or null
  bool allocated = false;                   ///< the members called rma_malloc for the window's memory
};

/// The values of the predefined attributes, which the program gets the addresses of.
struct PredefinedAttributes {
  MPI_Aint size = 0;
  int unit = 1;
  int flavor;
  int model = MPI_WIN_UNIFIED;
};

/// Returns a world rank of the members that is on another host than this process, or -1.
[[nodiscard]] int find_rank_elsewhere(const Members& members);

/// A window. The program's handle and every pending request count as references.
class Window : public ErrorHandlerOwner {
 public:
  /// `team` has the same members, and is the window's own.
  Window(const Communicator& comm, int flavor, rma_team_t team);

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] const std::shared_ptr<const Members>& members() const { return members_; }
  /// Returns the session() of the communicator over which the window was made.
  [[nodiscard]] std::uint64_t session() const { return session_; }
  [[nodiscard]] int flavor() const { return flavor_; }
  [[nodiscard]] bool is_dynamic() const { return flavor_ == MPI_WIN_FLAVOR_DYNAMIC; }
  /// Returns whether all members reach the bytes, at their address, without registration. Members of this
  /// host reach all heap memory of this process, that of its malloc included (docs/process_heap.md). Others
  /// reach only that of rma_malloc. With members elsewhere this returns false for both.
  [[nodiscard]] bool reaches_unregistered(const void* base, std::size_t bytes) const;
  [[nodiscard]] rma_team_t& team() { return team_; }
  [[nodiscard]] rma_team_t team() const { return team_; }

  [[nodiscard]] WindowPart& part(int member) { return parts_[static_cast<std::size_t>(member)]; }
  [[nodiscard]] const WindowPart& part(int member) const { return parts_[static_cast<std::size_t>(member)]; }
  [[nodiscard]] WindowPart& own_part() { return part(rank_); }
  /// Returns whether there is such a member and an epoch lets this process access its part.
  [[nodiscard]] bool opens(int member) const {
    const auto index = static_cast<unsigned>(member);  // a negative one is large
    if (index < open_parts_.load(std::memory_order_relaxed)) [[likely]]
      return true;
    return index < static_cast<unsigned>(size_) &&
           part(member).access.load(std::memory_order_relaxed) != Access::kNone;
  }
  /// Returns the part of a member if opens() allows that, else null.
  [[nodiscard]] WindowPart* accessible(int member) { return opens(member) ? &part(member) : nullptr; }

  [[nodiscard]] Epoch epoch() const { return epoch_.load(std::memory_order_relaxed); }
  /// Begins an epoch, or ends it by Epoch::kNone.
  void set_epoch(Epoch epoch) {
    epoch_.store(epoch, std::memory_order_relaxed);
    open_parts_.store(epoch == Epoch::kNone ? 0 : static_cast<unsigned>(size_), std::memory_order_relaxed);
  }
  /// Ends all epochs of this process. No call reaches the members' memory after that.
  void end_epochs();

  /// The word of `member` in which `by` counts how often it has posted to this member (MPI_Win_post), and how
  /// often it has completed its access to this member's memory (MPI_Win_complete). Only `by` writes it.
  [[nodiscard]] std::uint64_t* post_counter(int member, int by) {
    return counter(member, static_cast<std::size_t>(by));
  }
  [[nodiscard]] std::uint64_t* complete_counter(int member, int by) {
    return counter(member, static_cast<std::size_t>(by) + parts_.size());
  }
  /// The bytes of a WindowControl, its counters, and what the member holds of each lock and of
  /// MPI_Win_lock_all.
  [[nodiscard]] static std::size_t control_bytes(int members) {
    return held_offset(members) + static_cast<std::size_t>(members) + 1;
  }
  [[nodiscard]] static std::size_t held_offset(int members) {
    return sizeof(WindowControl) + 2 * static_cast<std::size_t>(members) * sizeof(std::uint64_t);
  }
  /// Says what this process holds of the lock of `member`, or of MPI_Win_lock_all if that is size(). Costs a
  /// store to its own memory.
  void note_held(int member, Held held) {
    auto* const all = reinterpret_cast<Held*>(reinterpret_cast<std::byte*>(control) + held_offset(size()));
    __atomic_store(all + member, &held, __ATOMIC_RELAXED);  // a hint for people
  }

  void add_reference() override { references_.fetch_add(1, std::memory_order_relaxed); }
  void remove_reference() override {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  std::mutex epochs;  ///< guards changes of epochs, `locks` and `active_target`
  int locks = 0;      ///< parts that MPI_Win_lock has opened
  ActiveTarget active_target;
  OwnMemory own;
  WindowControl* control = nullptr;  ///< this member's

  std::string name;
  Info hints;
  AttributesOf<MPI_Win> attributes;
  PredefinedAttributes predefined;

 private:
  [[nodiscard]] std::uint64_t* counter(int member, std::size_t index) {
    return reinterpret_cast<std::uint64_t*>(part(member).control + sizeof(WindowControl)) + index;
  }

  const std::shared_ptr<const Members> members_;
  const std::uint64_t session_;
  const int rank_;
  const int size_;
  const int flavor_;
  rma_team_t team_;
  std::vector<WindowPart> parts_;
  // Relaxed, as WindowPart::access.
  std::atomic<Epoch> epoch_ = Epoch::kNone;
  std::atomic<unsigned> open_parts_ = 0;  ///< the number of parts that the epoch lets this process access
  std::atomic<int> references_ = 1;
  const ListedPlace<Window> listed_{*this};
};

/// Ends the epochs of all windows that the program has left open at the end of the job.
void close_windows();

/// Finds the window of a handle. MPI_ERR_WIN.
[[nodiscard]] inline Found<Window> find_window(MPI_Win handle) {
  return find_or_fail<Window>(handle, MPI_ERR_WIN, "the window is null or was freed");
}

/// Returns the static data of this process that other interfaces share.
[[nodiscard]] SharedData own_shared_data();

/// Takes over those of the program's hints that the library knows.
void take_hints(Window& win, MPI_Info info);

/// Waits until everything that this process has issued to the memory of a part is there.
[[nodiscard]] int flush_part(const WindowPart& part);

}  // namespace librma::mpi
