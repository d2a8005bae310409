#pragma once

#include <cstddef>

#include "rma/rma.h"
#include "shmem/teams/teams.hpp"
#include "shmem/transfers/transfers.hpp"

// Collective operations on teams. The functions on rma_team_t serve active sets, too.

namespace librma::shmem {

/// Copies the root's source to the `dest` of the others, and to the root's own if `to_root`.
void broadcast_bytes(Call call, rma_team_t team, void* dest, const void* source, std::size_t bytes, int root,
                     bool to_root);
/// Gathers sources of different sizes.
void collect_bytes(Call call, rma_team_t team, void* dest, const void* source, std::size_t bytes);
void fcollect_bytes(Call call, rma_team_t team, void* dest, const void* source, std::size_t bytes);
void alltoall_bytes(Call call, rma_team_t team, void* dest, const void* source, std::size_t bytes);
/// The distances from element to element are `dst` and `sst` elements of `element` bytes.
void alltoalls_elements(Call call, rma_team_t team, void* dest, const void* source, std::ptrdiff_t dst,
                        std::ptrdiff_t sst, std::size_t count, std::size_t element);

template <typename T>
int broadcast(Call call, shmem_team_t team, void* dest, const void* source, std::size_t count, int root) {
  broadcast_bytes(call, team_of(call, team).team, dest, source, bytes_of<T>(count), root, true);
  return 0;
}

template <typename T>
int collect(Call call, shmem_team_t team, void* dest, const void* source, std::size_t count) {
  collect_bytes(call, team_of(call, team).team, dest, source, bytes_of<T>(count));
  return 0;
}

template <typename T>
int fcollect(Call call, shmem_team_t team, void* dest, const void* source, std::size_t count) {
  fcollect_bytes(call, team_of(call, team).team, dest, source, bytes_of<T>(count));
  return 0;
}

template <typename T>
int alltoall(Call call, shmem_team_t team, void* dest, const void* source, std::size_t count) {
  alltoall_bytes(call, team_of(call, team).team, dest, source, bytes_of<T>(count));
  return 0;
}

template <typename T>
int alltoalls(Call call, shmem_team_t team, void* dest, const void* source, std::ptrdiff_t dst,
              std::ptrdiff_t sst, std::size_t count) {
  alltoalls_elements(call, team_of(call, team).team, dest, source, dst, sst, count, sizeof(T));
  return 0;
}

}  // namespace librma::shmem
