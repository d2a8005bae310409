#include "shmem/collectives/collectives.hpp"

#include <cstring>
#include <vector>

#include "rma/collectives.h"
#include "shmem/job/job.hpp"

namespace librma::shmem {
namespace {

std::size_t size_of(Call call, rma_team_t team) {
  int size = 0;
  require(rma_team_info(team, nullptr, &size), call);
  return static_cast<std::size_t>(size);
}

std::size_t multiplied(Call call, std::size_t a, std::size_t b) {
  std::size_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) die(call, "the number of elements is too large");
  return product;
}

}  // namespace

void broadcast_bytes(Call call, rma_team_t team, void* dest, const void* source, std::size_t bytes, int root,
                     bool to_root) {
  int me = 0;
  int size = 0;
  require(rma_team_info(team, &me, &size), call);
  if (root < 0 || root >= size)
    die(call, fmt::format("there is no root {}; the team has PEs 0 to {}", root, size - 1));
  if (bytes == 0) return;
  check_symmetric(call, me == root ? source : dest, bytes);
  void* const buffer = me == root ? const_cast<void*>(source) : dest;  // the root's is only read
  require(rma_broadcast(team, collective_address(buffer), bytes, root), call);
  if (me == root && to_root && dest != source) std::memcpy(dest, source, bytes);
}

void collect_bytes(Call call, rma_team_t team, void* dest, const void* source, std::size_t bytes) {
  std::vector<std::size_t> sizes(size_of(call, team));
  require(rma_allgather(team, sizes.data(), &bytes, sizeof bytes), call);
  std::vector<rma_block_t> blocks;
  blocks.reserve(sizes.size());
  auto* next = static_cast<std::byte*>(collective_address(dest));
  const std::byte* const first = next;
  for (const std::size_t size : sizes) {
    blocks.push_back({.address = next, .bytes = size});
    next += size;
  }
  check_symmetric(call, dest, static_cast<std::size_t>(next - first));
  rma_collective_t gather = {};
  gather.kind = RMA_COLLECTIVE_ALLGATHER;
  gather.src = collective_address(source);
  gather.bytes = bytes;
  gather.uneven = 1;
  gather.dst_blocks = blocks.data();
  rma_request_t request = RMA_REQUEST_NULL;
  require(rma_collective_nb(team, &gather, &request), call);
  require(rma_wait(&request), call);
}

void fcollect_bytes(Call call, rma_team_t team, void* dest, const void* source, std::size_t bytes) {
  if (bytes == 0) return;
  if (job.debug) check_symmetric(call, dest, multiplied(call, bytes, size_of(call, team)));
  require(rma_allgather(team, collective_address(dest), collective_address(source), bytes), call);
}

void alltoall_bytes(Call call, rma_team_t team, void* dest, const void* source, std::size_t bytes) {
  if (bytes == 0) return;
  if (job.debug) check_symmetric(call, dest, multiplied(call, bytes, size_of(call, team)));
  require(rma_alltoall(team, collective_address(dest), collective_address(source), bytes), call);
}

void alltoalls_elements(Call call, rma_team_t team, void* dest, const void* source, std::ptrdiff_t dst,
                        std::ptrdiff_t sst, std::size_t count, std::size_t element) {
  if (count == 0) return;
  if (dst < 1 || sst < 1)
    die(call, fmt::format("the strides are {} and {}; they must be at least 1", dst, sst));
  const std::size_t elements = multiplied(call, count, size_of(call, team));
  const std::size_t bytes = multiplied(call, elements, element);
  std::vector<std::byte> sent(bytes);
  std::vector<std::byte> received(bytes);
  const std::size_t from_step = multiplied(call, static_cast<std::size_t>(sst), element);
  const std::size_t to_step = multiplied(call, static_cast<std::size_t>(dst), element);
  for (std::size_t i = 0; i < elements; ++i) {
    std::memcpy(sent.data() + i * element, static_cast<const std::byte*>(source) + i * from_step, element);
  }
  require(rma_alltoall(team, received.data(), sent.data(), count * element), call);
  for (std::size_t i = 0; i < elements; ++i) {
    std::memcpy(static_cast<std::byte*>(dest) + i * to_step, received.data() + i * element, element);
  }
}

}  // namespace librma::shmem
