#include "api/check_collective.hpp"

#include <limits>

#include "api/check.hpp"
#include "api/check_team.hpp"
#include "util/text.hpp"
#include "util/try.hpp"

namespace librma {
namespace {

bool is_rooted(rma_collective_kind_t kind) {
  return kind == RMA_COLLECTIVE_BROADCAST || kind == RMA_COLLECTIVE_GATHER ||
         kind == RMA_COLLECTIVE_SCATTER || kind == RMA_COLLECTIVE_REDUCE;
}

/// Checks an array of `blocks` blocks of `bytes` bytes.
Status check_array(const void* array, std::size_t bytes, std::size_t blocks, const char* argument) {
  if (bytes == 0 || blocks == 0) return {};
  if (bytes > std::numeric_limits<std::size_t>::max() / blocks) {
    return {RMA_ERR_SIZE, text("{} blocks of {} bytes overflow a size", blocks, bytes)};
  }
  return check_range(array, bytes * blocks, argument);
}

Status check_list(const rma_block_t* list, int members, const char* argument) {
  RMA_TRY(check_not_null(list, argument));
  for (int member = 0; member < members; ++member) {
    const rma_block_t& block = list[member];
    RMA_TRY(check_array(block.address, block.bytes, 1, argument));
  }
  return {};
}

/// Checks the blocks of all members in one buffer: an array or a list.
Status check_destination(const rma_collective_t& collective, int members) {
  if (collective.uneven != 0) return check_list(collective.dst_blocks, members, "dst_blocks");
  return check_array(collective.dst, collective.bytes, static_cast<std::size_t>(members), "dst");
}
Status check_source(const rma_collective_t& collective, int members) {
  if (collective.uneven != 0) return check_list(collective.src_blocks, members, "src_blocks");
  return check_array(collective.src, collective.bytes, static_cast<std::size_t>(members), "src");
}

/// Checks the reducer, and the buffers of `in` and `out` elements.
Status check_elements(const rma_collective_t& collective, std::size_t in, std::size_t out) {
  const rma_reducer_t& reducer = collective.reducer;
  if (reducer.combine == nullptr) return null_argument("reducer.combine");
  if (reducer.element_bytes == 0) return {RMA_ERR_ARGUMENT, "the elements of a reduction have 0 bytes"};
  RMA_TRY(check_array(collective.src, reducer.element_bytes, in, "src"));
  return check_array(collective.dst, reducer.element_bytes, out, "dst");
}

Status check_reduce_scatter(const rma_collective_t& collective, int rank, int members) {
  std::size_t total = 0;
  for (int member = 0; member < members; ++member) {
    const std::size_t count = collective.counts != nullptr ? collective.counts[member] : collective.count;
    if (count > std::numeric_limits<std::size_t>::max() - total) {
      return {RMA_ERR_SIZE, text("the blocks of {} members overflow a size", members)};
    }
    total += count;
  }
  return check_elements(collective, total,
                        collective.counts != nullptr ? collective.counts[rank] : collective.count);
}

Status check_neighbor_list(const int* members, int count, const rma_block_t* blocks, int team_size,
                           const char* argument) {
  if (count < 0) return {RMA_ERR_ARGUMENT, text("{} neighbors", count)};
  if (count == 0) return {};
  RMA_TRY(check_not_null(members, argument));
  for (int i = 0; i < count; ++i) {
    if (members[i] < 0 || members[i] >= team_size) return no_member(members[i], team_size);
  }
  return check_list(blocks, count, argument);
}

Status check_neighbors(const rma_collective_t& collective, int members) {
  RMA_TRY(check_neighbor_list(collective.sources, collective.source_count, collective.dst_blocks, members,
                              "sources or dst_blocks"));
  return check_neighbor_list(collective.destinations, collective.destination_count, collective.src_blocks,
                             members, "destinations or src_blocks");
}

/// The part of one member in an operation.
struct Part {
  bool has_own = true;   ///< it has data of its own at every root: not so the root of two groups
  bool at_root = false;  ///< it has the data of the operation's root
  int rank = 0;          ///< among the members of its group
  int group = 0;         ///< the number of these members
  int others = 0;        ///< the number of members with which it exchanges blocks
};

/// Checks the data of one member of a team, or of one of two groups.
Status check_data(const rma_collective_t& collective, const Part& part) {
  switch (collective.kind) {
    case RMA_COLLECTIVE_BARRIER:
      return {};
    case RMA_COLLECTIVE_BROADCAST:
      return check_array(collective.dst, collective.bytes, 1, "dst");
    case RMA_COLLECTIVE_GATHER:
      RMA_TRY(check_array(collective.src, part.has_own ? collective.bytes : 0, 1, "src"));
      return part.at_root ? check_destination(collective, part.others) : Status();
    case RMA_COLLECTIVE_SCATTER:
      RMA_TRY(check_array(collective.dst, part.has_own ? collective.bytes : 0, 1, "dst"));
      return part.at_root ? check_source(collective, part.others) : Status();
    case RMA_COLLECTIVE_ALLGATHER:
      RMA_TRY(check_array(collective.src, collective.bytes, 1, "src"));
      return check_destination(collective, part.others);
    case RMA_COLLECTIVE_ALLTOALL:
      RMA_TRY(check_source(collective, part.others));
      return check_destination(collective, part.others);
    case RMA_COLLECTIVE_REDUCE:
      return check_elements(collective, part.has_own ? collective.count : 0,
                            part.at_root ? collective.count : 0);
    case RMA_COLLECTIVE_ALLREDUCE:
    case RMA_COLLECTIVE_SCAN:
    case RMA_COLLECTIVE_EXSCAN:
      return check_elements(collective, collective.count, collective.count);
    case RMA_COLLECTIVE_REDUCE_SCATTER:
      return check_reduce_scatter(collective, part.rank, part.group);
    case RMA_COLLECTIVE_NEIGHBORS:
      return check_neighbors(collective, part.group);
  }
  return {RMA_ERR_ARGUMENT, text("{} is no collective operation", static_cast<int>(collective.kind))};
}

Status check_two_groups(const Team& team, const rma_collective_t& collective) {
  if (collective.kind == RMA_COLLECTIVE_SCAN || collective.kind == RMA_COLLECTIVE_EXSCAN ||
      collective.kind == RMA_COLLECTIVE_NEIGHBORS) {
    return {RMA_ERR_ARGUMENT,
            text("operation {} does not exist for two groups", static_cast<int>(collective.kind))};
  }
  const int first = collective.first_group;
  if (first < 0 || first >= team.size()) {
    return {RMA_ERR_ARGUMENT,
            text("first_group is {}: a team of {} members cannot be divided there", first, team.size())};
  }
  const bool in_first = team.rank() < first;
  const int own = in_first ? first : team.size() - first;
  if (is_rooted(collective.kind)) {
    if (collective.root == -1) return {};
    if (collective.root < 0 || collective.root >= team.size()) return no_member(collective.root, team.size());
    if (collective.root != team.rank() && (collective.root < first) == in_first) {
      return {RMA_ERR_ARGUMENT,
              text("root {} is in the caller's group, whose other members pass -1", collective.root)};
    }
  }
  const bool at_root = collective.root == team.rank();
  return check_data(collective, {.has_own = !at_root,
                                 .at_root = at_root,
                                 .rank = in_first ? team.rank() : team.rank() - first,
                                 .group = own,
                                 .others = team.size() - own});
}

}  // namespace

Status check_collective(const Team& team, const rma_collective_t& collective) {
  if (collective.first_group != 0) return check_two_groups(team, collective);
  const int members = team.size();
  if (is_rooted(collective.kind) && static_cast<unsigned>(collective.root) >= static_cast<unsigned>(members))
    return no_member(collective.root, members);
  return check_data(
      collective,
      {.at_root = collective.root == team.rank(), .rank = team.rank(), .group = members, .others = members});
}

}  // namespace librma
