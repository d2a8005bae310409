// Communicators: what they are, the predefined ones, and how their members agree on contexts.

#include "twosided_compat/communicators/communicator.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <new>
#include <span>

#include "rma/collectives.h"
#include "rma/launcher.h"
#include "rma/messages.h"
#include "rma/rma.h"
#include "twosided_compat/calls.hpp"
#include "twosided_compat/communicators/collective_transfers.hpp"
#include "twosided_compat/objects/library_failure.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma::mpi {
namespace {

/// The contexts of the numbers that rma_contexts_draw() draws begin here.
constexpr std::uint32_t kFirstContext = RMA_CONTEXT_LAST + 1;
/// How many of these numbers there are.
constexpr std::uint32_t kNumbers = std::uint32_t{1} << 28U;
static_assert(kTraffics == 4, "each has four contexts");
constexpr std::uint32_t number_of(std::uint32_t context) { return (context - kFirstContext) / kTraffics; }
/// The contexts of MPI_COMM_SELF. Messages of one process to itself never meet those of others, so all
/// processes use the same ones.
constexpr std::uint32_t kSelfContext = UINT32_MAX - 7;

/// Number 0 belongs to MPI_COMM_WORLD and number 1 to kInvitationContext.
static_assert(kInvitationContext == kFirstContext + kTraffics);

/// Makes the communicator of the members with these ranks, whose messages to each other are `transfers`.
int make_communicator_by(CollectiveTransfers transfers, const Communicator& parent,
                         std::span<const int> ranks, MPI_Comm* made) {
  const auto here = std::ranges::find(ranks, parent.rank());
  std::uint32_t context = 0;
  if (here == ranks.begin()) {
    context = new_context();
    for (const int other : ranks.subspan(1)) {
      RMA_TRY(transfers.send(&context, sizeof context, other));
    }
  } else if (const int code = transfers.receive(&context, sizeof context, ranks.front());
             code != MPI_SUCCESS) {
    return code;
  }
  if (context == 0) return no_context();
  std::vector<int> world(ranks.size());
  std::ranges::transform(ranks, world.begin(), [&](int rank) { return parent.world_rank(rank); });
  auto members = std::make_shared<const Members>(std::move(world), parent.members()->world_size());
  *made = (new Communicator(std::move(members), static_cast<int>(here - ranks.begin()), context, parent))
              ->handle<MPI_Comm>();
  return MPI_SUCCESS;
}

}  // namespace

int make_communicator(const Communicator& parent, std::span<const int> ranks, MPI_Comm* made) {
  return make_communicator_by(CollectiveTransfers(parent, CollectiveTag::kNewContext), parent, ranks, made);
}

int make_communicator(const Communicator& parent, std::span<const int> ranks, Traffic traffic, int tag,
                      MPI_Comm* made) {
  return make_communicator_by(CollectiveTransfers(parent, traffic, tag), parent, ranks, made);
}

Communicator::Communicator(std::shared_ptr<const Members> members, int rank, std::uint32_t context,
                           const Communicator& parent, std::shared_ptr<const Members> remote)
    : ErrorHandlerOwner(Kind::kComm, parent.errors),
      members_(std::move(members)),
      remote_(std::move(remote)),
      peers_(remote_ != nullptr ? remote_.get() : members_.get()),
      peer_ranks_(peers_->world_ranks()),
      rank_(rank),
      session_(parent.session()),
      context_(context) {
  if (remote_ != nullptr) local_ = (new Communicator(members_, rank_, context_, parent))->sharing();
}

Communicator::Communicator(std::shared_ptr<const Members> members, int rank, std::uint32_t context,
                           MPI_Comm predefined, MPI_Errhandler handler, std::uint64_t session)
    : ErrorHandlerOwner(Kind::kComm, predefined_number(predefined), handler),
      members_(std::move(members)),
      peers_(members_.get()),
      peer_ranks_(peers_->world_ranks()),
      rank_(rank),
      session_(session),
      context_(context) {}

Communicator::~Communicator() {
  if (team_ != nullptr) static_cast<void>(rma_team_free(&team_));
  if (local_ != nullptr) local_->remove_reference();
  for (Communicator* const carrier : carriers_) {
    if (carrier != nullptr) carrier->remove_reference();
  }
  if (shares_contexts_ || is_predefined() || context_ == 0) return;
  try {
    const std::vector<int> ranks = all_ranks();
    static_cast<void>(rma_contexts_return(number_of(context_), ranks.data(), static_cast<int>(ranks.size())));
  } catch (const std::bad_alloc&) {
    // The number is not used again.
  }
}

std::vector<int> Communicator::all_ranks() const {
  std::vector<int> ranks = members_->list();
  if (!is_inter()) return ranks;
  const std::vector<int> others = remote_->list();
  ranks.insert(decides(*this) ? ranks.end() : ranks.begin(), others.begin(), others.end());
  return ranks;
}

int Communicator::next_drawer() const {
  // One process draws half of its numbers before the next one does, because the numbers return to it on a
  // path from each member.
  const std::uint32_t turn = kNumbers / std::bit_ceil(static_cast<std::uint32_t>(rma_seats())) / 2;
  return static_cast<int>(duplicates_++ / turn % static_cast<std::uint32_t>(size()));
}

void Communicator::set_context(std::uint32_t context) {
  const std::lock_guard guard(places_lock());  // the context is read there
  context_ = context;
  if (local_ != nullptr) local_->context_ = context;
}

MPI_Comm Communicator::carrier(Traffic traffic) const {
  const std::lock_guard guard(lock_);
  Communicator*& carrier = carriers_[static_cast<std::size_t>(traffic)];
  if (carrier == nullptr)
    carrier = (new Communicator(members_, rank_, context(traffic), *this, remote_))->sharing();
  return carrier->handle<MPI_Comm>();
}

int Communicator::count_partitioned(int peer, int tag, bool sends) const {
  const std::lock_guard guard(lock_);
  return partitioned_[{peer, tag, sends}]++;
}

int Communicator::find_team(rma_team_t& team) {
  if (team_ == nullptr) {
    // Each communicator has one number in the upper half of those for attached teams. That of MPI_COMM_SELF
    // does not matter: a team of one sends no messages.
    constexpr std::uint32_t kFirstTeam = RMA_CONTEXT_LAST / 2 + 1;
    std::uint32_t number = kFirstTeam + number_of(context_) % kNumbers;
    if (is_inter()) number += kNumbers;  // the local group has the same number, and may be a team too
    const std::vector<int> ranks = all_ranks();
    rma_team_t made = nullptr;
    RMA_TRY(checked(rma_team_attach(ranks.data(), static_cast<int>(ranks.size()), number, &made)));
    __atomic_store_n(&team_, made, __ATOMIC_RELEASE);  // pairs with made_team()
  }
  team = team_;
  return MPI_SUCCESS;
}

std::uint32_t new_context() {
  std::uint32_t number = 0;
  return rma_contexts_draw(&number) == RMA_SUCCESS ? kFirstContext + kTraffics * number : 0;
}

void return_context(std::uint32_t context) {
  const int self = rma_rank();
  static_cast<void>(rma_contexts_return(number_of(context), &self, 1));
}

int no_context() {
  return failure(MPI_ERR_OTHER,
                 "the process that numbers the new communicator has no number left: free some");
}

void make_predefined_communicators() {
  const int first = rma_world_first();
  const int size = rma_size();
  const int seats = rma_seats();
  const auto publish = [](Communicator* comm, const char* name) {
    comm->name = name;
    publish_predefined(*comm);
  };
  const auto handler = [](MPI_Comm comm) {
    const auto* const before = find<ErrorHandlerOwner>(comm);
    return before != nullptr ? before->errors.get() : MPI_ERRORS_ARE_FATAL;
  };
  publish(new Communicator(std::make_shared<const Members>(first, 1, size, seats), rma_rank() - first,
                           kFirstContext, MPI_COMM_WORLD, handler(MPI_COMM_WORLD)),
          "MPI_COMM_WORLD");
  publish(new Communicator(std::make_shared<const Members>(rma_rank(), 1, 1, seats), 0, kSelfContext,
                           MPI_COMM_SELF, handler(MPI_COMM_SELF)),
          "MPI_COMM_SELF");
  publish_predefined(*new Group(std::make_shared<const Members>(0, 1, 0, seats), kNoSession,
                                predefined_number(MPI_GROUP_EMPTY)));
}

void end_predefined_communicators() {
  for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
    if (auto* const object = find<Communicator>(comm); object != nullptr) {
      withdraw_predefined(*object);
      delete object;
    }
  }
}

bool decides(const Communicator& inter) {
  return inter.members()->world_rank(0) < inter.remote()->world_rank(0);
}

int comm_size(MPI_Comm handle, int* size) {
  RMA_TRY_ASSIGN(comm, find_communicator(handle));
  *size = comm->size();
  return MPI_SUCCESS;
}

int comm_rank(MPI_Comm handle, int* rank) {
  RMA_TRY_ASSIGN(comm, find_communicator(handle));
  *rank = comm->rank();
  return MPI_SUCCESS;
}

}  // namespace librma::mpi
