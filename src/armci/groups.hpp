#pragma once

#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "armci.h"
#include "armci/scopes.hpp"
#include "rma/rma.h"

namespace librma::armci {

/// The MPI communicator of a group: see mpi_comm.cpp.
struct Comm;

/// A group of processes. It exists from its creation to its ARMCI_Group_free. The world group exists until
/// the last ARMCI_Finalize.
struct Group {
  rma_team_t team = nullptr;  ///< null if this process is not a member
  int rank = -1;              ///< this process's group rank; -1 if it is not a member
  std::vector<int> ranks;     ///< processes by group rank
  ScopeParts scopes;
  Comm* comm = nullptr;  ///< null without an MPI, or if this process is not a member

  [[nodiscard]] int size() const { return static_cast<int>(ranks.size()); }
};

/// All groups that this process knows. An ARMCI_Group is an index into them. Thread-safe, except that a group
/// must not be used while it is freed.
class Groups {
 public:
  static constexpr ARMCI_Group kWorld = 0;

  /// `world` becomes the first group.
  explicit Groups(Group world) { groups_.emplace_back(std::move(world)); }

  /// Returns the group of a handle, or null if there is none.
  [[nodiscard]] Group* find(ARMCI_Group handle);
  /// Adds a group at the first free index and returns the index.
  [[nodiscard]] ARMCI_Group add(Group group);
  /// Removes a group other than the world group and returns it.
  Group remove(ARMCI_Group handle);
  /// Removes all groups, including the world group, and returns them.
  std::deque<std::optional<Group>> remove_all();

  [[nodiscard]] ARMCI_Group default_handle() const { return default_.load(std::memory_order_relaxed); }
  void set_default(ARMCI_Group handle) { default_.store(handle, std::memory_order_relaxed); }

 private:
  std::mutex lock_;
  std::deque<std::optional<Group>> groups_;  ///< by handle; elements do not move when groups are
                                             ///< added or removed
  std::atomic<ARMCI_Group> default_ = kWorld;
};

/// Returns the group of a handle. Ends the job if there is none, if the pointer is null, or if ARMCI is not
/// initialized. `call` is the name of the caller.
[[nodiscard]] Group& group_of(const ARMCI_Group* handle, const char* call);
/// Return the default group, and the group of all processes.
[[nodiscard]] Group& default_group(const char* call);
[[nodiscard]] Group& world_group(const char* call);

/// Returns the team of a group in which this process takes part. Ends the job if it is not a member.
[[nodiscard]] rma_team_t team_of(const Group& group, const char* call);

}  // namespace librma::armci
