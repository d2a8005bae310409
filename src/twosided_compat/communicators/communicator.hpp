#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "mpi.h"
#include "rma/messages.h"
#include "rma/rma.h"
#include "rma/unchecked.h"
#include "twosided_compat/communicators/members.hpp"
#include "twosided_compat/objects/attributes.hpp"
#include "twosided_compat/objects/errors.hpp"
#include "twosided_compat/objects/found.hpp"
#include "twosided_compat/objects/object.hpp"
#include "twosided_compat/objects/places.hpp"
#include "util/try_assign.hpp"

namespace librma::mpi {

struct Topology;

/// Sessions have numbers from 1. This one stands for MPI_Init and what comes from it.
inline constexpr std::uint64_t kNoSession = 0;

/// The kinds of messages on a communicator. Each has a context (rma/messages.h) of its own, so that messages
/// of one kind never match receives of another.
enum class Traffic : std::uint32_t {
  kProgram,      ///< the program's messages
  kCollective,   ///< those of collective calls
  kCreation,     ///< those of MPI_Comm_create_group and MPI_Intercomm_create, which other calls may overtake
  kPartitioned,  ///< those of partitioned operations
};
/// The number of contexts of a communicator.
inline constexpr std::uint32_t kTraffics = 4;
/// The context of messages between processes that have no communicator in common (invitations.hpp).
inline constexpr std::uint32_t kInvitationContext = RMA_CONTEXT_LAST + 1 + kTraffics;

/// A communicator. `context` is the first of its contexts.
///
/// An intercommunicator has two groups. Its size, rank and members are those of the local group. The ranks of
/// messages, world_rank() and rank_of() mean its remote group.
///
/// The program's handle and every pending request count as references.
class Communicator final : public ErrorHandlerOwner {
 public:
  /// A communicator of the program, made from `parent`. `remote` is null for an intracommunicator.
  Communicator(std::shared_ptr<const Members> members, int rank, std::uint32_t context,
               const Communicator& parent, std::shared_ptr<const Members> remote = nullptr);
  /// MPI_COMM_WORLD or MPI_COMM_SELF, or one that was made from a group, if `predefined` is a null pointer.
  /// `session`: see session().
  Communicator(std::shared_ptr<const Members> members, int rank, std::uint32_t context, MPI_Comm predefined,
               MPI_Errhandler handler, std::uint64_t session = kNoSession);
  /// Frees the team of find_team(), which is local, and returns the contexts. Nothing is under way there,
  /// because requests are references.
  ~Communicator() override;

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return members_->size(); }
  [[nodiscard]] const std::shared_ptr<const Members>& members() const { return members_; }
  [[nodiscard]] bool is_inter() const { return remote_ != nullptr; }
  /// Returns the remote group, or null if this is an intracommunicator.
  [[nodiscard]] const std::shared_ptr<const Members>& remote() const { return remote_; }

  /// Returns the number of processes that ranks of messages can name.
  [[nodiscard]] int peer_count() const { return peer_ranks_.size(); }
  /// Returns whether messages can name a process by this rank.
  [[nodiscard]] bool has_peer(int rank) const {
    return static_cast<unsigned>(rank) < static_cast<unsigned>(peer_count());
  }
  /// Returns the world rank of a process that a rank of messages names.
  [[nodiscard]] int world_rank(int rank) const { return peer_ranks_[rank]; }
  /// Returns the rank by which messages name a process of the job, or MPI_UNDEFINED.
  [[nodiscard]] int rank_of(int world_rank) const { return peers_->rank_of(world_rank); }

  /// Returns the number of the session from whose groups this communicator or its oldest ancestor was made,
  /// or kNoSession.
  [[nodiscard]] std::uint64_t session() const { return session_; }

  [[nodiscard]] std::uint32_t context() const { return context_; }
  [[nodiscard]] std::uint32_t context(Traffic traffic) const {
    return context_ + static_cast<std::uint32_t>(traffic);
  }
  [[nodiscard]] std::uint32_t collective_context() const { return context(Traffic::kCollective); }
  /// Returns the context of the program's messages in the form that receives need (rma/unchecked.h), or null
  /// if find_receive_context() has not looked for it.
  [[nodiscard]] rma_receive_context_t* receive_context() const {
    return __atomic_load_n(&receive_context_, __ATOMIC_ACQUIRE);  // pairs with the store below
  }
  /// Does the same, but looks for it first if that is necessary. Returns null if librma has none: then calls
  /// name the context by its number. Thread-safe: all threads find the same.
  [[nodiscard, gnu::always_inline]] rma_receive_context_t* find_receive_context() {
    rma_receive_context_t* found = receive_context();
    if (found == nullptr) [[unlikely]] {
      found = rma_find_receive_context(context_);
      __atomic_store_n(&receive_context_, found, __ATOMIC_RELEASE);
    }
    return found;
  }
  /// Sets the context of a communicator that was made before its members agreed on one (MPI_Comm_idup).
  void set_context(std::uint32_t context);

  /// Returns the intracommunicator of the local group, which is this one unless it is an intercommunicator.
  /// It has the same contexts: two processes are in one group or in two, so messages cannot be taken for each
  /// other.
  [[nodiscard]] const Communicator& local() const { return local_ != nullptr ? *local_ : *this; }
  /// Returns a communicator whose messages of the program are this one's `traffic`. With its handle the
  /// library calls its own MPI functions, which know about datatypes. Thread-safe.
  [[nodiscard]] MPI_Comm carrier(Traffic traffic) const;
  /// Says that the communicator that makes this one for itself returns the contexts.
  Communicator* sharing() {
    shares_contexts_ = true;
    return this;
  }

  /// Counts the partitioned operations that were made with a peer and tag, in one direction. Returns how many
  /// there were before. Thread-safe.
  [[nodiscard]] int count_partitioned(int peer, int tag, bool sends) const;

  /// Returns the rank that draws the context of the next duplicate: each in turn, so that all numbers of the
  /// job serve a program that frees none. All members call it once for each MPI_Comm_dup. One thread at a
  /// time does.
  [[nodiscard]] int next_drawer() const;

  /// Finds the members as a team of librma, on which collectives run: those of the group that decides()
  /// first, if there are two. The first call makes the team, without communication. One thread at a time
  /// makes collective calls on a communicator. Returns MPI_SUCCESS or an error class.
  [[nodiscard]] int find_team(rma_team_t& team);
  /// Returns the team that find_team() has made, or null.
  [[nodiscard]] rma_team_t made_team() const { return __atomic_load_n(&team_, __ATOMIC_ACQUIRE); }
  /// Returns the memory in which the members meet, for the short ways of collective calls
  /// (rma/unchecked.h), or null. One thread at a time makes collective calls, and uses this.
  [[nodiscard]] rma_meeting_t meeting() const { return meeting_; }
  /// Looks for it. Called when a collective call has taken the general way. An intercommunicator has none,
  /// because its team has the members of both groups.
  void find_meeting() {
    if (team_ != nullptr && !is_inter()) meeting_ = rma_team_meeting(team_);
  }
  /// Returns whether only the library's own messages have this communicator (carrier()).
  [[nodiscard]] bool is_carrier() const { return context_ % kTraffics != 0; }
  [[nodiscard]] const Members& peers() const { return *peers_; }

  /// The predefined communicators stay until MPI_Finalize, so nobody counts the references to them.
  void add_reference() override {
    if (counted_) references_.fetch_add(1, std::memory_order_relaxed);
  }
  /// Deletes the communicator with its last reference.
  void remove_reference() override {
    if (has_lost_last_reference()) delete this;
  }
  /// These two do the same in two steps. The first removes a reference, and returns whether it was the last:
  /// then the caller calls the second, which returns MPI_SUCCESS so that it may be the end of an MPI call.
  [[nodiscard, gnu::always_inline]] bool has_lost_last_reference() {
    return counted_ && references_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  [[gnu::noinline]] static int delete_last(Communicator* comm) {
    delete comm;
    return MPI_SUCCESS;
  }

  std::string name;
  Attributes attributes;
  std::shared_ptr<const Topology> topology;  ///< null if it has none; set before the program gets the handle

 private:
  /// Returns the world ranks of all processes: those of the group that decides() first, if there are two.
  [[nodiscard]] std::vector<int> all_ranks() const;

  const std::shared_ptr<const Members> members_;
  const std::shared_ptr<const Members> remote_;
  const Members* const peers_;
  const RankView peer_ranks_;  ///< theirs, which every message looks at
  const int rank_;
  const bool counted_ = !is_predefined();  // see add_reference()
  const std::uint64_t session_;
  std::uint32_t context_;
  rma_receive_context_t* receive_context_ = nullptr;
  bool shares_contexts_ = false;   // with the communicator that made this one for itself
  Communicator* local_ = nullptr;  // of an intercommunicator; holds a reference
  mutable std::mutex lock_;        // guards the carriers and the counts
  mutable std::array<Communicator*, kTraffics> carriers_ =
      {};  // made when first needed; each holds a reference
  mutable std::map<std::tuple<int, int, bool>, int> partitioned_;  // see count_partitioned()
  mutable std::uint32_t duplicates_ = 0;                           // see next_drawer()
  rma_team_t team_ = nullptr;                                      // see find_team()
  rma_meeting_t meeting_ = nullptr;
  std::atomic<int> references_ = 1;
  const ListedPlace<Communicator> listed_{*this};
};

/// A group (MPI 4.1, section 7.2): MPI_GROUP_EMPTY, or an object of the program.
class Group : public Object {
 public:
  explicit Group(std::shared_ptr<const Members> group_members, std::uint64_t of_session = kNoSession,
                 std::uintptr_t predefined = 0)
      : Object(Kind::kGroup, predefined), members(std::move(group_members)), session(of_session) {}
  const std::shared_ptr<const Members> members;
  const std::uint64_t session;  ///< the number of the session that the group comes from, or kNoSession
};

/// Finds the communicator of a handle. MPI_ERR_COMM.
[[nodiscard]] inline Found<Communicator> find_communicator(MPI_Comm handle) {
  return find_or_fail<Communicator>(handle, MPI_ERR_COMM, "the communicator is null or was freed");
}

/// Returns the result of calls on carriers of `comm`. A failure of theirs is one of `comm`.
[[nodiscard]] inline int carried(Communicator& comm, int code) {
  return code == MPI_SUCCESS ? code : failure_of(comm, code);
}

/// Finds the communicator of a handle as above, and checks that it is an intracommunicator.
[[nodiscard]] inline Found<Communicator> find_intracommunicator(MPI_Comm handle) {
  RMA_TRY_ASSIGN(comm, find_communicator(handle));
  if (comm->is_inter()) [[unlikely]]
    return failure(MPI_ERR_COMM, "the communicator is an intercommunicator");
  return comm;
}

/// Returns whether the local group decides what both groups of an intercommunicator have to agree on. Exactly
/// one of the two groups does.
[[nodiscard]] bool decides(const Communicator& inter);

/// Finds the group of a handle. MPI_ERR_GROUP.
[[nodiscard]] inline Found<const Group> find_group(MPI_Group handle) {
  return find_or_fail<const Group>(handle, MPI_ERR_GROUP, "the group is null or was freed");
}

/// Makes the communicator of the members with these ranks in `parent`, in their order. Every one of them
/// calls it. The first of them draws the context and tells the others.
[[nodiscard]] int make_communicator(const Communicator& parent, std::span<const int> ranks, MPI_Comm* made);
/// Does the same by messages of `traffic` with a tag, so that only these members need to call it.
[[nodiscard]] int make_communicator(const Communicator& parent, std::span<const int> ranks, Traffic traffic,
                                    int tag, MPI_Comm* made);

/// Makes MPI_COMM_WORLD, MPI_COMM_SELF and MPI_GROUP_EMPTY. Called by MPI_Init after rma_init.
void make_predefined_communicators();
/// Undoes it. Called by MPI_Finalize.
void end_predefined_communicators();

/// Returns the first context of a new communicator. No other communicator of the job has it or those behind
/// it. Returns 0 if all numbers of this process are in use.
[[nodiscard]] std::uint32_t new_context();
/// Returns a context that this process has drawn and told nobody.
void return_context(std::uint32_t context);
/// Returns the failure of a call whose new_context() was 0.
[[nodiscard, gnu::cold]] int no_context();

}  // namespace librma::mpi
