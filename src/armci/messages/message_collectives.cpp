#include "armci/messages/message_collectives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "armci/errors.hpp"
#include "armci/messages/operators.hpp"
#include "armci/outcome.hpp"
#include "armci/scopes.hpp"
#include "armci/state.hpp"
#include "message.h"

namespace librma::armci {
namespace {

std::size_t length(int len, const char* call) {
  if (len < 0) die(call, fmt::format("the length {} is negative", len));
  return static_cast<std::size_t>(len);
}

/// Returns the index of `process` in the list; -1 if it is not in the list.
int place_of(int process, const std::vector<int>& processes) {
  // Start with the most frequent case: the list has all processes.
  if (process >= 0 && static_cast<std::size_t>(process) < processes.size() &&
      processes[static_cast<std::size_t>(process)] == process) {
    return process;
  }
  const auto found = std::find(processes.begin(), processes.end(), process);
  return found == processes.end() ? -1 : static_cast<int>(found - processes.begin());
}

/// A root that is not a master sends its data to the first master, which then acts as the root.
void hand_to_first_master(void* buffer, std::size_t bytes, int root, int first, const char* call) {
  constexpr Label kLabel = {.space = MessageSpace::library, .tag = SCOPE_MASTERS};
  Messages& messages = state(call).messages;
  auto* const data = static_cast<std::byte*>(buffer);
  if (root == rma_rank()) require(messages.send(kLabel, {data, bytes}, first), call);
  rma_message_info_t info = {};
  if (first == rma_rank()) require(messages.receive(kLabel, {data, bytes}, root, &info), call);
}

/// A member's contribution to a selection.
struct Offer {
  std::uint64_t contributes = 0;
  std::array<std::byte, 8> number = {};
};

template <typename T>
int best_of(const std::vector<Offer>& offers, bool least) {
  int best = -1;
  T best_number = {};
  for (std::size_t i = 0; i < offers.size(); ++i) {
    if (offers[i].contributes == 0) continue;
    T number;
    std::memcpy(&number, offers[i].number.data(), sizeof number);
    if (best < 0 || (least ? number < best_number : best_number < number)) {
      best = static_cast<int>(i);
      best_number = number;
    }
  }
  return best;
}

int best_of(const std::vector<Offer>& offers, rma_type_t type, bool least) {
  switch (type) {
    case RMA_INT:
      return best_of<int>(offers, least);
    case RMA_LONG:
      return best_of<long>(offers, least);
    case RMA_FLOAT:
      return best_of<float>(offers, least);
    case RMA_DOUBLE:
      return best_of<double>(offers, least);
    default:
      return best_of<long long>(offers, least);
  }
}

std::size_t bytes_of(rma_type_t type) { return type == RMA_INT || type == RMA_FLOAT ? 4 : 8; }

}  // namespace

void broadcast(Group& group, int scope, void* buffer, int len, int root, const char* call) {
  const std::size_t bytes = length(len, call);
  const rma_team_t team = scope_team(group, scope, call);
  const std::vector<int>& processes = scope_processes(group, scope, call);
  int place = place_of(root, processes);
  if (place < 0 && scope == SCOPE_MASTERS && place_of(root, group.ranks) >= 0) {
    if (bytes != 0) hand_to_first_master(buffer, bytes, root, processes.front(), call);
    place = 0;
  }
  if (place < 0) {
    die(call, fmt::format("the root, process {}, is not among the {} processes that take part", root,
                          processes.size()));
  }
  if (team != nullptr) require(rma_broadcast(team, buffer, bytes, place), call);
}

void combine(Group& group, int scope, void* x, int n, const char* op, int type, Receivers receivers,
             const char* call) {
  const std::size_t count = length(n, call);
  const Operator meant = Operator::of(op, type, call);
  const rma_team_t team = scope_team(group, scope, call);
  if (team == nullptr || count == 0) return;
  if (x == nullptr) die(call, fmt::format("the pointer to {} elements is null", n));
  meant.apply(x, count);
  require(receivers == Receivers::all ? rma_allreduce(team, x, x, count, meant.type, meant.reduction)
                                      : rma_reduce(team, x, x, count, meant.type, meant.reduction, 0),
          call);
}

void select(Group& group, int scope, void* x, int n, const char* op, int type, bool contribute,
            const char* call) {
  const std::size_t bytes = length(n, call);
  const rma_type_t element = element_type(type, call);
  const Operator meant = Operator::of(op, type, call);
  if ((meant.reduction != RMA_MIN && meant.reduction != RMA_MAX) ||
      meant.prepare != Operator::Prepare::nothing) {
    die(call, "the operator must be \"min\" or \"max\"");
  }
  const rma_team_t team = scope_team(group, scope, call);
  if (team == nullptr || bytes == 0) return;
  if (x == nullptr || bytes < bytes_of(element)) {
    die(call, fmt::format("{} bytes at {} hold no element of the type", bytes, x));
  }
  Offer mine = {.contributes = contribute ? 1U : 0U, .number = {}};
  std::memcpy(mine.number.data(), x, bytes_of(element));
  std::vector<Offer> offers(scope_processes(group, scope, call).size());
  require(rma_allgather(team, offers.data(), &mine, sizeof mine), call);
  const int best = best_of(offers, element, meant.reduction == RMA_MIN);
  require(rma_broadcast(team, x, bytes, std::max(best, 0)), call);
}

void add_up(Group& group, void** pointers, int n, const char* call) {
  static_assert(sizeof(void*) == sizeof(long));
  require(rma_allreduce(team_of(group, call), pointers, pointers, length(n, call), RMA_LONG, RMA_SUM), call);
}

}  // namespace librma::armci
