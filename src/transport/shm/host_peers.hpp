#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "util/status.hpp"
#include "util/system/descriptor.hpp"

// How the processes of a host get at each other's memory. Each hands the others descriptors of it, over UNIX
// sockets, when the job starts. A descriptor stays that of its file whatever else the system does, and needs
// no name: not a process number, which means another process in another PID namespace, and no /proc, which
// may be missing or closed to this process. The launcher carries each process's HostCard to the others. It
// has the name of the process's socket, a secret that only the job's processes know, and which files the
// process hands over, so that a process takes neither a stranger's descriptors nor the wrong ones.

namespace librma::transport {

/// The descriptors that a process hands to the others of its host.
enum class Handed : std::uint8_t {
  process,       ///< its pidfd; missing if the system has none
  window,        ///< the memfd of its heap window
  alias,         ///< the memfd of its aliased memory; missing without any
  process_heap,  ///< the memfd of its process heap; missing without one
  segment,       ///< the memfd of its segment of messages
  wakeup,        ///< an eventfd that wakes it
  count_
};
inline constexpr std::size_t kHanded = static_cast<std::size_t>(Handed::count_);

/// Tells which file a descriptor is of; zeros for a descriptor without a file of its own.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;

  bool operator==(const FileIdentity&) const = default;
};

/// The data by which the other processes of the host are handed a process's descriptors. It is a
/// part of the process's card.
struct HostCard {
  std::array<std::uint64_t, 2> secret = {};  ///< drawn at random; zeros if the process hands over nothing
  std::array<char, 16> name = {};  ///< the abstract name of its socket, without the zero in front; or none
  std::uint64_t network = 0;       ///< its network namespace, in which the name is valid; 0: unknown
  std::array<FileIdentity, kHanded> files = {};

  bool operator==(const HostCard&) const = default;
};
static_assert(sizeof(HostCard) == 40 + 16 * kHanded, "it is a wire format: no padding");

/// Another process of this host, as this one has it.
struct HostPeer {
  pid_t process = 0;  ///< its number in this process's PID namespace; 0 if it has none there
  std::array<Descriptor, kHanded> files;
  /// The connection over which the files came. It is kept only if one of the two has no pidfd.
  Descriptor connection;

  [[nodiscard]] int file(Handed kind) const { return files[static_cast<std::size_t>(kind)].get(); }
  void close(Handed kind) { files[static_cast<std::size_t>(kind)] = Descriptor(); }
  /// Returns a descriptor that is readable once the process has ended.
  [[nodiscard]] int end() const {
    return file(Handed::process) >= 0 ? file(Handed::process) : connection.get();
  }
};

/// Returns the file of the socket at which a rank meets the others.
[[nodiscard]] std::string meeting_file(const std::string& directory, int rank);

/// The processes of this host: what this one hands to the others, and what it has got from them.
///
/// offer() and meet() are called by one thread. find() and ended() are thread-safe.
class HostPeers {
 public:
  struct Partner {
    int rank = 0;
    HostCard card;
  };

  /// @param rank  this process's rank
  /// @param locals  the ranks of the processes of this host, ascending
  /// @param directory  where they make the files of their sockets, if they are not all in one network
  ///        namespace; empty if they are, and meet at abstract names
  HostPeers(int rank, const std::vector<int>& locals, std::string directory = {});
  HostPeers(const HostPeers&) = delete;
  HostPeers& operator=(const HostPeers&) = delete;

  /// Opens the socket at which the others meet this process when the job starts. RMA_ERR_SYSTEM,
  /// RMA_ERR_NO_MEMORY.
  [[nodiscard]] Status open();
  /// Offers the file of a descriptor, which stays the caller's and open until meet() has returned.
  /// RMA_ERR_SYSTEM if it is not open.
  [[nodiscard]] Status offer(Handed kind, int file);
  /// Takes an offer back.
  void withhold(Handed kind) { offered_[static_cast<std::size_t>(kind)] = -1; }
  /// Returns this process's card. Complete after the last offer().
  [[nodiscard]] const HostCard& card() const { return card_; }

  /// Uses the files of a process that was met. It may close those that it needs no longer.
  using Use = std::function<Status(int rank, HostPeer& peer)>;
  /// Exchanges descriptors with all `partners`, which call this at the same time, and calls `use` for each as
  /// soon as its files are here. Afterwards find() finds them, and this process. RMA_ERR_PEER_LOST if one of
  /// them has ended, RMA_ERR_LAUNCH if it hands over something else than its card says, RMA_ERR_NO_MEMORY,
  /// RMA_ERR_SYSTEM; and the failures of `use`.
  [[nodiscard]] Status meet(std::span<const Partner> partners, const Use& use);

  /// A socket at which processes meet this one later, with a secret of its own, and what it hands over.
  struct Door {
    Descriptor socket;
    HostCard card;
  };
  /// Opens a door. Thread-safe. RMA_ERR_SYSTEM, RMA_ERR_NO_MEMORY, RMA_ERR_UNSUPPORTED if processes meet at
  /// the files of sockets.
  [[nodiscard]] Result<Door> open_door() const;
  /// Does meet() at a door, with processes that may have been met already. Thread-safe.
  [[nodiscard]] Status meet_at(const Door& door, std::span<const Partner> partners, const Use& use);

  /// Adds a process by what is known of it already, unless it is there.
  void add(int rank, HostPeer peer);
  /// Returns the process of `rank`, or null if meet() has not met it.
  [[nodiscard]] HostPeer* find(int rank) const;
  /// Returns whether the process of `rank` was met, and all its threads have ended. If so, everything that it
  /// stored is visible here.
  [[nodiscard]] bool ended(int rank) const;

 private:
  struct Entry {
    HostPeer peer;
    std::atomic<bool> there = false;  ///< stored with release after `peer`
  };
  [[nodiscard]] Status add_self();

  const int rank_;
  const std::vector<int> locals_;
  const std::string directory_;
  std::mutex adding_;
  mutable std::vector<Entry> entries_;  ///< in the order of locals_; filled in under the lock
  Descriptor socket_;
  Descriptor process_;  ///< this process's pidfd
  HostCard card_;
  std::array<int, kHanded> offered_;  ///< -1 for a kind that is not offered
};

}  // namespace librma::transport
