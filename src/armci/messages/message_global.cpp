// The barriers, broadcasts and global operations of message.h, with their groups and scopes.

#include <fmt/format.h>

#include "armci/alias.hpp"
#include "armci/errors.hpp"
#include "armci/messages/message_collectives.hpp"
#include "armci/scopes.hpp"
#include "armci/state.hpp"
#include "message.h"

namespace librma::armci {
namespace {

/// Returns the process of a root that is given as a rank of the default group.
int process_of(const Group& group, int root, const char* call) {
  if (root < 0 || root >= group.size()) {
    die(call, fmt::format("there is no root {} in a group of {}", root, group.size()));
  }
  return group.ranks[static_cast<std::size_t>(root)];
}

/// Return the default group, and the group of a handle. They work after armci_msg_init alone.
Group& message_group(const char* call) {
  message_state(call);
  return default_group(call);
}
Group& message_group(const ARMCI_Group* handle, const char* call) {
  message_state(call);
  return group_of(handle, call);
}

void broadcast_default(int scope, void* buffer, int len, int root, const char* call) {
  Group& group = message_group(call);
  broadcast(group, scope, buffer, len, process_of(group, root, call), call);
}

void gop(Group& group, int scope, void* x, int n, const char* op, int type, const char* call) {
  combine(group, scope, x, n, op, type, Receivers::all, call);
}

}  // namespace

extern "C" {

void parmci_msg_barrier(void) { require(rma_barrier(team_of(message_group(__func__), __func__)), __func__); }

void parmci_msg_group_barrier(ARMCI_Group* group) {
  require(rma_barrier(team_of(message_group(group, __func__), __func__)), __func__);
}

void armci_msg_bcast(void* buffer, int len, int root) {
  broadcast_default(SCOPE_ALL, buffer, len, root, __func__);
}

void armci_msg_brdcst(void* buffer, int len, int root) {
  broadcast_default(SCOPE_ALL, buffer, len, root, __func__);
}

void armci_msg_bcast_scope(int scope, void* buffer, int len, int root) {
  broadcast_default(scope, buffer, len, root, __func__);
}

void armci_msg_group_bcast_scope(int scope, void* buffer, int len, int root, ARMCI_Group* group) {
  broadcast(message_group(group, __func__), scope, buffer, len, root, __func__);
}

void armci_msg_clus_brdcst(void* buffer, int len) {
  Group& group = message_group(__func__);
  broadcast(group, SCOPE_NODE, buffer, len, scope_processes(group, SCOPE_NODE, __func__).front(), __func__);
}

void armci_grp_clus_brdcst(void* buffer, int len, int first, int count, ARMCI_Group* group) {
  const Group& all = message_group(group, __func__);
  if (first < 0 || count < 1 || first > all.size() - count || len < 0) {
    die(__func__, fmt::format("cannot send {} bytes to {} members from {} on in a group of {}", len, count,
                              first, all.size()));
  }
  if (all.rank < first || all.rank >= first + count) return;
  rma_team_t team = nullptr;
  require(rma_team_create(all.ranks.data() + first, count, &team), __func__);
  require(rma_broadcast(team, buffer, static_cast<std::size_t>(len), 0), __func__);
  require(rma_team_free(&team), __func__);
}

void armci_msg_gop_scope(int scope, void* x, int n, char* op, int type) {
  gop(message_group(__func__), scope, x, n, op, type, __func__);
}

// NOLINTBEGIN(bugprone-macro-parentheses): types are no expressions
// The global operations on arrays of one type: of all processes, of a group, and of those of this host.
#define RMA_ARMCI_GOPS(letter, Type, type)                                           \
  void armci_msg_##letter##gop(Type* x, int n, char* op) {                           \
    gop(message_group(__func__), SCOPE_ALL, x, n, op, type, __func__);               \
  }                                                                                  \
  void armci_msg_group_##letter##gop(Type* x, int n, char* op, ARMCI_Group* group) { \
    gop(message_group(group, __func__), SCOPE_ALL, x, n, op, type, __func__);        \
  }                                                                                  \
  void armci_msg_clus_##letter##gop(Type* x, int n, char* op) {                      \
    gop(message_group(__func__), SCOPE_NODE, x, n, op, type, __func__);              \
  }
RMA_ARMCI_GOPS(i, int, ARMCI_INT)
RMA_ARMCI_GOPS(l, long, ARMCI_LONG)
RMA_ARMCI_GOPS(ll, long long, ARMCI_LONG_LONG)
RMA_ARMCI_GOPS(f, float, ARMCI_FLOAT)
RMA_ARMCI_GOPS(d, double, ARMCI_DOUBLE)
#undef RMA_ARMCI_GOPS
// NOLINTEND(bugprone-macro-parentheses)

void armci_msg_group_gop_scope(int scope, void* x, int n, char* op, int type, ARMCI_Group* group) {
  gop(message_group(group, __func__), scope, x, n, op, type, __func__);
}

void armci_msg_reduce(void* x, int n, char* op, int type) {
  combine(message_group(__func__), SCOPE_ALL, x, n, op, type, Receivers::first, __func__);
}
void armci_msg_reduce_scope(int scope, void* x, int n, char* op, int type) {
  combine(message_group(__func__), scope, x, n, op, type, Receivers::first, __func__);
}

void armci_msg_sel_scope(int scope, void* x, int n, char* op, int type, int contribute) {
  select(message_group(__func__), scope, x, n, op, type, contribute != 0, __func__);
}
void armci_msg_sel(void* x, int n, char* op, int type, int contribute) {
  select(message_group(__func__), SCOPE_ALL, x, n, op, type, contribute != 0, __func__);
}

void armci_exchange_address(void* pointers[], int n) {
  add_up(message_group(__func__), pointers, n, __func__);
}
void armci_exchange_address_grp(void* pointers[], int n, ARMCI_Group* group) {
  add_up(message_group(group, __func__), pointers, n, __func__);
}

}  // extern "C"

}  // namespace librma::armci

RMA_ARMCI_WEAK(parmci_msg_barrier, armci_msg_barrier);
RMA_ARMCI_WEAK(parmci_msg_group_barrier, armci_msg_group_barrier);
