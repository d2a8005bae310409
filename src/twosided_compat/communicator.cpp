// Communicators: the predefined ones, and those made by dup and split.

#include "twosided_compat/communicator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>
#include <span>
#include <tuple>

#include "rma/collectives.h"
#include "rma/messages.h"
#include "rma/rma.h"
#include "twosided_compat/buffered_sends.hpp"
#include "twosided_compat/calls.hpp"
#include "twosided_compat/collective.hpp"
#include "twosided_compat/library_failure.hpp"

namespace rma::mpi {
namespace {

/// The contexts of MPI begin here. They end where the sign bit does.
constexpr std::uint32_t kFirstContext = RMA_CONTEXT_LAST + 1;
constexpr unsigned kContextBits = 30;

/// Numbers drawn by this process. Number 0 belongs to the predefined communicators.
std::atomic<std::uint32_t> drawn = 1;

/// A colour and key of MPI_Comm_split, as members tell them to each other.
struct Choice {
  int color = MPI_UNDEFINED;
  int key = 0;
};

int split(const Communicator& parent, Choice own, MPI_Comm* made) {
  std::vector<Choice> choices(static_cast<std::size_t>(parent.size()));
  CollectiveTransfers transfers(parent, CollectiveTag::kSplit);
  if (const int code = transfers.allgather(&own, sizeof own, choices.data()); code != MPI_SUCCESS)
    return code;
  *made = MPI_COMM_NULL;
  if (own.color == MPI_UNDEFINED) return MPI_SUCCESS;
  std::vector<int> ranks;
  for (int rank = 0; rank < parent.size(); ++rank) {
    if (choices[static_cast<std::size_t>(rank)].color == own.color) ranks.push_back(rank);
  }
  std::ranges::stable_sort(ranks, {}, [&](int rank) { return choices[static_cast<std::size_t>(rank)].key; });
  return make_communicator(parent, ranks, made);
}

}  // namespace

int make_communicator(const Communicator& parent, std::span<const int> ranks, MPI_Comm* made) {
  const auto here = std::ranges::find(ranks, parent.rank());
  std::uint32_t context = 0;
  CollectiveTransfers transfers(parent, CollectiveTag::kNewContext);
  if (here == ranks.begin()) {
    context = new_context();
    for (const int other : ranks.subspan(1)) {
      if (const int code = transfers.send(&context, sizeof context, other); code != MPI_SUCCESS) return code;
    }
  } else if (const int code = transfers.receive(&context, sizeof context, ranks.front());
             code != MPI_SUCCESS) {
    return code;
  }
  if (context == 0) return failure(MPI_ERR_OTHER, "rank 0 of the new communicator has made too many");
  std::vector<int> world(ranks.size());
  std::ranges::transform(ranks, world.begin(), [&](int rank) { return parent.world_rank(rank); });
  auto members = std::make_shared<const Members>(std::move(world), parent.members()->world_size());
  *made = (new Communicator(std::move(members), static_cast<int>(here - ranks.begin()), context, parent))
              ->handle<MPI_Comm>();
  return MPI_SUCCESS;
}

Members::Members(std::vector<int> world, int world_size)
    : world_(std::move(world)), ranks_(static_cast<std::size_t>(world_size), MPI_UNDEFINED) {
  for (std::size_t rank = 0; rank < world_.size(); ++rank) {
    ranks_[static_cast<std::size_t>(world_[rank])] = static_cast<int>(rank);
  }
}

Communicator::~Communicator() {
  if (team_ != nullptr) static_cast<void>(rma_team_free(&team_));
}

int Communicator::find_team(rma_team_t& team) {
  if (team_ == nullptr) {
    // Each communicator has one number in the upper half of those for attached teams. That of MPI_COMM_SELF does
    // not matter: a team of one sends no messages.
    constexpr std::uint32_t kFirstTeam = RMA_CONTEXT_LAST / 2 + 1;
    const std::uint32_t number = kFirstTeam | ((context_ - kFirstContext) / 2 & (kFirstTeam - 1));
    const std::vector<int>& ranks = members_->world_ranks();
    if (const int code = checked(rma_team_attach(ranks.data(), size(), number, &team_)); code != MPI_SUCCESS)
      return code;
  }
  team = team_;
  return MPI_SUCCESS;
}

// The upper bits are the world rank of the process that draws, so that processes need not agree on a number.
std::uint32_t new_context() {
  const auto ranks = static_cast<std::uint32_t>(rma_size());
  const auto rank_bits = static_cast<unsigned>(std::bit_width(ranks - 1));
  const unsigned own_bits = kContextBits - 1 - rank_bits;  // each communicator takes two contexts
  const std::uint32_t number = drawn.fetch_add(1, std::memory_order_relaxed);
  if (number >> own_bits != 0) return 0;
  return kFirstContext + 2 * ((static_cast<std::uint32_t>(rma_rank()) << own_bits) + number);
}

void make_predefined_communicators() {
  const int size = rma_size();
  std::vector<int> all(static_cast<std::size_t>(size));
  std::iota(all.begin(), all.end(), 0);
  const auto publish = [](Communicator* comm, const char* name) {
    comm->name = name;
    publish_predefined(*comm);
  };
  const auto handler = [](MPI_Comm comm) {
    const auto* const before = find<ErrorHandlerOwner>(comm);
    return before != nullptr ? before->errors.get() : MPI_ERRORS_ARE_FATAL;
  };
  publish(new Communicator(std::make_shared<const Members>(std::move(all), size), rma_rank(), kFirstContext,
                           MPI_COMM_WORLD, handler(MPI_COMM_WORLD)),
          "MPI_COMM_WORLD");
  // Messages of one process to itself never meet those of others, so all processes use the same contexts.
  publish(new Communicator(std::make_shared<const Members>(std::vector{rma_rank()}, size), 0, UINT32_MAX - 1,
                           MPI_COMM_SELF, handler(MPI_COMM_SELF)),
          "MPI_COMM_SELF");
  publish_predefined(
      *new Group(std::make_shared<const Members>(std::vector<int>(), size), bits(MPI_GROUP_EMPTY)));
}

void end_predefined_communicators() {
  for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
    if (auto* const object = find<Communicator>(comm); object != nullptr) {
      withdraw_predefined(*object);
      delete object;
    }
  }
}

int comm_size(MPI_Comm handle, int* size) {
  Communicator* comm = nullptr;
  if (const int code = find_communicator(handle, comm); code != MPI_SUCCESS) return code;
  if (size == nullptr) return failure(MPI_ERR_ARG, "size is null");
  *size = comm->size();
  return MPI_SUCCESS;
}

int comm_rank(MPI_Comm handle, int* rank) {
  Communicator* comm = nullptr;
  if (const int code = find_communicator(handle, comm); code != MPI_SUCCESS) return code;
  if (rank == nullptr) return failure(MPI_ERR_ARG, "rank is null");
  *rank = comm->rank();
  return MPI_SUCCESS;
}

int comm_dup(MPI_Comm handle, MPI_Comm* made) {
  Communicator* comm = nullptr;
  if (const int code = find_communicator(handle, comm); code != MPI_SUCCESS) return code;
  if (made == nullptr) return failure(MPI_ERR_ARG, "newcomm is null");
  std::vector<int> ranks(static_cast<std::size_t>(comm->size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  MPI_Comm copy = MPI_COMM_NULL;
  if (const int code = make_communicator(*comm, ranks, &copy); code != MPI_SUCCESS) return code;
  auto* const duplicate = find<Communicator>(copy);
  if (const int code = duplicate->attributes.copy_from(comm->attributes, handle); code != MPI_SUCCESS) {
    duplicate->remove_reference();
    return code;
  }
  *made = copy;
  return MPI_SUCCESS;
}

int comm_split(MPI_Comm handle, int color, int key, MPI_Comm* made) {
  Communicator* comm = nullptr;
  if (const int code = find_communicator(handle, comm); code != MPI_SUCCESS) return code;
  if (made == nullptr) return failure(MPI_ERR_ARG, "newcomm is null");
  if (color < 0 && color != MPI_UNDEFINED)
    return failure(MPI_ERR_ARG, fmt::format("color {} is negative", color));
  return split(*comm, {.color = color, .key = key}, made);
}

int comm_split_type(MPI_Comm handle, int type, int key, MPI_Info /*info*/, MPI_Comm* made) {
  Communicator* comm = nullptr;
  if (const int code = find_communicator(handle, comm); code != MPI_SUCCESS) return code;
  if (made == nullptr) return failure(MPI_ERR_ARG, "newcomm is null");
  if (type != MPI_COMM_TYPE_SHARED && type != MPI_UNDEFINED) {
    // Processes that differ in no hardware that this library knows of: the standard allows a null
    // communicator.
    if (type == MPI_COMM_TYPE_HW_UNGUIDED || type == MPI_COMM_TYPE_HW_GUIDED ||
        type == MPI_COMM_TYPE_RESOURCE_GUIDED) {
      return split(*comm, {}, made);
    }
    return failure(MPI_ERR_ARG, fmt::format("there is no split type {}", type));
  }
  // The colour of a host is its first rank of the job.
  int first = 0;
  while (!rma_same_host(first)) ++first;
  return split(*comm, {.color = type == MPI_UNDEFINED ? MPI_UNDEFINED : first, .key = key}, made);
}

int comm_free(MPI_Comm* handle) {
  if (handle == nullptr) return failure(MPI_ERR_ARG, "comm is null");
  Communicator* comm = nullptr;
  if (const int code = find_communicator(*handle, comm); code != MPI_SUCCESS) return code;
  if (comm->is_predefined()) return failure(MPI_ERR_COMM, "a predefined communicator cannot be freed");
  if (const int code = comm->attributes.remove_all(*handle); code != MPI_SUCCESS) return code;
  detach_buffer_of(*comm);
  *handle = MPI_COMM_NULL;
  comm->remove_reference();
  return MPI_SUCCESS;
}

int comm_disconnect(MPI_Comm* handle) { return comm_free(handle); }

int comm_compare(MPI_Comm first, MPI_Comm second, int* result) {
  Communicator* one = nullptr;
  Communicator* other = nullptr;
  if (const int code = find_communicator(first, one); code != MPI_SUCCESS) return code;
  if (const int code = find_communicator(second, other); code != MPI_SUCCESS) return code;
  if (result == nullptr) return failure(MPI_ERR_ARG, "result is null");
  std::vector<int> left = one->members()->world_ranks();
  std::vector<int> right = other->members()->world_ranks();
  if (one == other) {
    *result = MPI_IDENT;
  } else if (left == right) {
    *result = MPI_CONGRUENT;
  } else {
    std::ranges::sort(left);
    std::ranges::sort(right);
    *result = left == right ? MPI_SIMILAR : MPI_UNEQUAL;
  }
  return MPI_SUCCESS;
}

int comm_test_inter(MPI_Comm handle, int* flag) {
  Communicator* comm = nullptr;
  if (const int code = find_communicator(handle, comm); code != MPI_SUCCESS) return code;
  if (flag == nullptr) return failure(MPI_ERR_ARG, "flag is null");
  *flag = 0;  // there are no intercommunicators yet
  return MPI_SUCCESS;
}

int comm_set_name(MPI_Comm handle, const char* name) {
  Communicator* comm = nullptr;
  if (const int code = find_communicator(handle, comm); code != MPI_SUCCESS) return code;
  if (name == nullptr) return failure(MPI_ERR_ARG, "comm_name is null");
  comm->name.assign(name, strnlen(name, MPI_MAX_OBJECT_NAME - 1));
  return MPI_SUCCESS;
}

int comm_get_name(MPI_Comm handle, char* name, int* length) {
  Communicator* comm = nullptr;
  if (const int code = find_communicator(handle, comm); code != MPI_SUCCESS) return code;
  if (name == nullptr || length == nullptr) return failure(MPI_ERR_ARG, "comm_name or resultlen is null");
  std::memcpy(name, comm->name.c_str(), comm->name.size() + 1);
  *length = static_cast<int>(comm->name.size());
  return MPI_SUCCESS;
}

}  // namespace rma::mpi
