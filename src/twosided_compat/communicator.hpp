#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mpi.h"
#include "rma/rma.h"
#include "twosided_compat/attributes.hpp"
#include "twosided_compat/errors.hpp"
#include "twosided_compat/object.hpp"

namespace rma::mpi {

/// The members of a communicator or group: world ranks, in the order of their ranks there. It never changes.
class Members {
 public:
  /// `world`: different world ranks below `world_size`.
  Members(std::vector<int> world, int world_size);

  [[nodiscard]] int size() const { return static_cast<int>(world_.size()); }
  /// Returns the world rank of a member.
  [[nodiscard]] int world_rank(int rank) const { return world_[static_cast<std::size_t>(rank)]; }
  /// Returns the rank of a process of the job, or MPI_UNDEFINED if it is no member.
  [[nodiscard]] int rank_of(int world_rank) const { return ranks_[static_cast<std::size_t>(world_rank)]; }
  [[nodiscard]] const std::vector<int>& world_ranks() const { return world_; }
  [[nodiscard]] int world_size() const { return static_cast<int>(ranks_.size()); }

 private:
  std::vector<int> world_;
  std::vector<int> ranks_;  // by world rank
};

/// A communicator. Its two contexts (rma/messages.h) keep its messages apart from those of others: `context`
/// is for the program's messages and `context` + 1 for those of collectives.
///
/// The program's handle and every pending request count as references.
class Communicator : public ErrorHandlerOwner {
 public:
  /// A communicator of the program, made from `parent`.
  Communicator(std::shared_ptr<const Members> members, int rank, std::uint32_t context,
               const Communicator& parent)
      : ErrorHandlerOwner(Kind::kComm, parent.errors),
        members_(std::move(members)),
        rank_(rank),
        context_(context) {}
  /// MPI_COMM_WORLD or MPI_COMM_SELF.
  Communicator(std::shared_ptr<const Members> members, int rank, std::uint32_t context, MPI_Comm predefined,
               MPI_Errhandler handler)
      : ErrorHandlerOwner(Kind::kComm, bits(predefined), handler),
        members_(std::move(members)),
        rank_(rank),
        context_(context) {}

  /// Frees the team of find_team(), which is local. Nothing is under way there, because requests are references.
  ~Communicator();

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return members_->size(); }
  [[nodiscard]] const std::shared_ptr<const Members>& members() const { return members_; }
  [[nodiscard]] int world_rank(int rank) const { return members_->world_rank(rank); }
  [[nodiscard]] int rank_of(int world_rank) const { return members_->rank_of(world_rank); }
  [[nodiscard]] std::uint32_t context() const { return context_; }
  [[nodiscard]] std::uint32_t collective_context() const { return context_ + 1; }

  /// Finds the members as a team of librma, on which nonblocking collectives run. The first call makes it, without
  /// communication. One thread at a time makes collective calls on a communicator. Returns MPI_SUCCESS or an error
  /// class.
  [[nodiscard]] int find_team(rma_team_t& team);

  /// The predefined communicators stay until MPI_Finalize, so nobody counts the references to them.
  void add_reference() override {
    if (!is_predefined()) references_.fetch_add(1, std::memory_order_relaxed);
  }
  /// Deletes the communicator with its last reference.
  void remove_reference() override {
    if (!is_predefined() && references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  std::string name;
  Attributes attributes;

 private:
  const std::shared_ptr<const Members> members_;
  const int rank_;
  const std::uint32_t context_;
  rma_team_t team_ = nullptr;
  std::atomic<int> references_ = 1;
};

/// A group (MPI 4.1, section 7.2): MPI_GROUP_EMPTY, or an object of the program.
class Group : public Object {
 public:
  explicit Group(std::shared_ptr<const Members> group_members, std::uintptr_t predefined = 0)
      : Object(Kind::kGroup, predefined), members(std::move(group_members)) {}
  const std::shared_ptr<const Members> members;
};

/// Finds the communicator of a handle. Returns MPI_SUCCESS or MPI_ERR_COMM.
[[nodiscard]] inline int find_communicator(MPI_Comm handle, Communicator*& comm) {
  comm = find<Communicator>(handle);
  if (comm == nullptr) [[unlikely]]
    return failure(MPI_ERR_COMM, "the communicator is null or was freed");
  return MPI_SUCCESS;
}

/// Makes the communicator of the members with these ranks in `parent`, in their order. Every one of them
/// calls it. The first of them draws the context and tells the others.
[[nodiscard]] int make_communicator(const Communicator& parent, std::span<const int> ranks, MPI_Comm* made);

/// Makes MPI_COMM_WORLD, MPI_COMM_SELF and MPI_GROUP_EMPTY. Called by MPI_Init after rma_init.
void make_predefined_communicators();
/// Undoes it. Called by MPI_Finalize.
void end_predefined_communicators();

/// Returns a context for a communicator whose first member is this process. It and the next number were never
/// given to any other communicator of the job. Returns 0 if there is none left.
[[nodiscard]] std::uint32_t new_context();

}  // namespace rma::mpi
