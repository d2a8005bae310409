// Groups. Each has a team of the runtime.

#include "armci/groups.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "armci/alias.hpp"
#include "armci/errors.hpp"
#include "armci/mpi_comm.hpp"
#include "armci/state.hpp"

namespace librma::armci {

Group* Groups::find(ARMCI_Group handle) {
  const std::lock_guard guard(lock_);
  if (handle < 0 || static_cast<std::size_t>(handle) >= groups_.size()) return nullptr;
  std::optional<Group>& group = groups_[static_cast<std::size_t>(handle)];
  return group ? &*group : nullptr;
}

ARMCI_Group Groups::add(Group group) {
  const std::lock_guard guard(lock_);
  auto place = std::find_if(groups_.begin(), groups_.end(), [](const auto& it) { return !it; });
  if (place == groups_.end()) place = groups_.insert(groups_.end(), std::nullopt);
  *place = std::move(group);
  return static_cast<ARMCI_Group>(place - groups_.begin());
}

Group Groups::remove(ARMCI_Group handle) {
  const std::lock_guard guard(lock_);
  if (default_handle() == handle) set_default(kWorld);
  return *std::exchange(groups_[static_cast<std::size_t>(handle)], std::nullopt);
}

std::deque<std::optional<Group>> Groups::remove_all() {
  const std::lock_guard guard(lock_);
  return std::exchange(groups_, {});
}

Group& group_of(const ARMCI_Group* handle, const char* call) {
  if (handle == nullptr) die(call, "the group is a null pointer");
  Group* const group = state(call).groups.find(*handle);
  if (group == nullptr) die(call, fmt::format("there is no group {}", *handle));
  return *group;
}

Group& default_group(const char* call) {
  const ARMCI_Group handle = state(call).groups.default_handle();
  return group_of(&handle, call);
}

Group& world_group(const char* call) { return group_of(&Groups::kWorld, call); }

rma_team_t team_of(const Group& group, const char* call) {
  if (group.team == nullptr) die(call, "this process is not in the group");
  return group.team;
}

namespace {

/// Makes the group of `count` members of `parent`, which `members` lists by their group ranks there. `count`
/// may be 0.
Group make(int count, const int* members, const Group& parent, const char* call) {
  if (count < 0 || (count > 0 && members == nullptr))
    die(call, fmt::format("the number of members, {}, is negative, or the list is a null pointer", count));
  Group group;
  for (int i = 0; i < count; ++i) {
    if (members[i] < 0 || members[i] >= parent.size()) {
      die(call, fmt::format("there is no member {} in a group of {}", members[i], parent.size()));
    }
    const int process = parent.ranks[static_cast<std::size_t>(members[i])];
    if (process == rma_rank()) group.rank = i;
    group.ranks.push_back(process);
  }
  if (group.rank < 0) return group;
  require(rma_team_create(group.ranks.data(), count, &group.team), call);
  open_comm(group);
  return group;
}

void create(int count, const int* members, ARMCI_Group* handle, const Group& parent, const char* call) {
  if (handle == nullptr) die(call, "the group is a null pointer");
  *handle = state(call).groups.add(make(count, members, parent, call));
}

}  // namespace

extern "C" {

void PARMCI_Group_create(int count, int* members, ARMCI_Group* group) {
  create(count, members, group, default_group(__func__), __func__);
}

void PARMCI_Group_create_child(int count, int* members, ARMCI_Group* group, ARMCI_Group* parent) {
  create(count, members, group, group_of(parent, __func__), __func__);
}

void PARMCI_Group_free(ARMCI_Group* group) {
  static_cast<void>(group_of(group, __func__));
  if (*group == Groups::kWorld) die(__func__, "the group of all processes cannot be freed");
  Group freed = state(__func__).groups.remove(*group);
  close_comm(freed);
  close_scopes(freed);
  if (freed.team != nullptr) require(rma_team_free(&freed.team), __func__);
}

int PARMCI_Group_rank(ARMCI_Group* group, int* rank) {
  *rank = group_of(group, __func__).rank;
  return *rank < 0 ? 1 : 0;
}

void PARMCI_Group_size(ARMCI_Group* group, int* size) { *size = group_of(group, __func__).size(); }

void PARMCI_Group_set_default(ARMCI_Group* group) {
  static_cast<void>(group_of(group, __func__));
  state(__func__).groups.set_default(*group);
}

void PARMCI_Group_get_default(ARMCI_Group* group) { *group = state(__func__).groups.default_handle(); }

void PARMCI_Group_get_world(ARMCI_Group* group) { *group = Groups::kWorld; }

int PARMCI_Absolute_id(ARMCI_Group* group, int group_rank) {
  const Group& of = group_of(group, __func__);
  if (group_rank < 0 || group_rank >= of.size()) {
    die(__func__, fmt::format("there is no group rank {} in a group of {}", group_rank, of.size()));
  }
  return of.ranks[static_cast<std::size_t>(group_rank)];
}

}  // extern "C"

}  // namespace librma::armci

RMA_ARMCI(Group_create);
RMA_ARMCI(Group_create_child);
RMA_ARMCI(Group_free);
RMA_ARMCI(Group_rank);
RMA_ARMCI(Group_size);
RMA_ARMCI(Group_set_default);
RMA_ARMCI(Group_get_default);
RMA_ARMCI(Group_get_world);
RMA_ARMCI(Absolute_id);
