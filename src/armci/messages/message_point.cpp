// The rest of message.h: two-sided messages, the tree, the ranks and sizes, the clock.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "armci/errors.hpp"
#include "armci/outcome.hpp"
#include "armci/rank_and_size.hpp"
#include "armci/scopes.hpp"
#include "armci/state.hpp"
#include "message.h"

namespace librma::armci {
namespace {

std::size_t checked_length(const void* buffer, int len, const char* call) {
  if (len < 0 || (buffer == nullptr && len > 0))
    die(call, fmt::format("there is no buffer of {} bytes at {}", len, buffer));
  return static_cast<std::size_t>(len);
}

int receive(int tag, void* buffer, int room, int* got, int from, const char* call) {
  const std::size_t bytes = checked_length(buffer, room, call);
  rma_message_info_t info = {};
  require(message_state(call).messages.receive({.space = MessageSpace::client, .tag = tag},
                                               {static_cast<std::byte*>(buffer), bytes}, from, &info),
          call);
  if (got != nullptr) *got = static_cast<int>(info.bytes);
  return info.source;
}

RankAndSize known_rank_and_size(const char* call) {
  const RankAndSize job = rank_and_size();
  if (job.size == 0) die(call, kNotReady);
  return job;
}

int at_or_none(const std::vector<int>& processes, std::size_t place) {
  return place < processes.size() ? processes[place] : -1;
}

}  // namespace

extern "C" {

void armci_msg_snd(int tag, void* buffer, int len, int to) {
  const std::size_t bytes = checked_length(buffer, len, __func__);
  require(message_state(__func__).messages.send({.space = MessageSpace::client, .tag = tag},
                                                {static_cast<const std::byte*>(buffer), bytes}, to),
          __func__);
}

void armci_msg_rcv(int tag, void* buffer, int buflen, int* msglen, int from) {
  // A negative process does not mean "any" here.
  if (from < 0) die(__func__, fmt::format("there is no process {}", from));
  receive(tag, buffer, buflen, msglen, from, __func__);
}

int armci_msg_rcvany(int tag, void* buffer, int buflen, int* msglen) {
  return receive(tag, buffer, buflen, msglen, RMA_ANY_SOURCE, __func__);
}

void armci_msg_bintree(int scope, int* root, int* up, int* left, int* right) {
  message_state(__func__);
  const std::vector<int>& processes = scope_processes(world_group(__func__), scope, __func__);
  const auto found = std::find(processes.begin(), processes.end(), rma_rank());
  *root = processes.front();
  *up = *left = *right = -1;
  if (found == processes.end()) return;
  const auto place = static_cast<std::size_t>(found - processes.begin());
  if (place > 0) *up = processes[(place - 1) / 2];
  *left = at_or_none(processes, 2 * place + 1);
  *right = at_or_none(processes, 2 * place + 2);
}

int armci_msg_me(void) { return known_rank_and_size(__func__).rank; }

int armci_msg_nproc(void) { return known_rank_and_size(__func__).size; }

double armci_timer(void) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void armci_msg_abort(int code) { ARMCI_Error("armci_msg_abort", code); }

}  // extern "C"

}  // namespace librma::armci
