#pragma once

#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "armci.h"
#include "armci/scopes.hpp"
#include "rma/rma.h"

namespace rma::armci {

/// What an MPI has for a group: see mpi_comm.cpp.
struct Comm;

/// A group of processes. Exists from its creation to its ARMCI_Group_free; the world group until the last
/// ARMCI_Finalize.
struct Group {
  rma_team_t team = nullptr;  ///< null where this process is no member
  int rank = -1;              ///< this process's group rank, -1 where it is no member
  std::vector<int> ranks;     ///< process by group rank
  ScopeParts scopes;
  Comm* comm = nullptr;  ///< null without an MPI, and where this process is no member

  [[nodiscard]] int size() const { return static_cast<int>(ranks.size()); }
};

/// All groups that this process knows of. An ARMCI_Group is a place in here. Thread-safe, but for a group
/// that is used while it is freed.
class Groups {
 public:
  static constexpr ARMCI_Group kWorld = 0;

  /// `world` is the first group.
  explicit Groups(Group world) { groups_.emplace_back(std::move(world)); }

  /// The group of a handle; null where there is none.
  [[nodiscard]] Group* find(ARMCI_Group handle);
  /// Takes the first free place.
  [[nodiscard]] ARMCI_Group add(Group group);
  /// Takes the group out of its place. Not the world group.
  Group remove(ARMCI_Group handle);
  /// Takes all groups out, the world group too.
  std::deque<std::optional<Group>> remove_all();

  [[nodiscard]] ARMCI_Group default_handle() const { return default_.load(std::memory_order_relaxed); }
  void set_default(ARMCI_Group handle) { default_.store(handle, std::memory_order_relaxed); }

 private:
  std::mutex lock_;
  std::deque<std::optional<Group>> groups_;  ///< by handle; stays where it is as groups come and go
  std::atomic<ARMCI_Group> default_ = kWorld;
};

/// The group of a handle; the job ends where there is none, or the pointer is null, or ARMCI is not
/// initialized. `call` names who asks.
[[nodiscard]] Group& group_of(const ARMCI_Group* handle, const char* call);
/// The default group, and the one of all processes.
[[nodiscard]] Group& default_group(const char* call);
[[nodiscard]] Group& world_group(const char* call);

/// The team of a group that this process is to act in; the job ends where it is no member.
[[nodiscard]] rma_team_t team_of(const Group& group, const char* call);

}  // namespace rma::armci
