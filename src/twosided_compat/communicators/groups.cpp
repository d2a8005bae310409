// Groups of processes (MPI 4.1, section 7.3).

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "rma/launcher.h"
#include "rma/rma.h"
#include "twosided_compat/calls.hpp"
#include "twosided_compat/communicators/communicator.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma::mpi {

namespace {

int find_groups(MPI_Group first, MPI_Group second, const Group*& one, const Group*& other) {
  RMA_TRY(find_group(first).store(one));
  return find_group(second).store(other);
}

/// `session`: that of the groups from which this one is made.
int make_group(std::vector<int> world, std::uint64_t session, MPI_Group* made) {
  if (world.empty()) {
    *made = MPI_GROUP_EMPTY;
  } else {
    *made = (new Group(std::make_shared<const Members>(std::move(world), rma_seats()), session))
                ->handle<MPI_Group>();
  }
  return MPI_SUCCESS;
}

/// Returns the session of a group made from two. MPI_GROUP_EMPTY, which may be one of them, has none.
std::uint64_t session_of(const Group& one, const Group& other) {
  return one.session != kNoSession ? one.session : other.session;
}

int bad_group_rank(int rank, const Members& members) {
  return failure(MPI_ERR_RANK,
                 fmt::format("rank {} is not in a group of {} processes", rank, members.size()));
}

int given_twice(int rank) { return failure(MPI_ERR_RANK, fmt::format("rank {} is given twice", rank)); }

/// Checks ranks of a group, which have to differ. Stores into `chosen` which of the group's members they are.
int choose(const Members& members, std::span<const int> ranks, std::vector<bool>& chosen) {
  chosen.assign(static_cast<std::size_t>(members.size()), false);
  for (const int rank : ranks) {
    if (rank < 0 || rank >= members.size()) return bad_group_rank(rank, members);
    if (chosen[static_cast<std::size_t>(rank)]) return given_twice(rank);
    chosen[static_cast<std::size_t>(rank)] = true;
  }
  return MPI_SUCCESS;
}

int include(MPI_Group handle, std::span<const int> ranks, MPI_Group* made) {
  std::vector<bool> chosen;
  RMA_TRY_ASSIGN(group, find_group(handle));
  // Few ranks of a large group take few steps if they ascend: they differ then.
  const bool ascend = std::ranges::adjacent_find(ranks, std::ranges::greater_equal()) == ranks.end();
  const bool exist = ranks.empty() || (ranks.front() >= 0 && ranks.back() < group->members->size());
  if (!ascend || !exist) {
    RMA_TRY(choose(*group->members, ranks, chosen));
  }
  std::vector<int> world(ranks.size());
  std::ranges::transform(ranks, world.begin(), [&](int rank) { return group->members->world_rank(rank); });
  return make_group(std::move(world), group->session, made);
}

int exclude(MPI_Group handle, std::span<const int> ranks, MPI_Group* made) {
  std::vector<bool> chosen;
  RMA_TRY_ASSIGN(group, find_group(handle));
  RMA_TRY(choose(*group->members, ranks, chosen));
  std::vector<int> world;
  for (int rank = 0; rank < group->members->size(); ++rank) {
    if (!chosen[static_cast<std::size_t>(rank)]) world.push_back(group->members->world_rank(rank));
  }
  return make_group(std::move(world), group->session, made);
}

int check_list(int n, const void* list) {
  if (n < 0) return failure(MPI_ERR_ARG, fmt::format("n is {}", n));
  if (n != 0 && list == nullptr) return failure(MPI_ERR_ARG, "the list of ranks is null");
  return MPI_SUCCESS;
}

/// Expands triplets of first rank, last rank and stride. `limit`, the size of the group, bounds the ranks.
int expand(int n, const int ranges[][3], int limit, std::vector<int>& ranks) {
  RMA_TRY(check_list(n, ranges));
  for (int i = 0; i < n; ++i) {
    const auto [first, last, stride] = std::array{ranges[i][0], ranges[i][1], ranges[i][2]};
    if (stride == 0) return failure(MPI_ERR_ARG, "the stride of a range is 0");
    for (const int end : {first, last}) {
      if (end < 0 || end >= limit)
        return failure(MPI_ERR_RANK, fmt::format("rank {} is not in a group of {} processes", end, limit));
    }
    const long step = stride;
    for (long rank = first; step > 0 ? rank <= last : rank >= last; rank += step) {
      // Ends ranges that overlap before they fill the memory.
      if (ranks.size() == static_cast<std::size_t>(limit)) return given_twice(static_cast<int>(rank));
      ranks.push_back(static_cast<int>(rank));
    }
  }
  return MPI_SUCCESS;
}

/// Makes the group of those processes of `first` that are in `second`, or of those that are not.
int make_selection(MPI_Group first, MPI_Group second, bool in_second, MPI_Group* made) {
  const Group* group = nullptr;
  const Group* other = nullptr;
  RMA_TRY(find_groups(first, second, group, other));
  std::vector<int> world;
  std::ranges::copy_if(group->members->world_ranks(), std::back_inserter(world), [&](int rank) {
    return (other->members->rank_of(rank) != MPI_UNDEFINED) == in_second;
  });
  return make_group(std::move(world), session_of(*group, *other), made);
}

}  // namespace

int group_size(MPI_Group handle, int* size) {
  RMA_TRY_ASSIGN(group, find_group(handle));
  *size = group->members->size();
  return MPI_SUCCESS;
}

int group_rank(MPI_Group handle, int* rank) {
  RMA_TRY_ASSIGN(group, find_group(handle));
  *rank = group->members->rank_of(rma_rank());
  return MPI_SUCCESS;
}

int group_translate_ranks(MPI_Group from, int n, const int ranks[], MPI_Group into, int translated[]) {
  const Group* group = nullptr;
  const Group* other = nullptr;
  RMA_TRY(find_groups(from, into, group, other));
  RMA_TRY(check_list(n, ranks));
  RMA_TRY(check_list(n, translated));
  for (int i = 0; i < n; ++i) {
    if (ranks[i] == MPI_PROC_NULL) {
      translated[i] = MPI_PROC_NULL;
      continue;
    }
    if (ranks[i] < 0 || ranks[i] >= group->members->size()) return bad_group_rank(ranks[i], *group->members);
    translated[i] = other->members->rank_of(group->members->world_rank(ranks[i]));
  }
  return MPI_SUCCESS;
}

int group_compare(MPI_Group first, MPI_Group second, int* result) {
  const Group* group = nullptr;
  const Group* other = nullptr;
  RMA_TRY(find_groups(first, second, group, other));
  if (*group->members == *other->members) {
    *result = MPI_IDENT;
  } else {
    *result = group->members->has_same(*other->members) ? MPI_SIMILAR : MPI_UNEQUAL;
  }
  return MPI_SUCCESS;
}

int group_union(MPI_Group first, MPI_Group second, MPI_Group* made) {
  const Group* group = nullptr;
  const Group* other = nullptr;
  RMA_TRY(find_groups(first, second, group, other));
  std::vector<int> world = group->members->list();
  std::ranges::copy_if(other->members->world_ranks(), std::back_inserter(world),
                       [&](int rank) { return group->members->rank_of(rank) == MPI_UNDEFINED; });
  return make_group(std::move(world), session_of(*group, *other), made);
}

int group_intersection(MPI_Group first, MPI_Group second, MPI_Group* made) {
  return make_selection(first, second, true, made);
}

int group_difference(MPI_Group first, MPI_Group second, MPI_Group* made) {
  return make_selection(first, second, false, made);
}

int group_incl(MPI_Group group, int n, const int ranks[], MPI_Group* made) {
  RMA_TRY(check_list(n, ranks));
  return include(group, {ranks, static_cast<std::size_t>(n)}, made);
}

int group_excl(MPI_Group group, int n, const int ranks[], MPI_Group* made) {
  RMA_TRY(check_list(n, ranks));
  return exclude(group, {ranks, static_cast<std::size_t>(n)}, made);
}

int group_range_incl(MPI_Group handle, int n, int ranges[][3], MPI_Group* made) {
  std::vector<int> ranks;
  RMA_TRY_ASSIGN(group, find_group(handle));
  RMA_TRY(expand(n, ranges, group->members->size(), ranks));
  return include(handle, ranks, made);
}

int group_range_excl(MPI_Group handle, int n, int ranges[][3], MPI_Group* made) {
  std::vector<int> ranks;
  RMA_TRY_ASSIGN(group, find_group(handle));
  RMA_TRY(expand(n, ranges, group->members->size(), ranks));
  return exclude(handle, ranks, made);
}

int group_free(MPI_Group* handle) {
  RMA_TRY_ASSIGN(group, find_group(*handle));
  // MPI_GROUP_EMPTY may be the result of the calls above, so a program may free it like any other.
  if (!group->is_predefined()) delete group;
  *handle = MPI_GROUP_NULL;
  return MPI_SUCCESS;
}

}  // namespace librma::mpi
