// The agreement of processes that have a group and a text in common, and no communicator.

#include "twosided_compat/communicator_management/invitations.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <vector>

#include "rma/messages.h"
#include "rma/rma.h"
#include "twosided_compat/messages/completion.hpp"
#include "twosided_compat/objects/library_failure.hpp"
#include "twosided_compat/objects/polled_wait.hpp"
#include "util/try.hpp"

namespace librma::mpi {
namespace {

/// An invitation as it travels: a context, and the bytes that say to which communicator.
struct Invitation {
  int leader = 0;
  std::uint32_t context = 0;
  std::vector<std::byte> purpose;
};

/// Invitations that this process has received and not used.
struct Unclaimed {
  std::mutex lock;  // guards the list
  std::list<Invitation> all;
};
Unclaimed& unclaimed() {
  static Unclaimed* const kUnclaimed = new Unclaimed;  // never destroyed, as all tables of this library
  return *kUnclaimed;
}

/// Returns the bytes that tell one communicator from others: the members, and the text behind them.
std::vector<std::byte> purpose_of(const Members& members, const std::string& text) {
  const std::vector<int> world = members.list();
  std::vector<std::byte> bytes(sizeof(int) + world.size() * sizeof(int) + text.size());
  const int size = members.size();
  std::memcpy(bytes.data(), &size, sizeof size);
  std::memcpy(bytes.data() + sizeof size, world.data(), world.size() * sizeof(int));
  std::memcpy(bytes.data() + sizeof size + world.size() * sizeof(int), text.data(), text.size());
  return bytes;
}

int invite(const Members& members, int tag, const std::vector<std::byte>& purpose, std::uint32_t context) {
  std::vector<std::byte> message(sizeof context + purpose.size());
  std::memcpy(message.data(), &context, sizeof context);
  std::copy(purpose.begin(), purpose.end(), message.begin() + sizeof context);
  for (const int world : members.world_ranks()) {
    if (world == rma_rank()) continue;
    RMA_TRY(checked(rma_send(message.data(), message.size(), world, tag, kInvitationContext)));
  }
  return MPI_SUCCESS;
}

/// Takes an invitation out of the list, if it is there.
std::optional<std::uint32_t> claim(int leader, const std::vector<std::byte>& purpose) {
  Unclaimed& list = unclaimed();
  const std::lock_guard guard(list.lock);
  const auto found = std::ranges::find_if(list.all, [&](const Invitation& invitation) {
    return invitation.leader == leader && invitation.purpose == purpose;
  });
  if (found == list.all.end()) return std::nullopt;
  const std::uint32_t context = found->context;
  list.all.erase(found);
  return context;
}

/// Receives an invitation of `leader`, if one has come, and puts it into the list. The list keeps the order
/// of arrival: the lock is held from the probe on.
int take_in(int leader, int tag, bool& found) {
  Unclaimed& list = unclaimed();
  const std::lock_guard guard(list.lock);
  int came = 0;
  rma_message_t message = nullptr;
  rma_message_info_t info = {};
  const int probed = checked(rma_improbe(leader, tag, kInvitationContext, &came, &message, &info));
  found = came != 0;
  if (probed != MPI_SUCCESS || !found) return probed;
  std::vector<std::byte> bytes(info.bytes);
  RMA_TRY(checked(rma_mrecv(bytes.data(), bytes.size(), &message, nullptr)));
  Invitation invitation;
  invitation.leader = leader;
  if (bytes.size() < sizeof invitation.context) return failure(MPI_ERR_INTERN, "an invitation is too short");
  std::memcpy(&invitation.context, bytes.data(), sizeof invitation.context);
  invitation.purpose.assign(bytes.begin() + sizeof invitation.context, bytes.end());
  list.all.push_back(std::move(invitation));
  return MPI_SUCCESS;
}

}  // namespace

int agree_by_invitation(const Members& members, const std::string& text, std::uint32_t& context) {
  const std::vector<std::byte> purpose = purpose_of(members, text);
  const int tag = static_cast<int>(std::hash<std::string>{}(text)&INT32_MAX);
  const int leader = members.world_rank(0);
  if (leader == rma_rank()) {
    context = new_context();
    const int code = invite(members, tag, purpose, context);
    return code != MPI_SUCCESS || context != 0 ? code : no_context();
  }
  PolledWait waiting("for the first rank of its group", leader);
  while (true) {
    if (const std::optional<std::uint32_t> given = claim(leader, purpose)) {
      context = *given;
      return context != 0 ? MPI_SUCCESS : no_context();
    }
    bool found = false;
    RMA_TRY(take_in(leader, tag, found));
    if (found) continue;
    waiting.again();
    make_progress();
  }
}

}  // namespace librma::mpi
