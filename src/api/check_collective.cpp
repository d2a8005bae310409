#include "api/check_collective.hpp"

#include <limits>

#include "api/check.hpp"
#include "util/text.hpp"

namespace rma {
namespace {

/// Checks an array of `blocks` blocks of `bytes` bytes.
Status check_array(const void* array, std::size_t bytes, std::size_t blocks, const char* argument) {
  if (bytes == 0 || blocks == 0) return {};
  if (bytes > std::numeric_limits<std::size_t>::max() / blocks) {
    return {RMA_ERR_SIZE, text("{} blocks of {} bytes overflow a size", blocks, bytes)};
  }
  return check_range(array, bytes * blocks, argument);
}

Status check_list(const rma_block_t* list, int members, const char* argument) {
  if (Status status = check_not_null(list, argument); !status.ok()) return status;
  for (int member = 0; member < members; ++member) {
    const rma_block_t& block = list[member];
    if (Status status = check_array(block.address, block.bytes, 1, argument); !status.ok()) return status;
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
  if (Status status = check_array(collective.src, reducer.element_bytes, in, "src"); !status.ok())
    return status;
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

}  // namespace

Status check_collective(const Team& team, const rma_collective_t& collective) {
  const int members = team.size();
  const bool rooted = collective.kind == RMA_COLLECTIVE_BROADCAST ||
                      collective.kind == RMA_COLLECTIVE_GATHER || collective.kind == RMA_COLLECTIVE_SCATTER ||
                      collective.kind == RMA_COLLECTIVE_REDUCE;
  if (rooted && static_cast<unsigned>(collective.root) >= static_cast<unsigned>(members))
    return no_member(collective.root, members);
  const bool at_root = collective.root == team.rank();
  switch (collective.kind) {
    case RMA_COLLECTIVE_BARRIER:
      return {};
    case RMA_COLLECTIVE_BROADCAST:
      return check_array(collective.dst, collective.bytes, 1, "dst");
    case RMA_COLLECTIVE_GATHER:
      if (Status status = check_array(collective.src, collective.bytes, 1, "src"); !status.ok())
        return status;
      return at_root ? check_destination(collective, members) : Status();
    case RMA_COLLECTIVE_SCATTER:
      if (Status status = check_array(collective.dst, collective.bytes, 1, "dst"); !status.ok())
        return status;
      return at_root ? check_source(collective, members) : Status();
    case RMA_COLLECTIVE_ALLGATHER:
      if (Status status = check_array(collective.src, collective.bytes, 1, "src"); !status.ok())
        return status;
      return check_destination(collective, members);
    case RMA_COLLECTIVE_ALLTOALL:
      if (Status status = check_source(collective, members); !status.ok()) return status;
      return check_destination(collective, members);
    case RMA_COLLECTIVE_REDUCE:
      return check_elements(collective, collective.count, at_root ? collective.count : 0);
    case RMA_COLLECTIVE_ALLREDUCE:
    case RMA_COLLECTIVE_SCAN:
    case RMA_COLLECTIVE_EXSCAN:
      return check_elements(collective, collective.count, collective.count);
    case RMA_COLLECTIVE_REDUCE_SCATTER:
      return check_reduce_scatter(collective, team.rank(), members);
  }
  return {RMA_ERR_ARGUMENT, text("{} is no collective operation", static_cast<int>(collective.kind))};
}

}  // namespace rma
