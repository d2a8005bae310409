#pragma once

#include <cstddef>

#include "shmem/collectives/collectives.hpp"
#include "shmem/collectives/reductions.hpp"

// Deprecated collective operations on active sets: PE_size PEs from PE_start on, 2 to the power of
// logPE_stride apart. The work arrays pWrk and pSync are not used.

namespace librma::shmem {

/// Returns the team of an active set, or null if this PE is not in it. The first call for a set makes its
/// team, which all members do alike. The first call of a PE that is not in its set prints a warning.
rma_team_t team_of_set(Call call, int start, int log_stride, int size);
/// Forgets the teams.
void forget_active_sets();

/// Calls `body` with the team of an active set. Old programs make such calls on all PEs: one that is not in
/// the set returns at once, as other implementations do.
template <typename Body>
void on_set(Call call, int start, int log_stride, int size, const Body& body) {
  if (const rma_team_t team = team_of_set(call, start, log_stride, size); team != nullptr) body(team);
}

void barrier(Call call, int start, int log_stride, int size, long* work);
void sync(Call call, int start, int log_stride, int size, long* work);

template <typename T>
void broadcast_set(Call call, void* dest, const void* source, std::size_t count, int root, int start,
                   int log_stride, int size, long* /*work*/) {
  // The root's own destination does not change.
  on_set(call, start, log_stride, size, [&](rma_team_t team) {
    broadcast_bytes(call, team, dest, source, bytes_of<T>(count), root, false);
  });
}

template <typename T>
void collect_set(Call call, void* dest, const void* source, std::size_t count, int start, int log_stride,
                 int size, long* /*work*/) {
  on_set(call, start, log_stride, size,
         [&](rma_team_t team) { collect_bytes(call, team, dest, source, bytes_of<T>(count)); });
}

template <typename T>
void fcollect_set(Call call, void* dest, const void* source, std::size_t count, int start, int log_stride,
                  int size, long* /*work*/) {
  on_set(call, start, log_stride, size,
         [&](rma_team_t team) { fcollect_bytes(call, team, dest, source, bytes_of<T>(count)); });
}

template <typename T>
void alltoall_set(Call call, void* dest, const void* source, std::size_t count, int start, int log_stride,
                  int size, long* /*work*/) {
  on_set(call, start, log_stride, size,
         [&](rma_team_t team) { alltoall_bytes(call, team, dest, source, bytes_of<T>(count)); });
}

template <typename T>
void alltoalls_set(Call call, void* dest, const void* source, std::ptrdiff_t dst, std::ptrdiff_t sst,
                   std::size_t count, int start, int log_stride, int size, long* /*work*/) {
  on_set(call, start, log_stride, size,
         [&](rma_team_t team) { alltoalls_elements(call, team, dest, source, dst, sst, count, sizeof(T)); });
}

template <rma_reduction_t Op, typename T>
void reduce_set(Call call, T* dest, const T* source, int count, int start, int log_stride, int size,
                T* /*work*/, long* /*sync*/) {
  if (count < 0) die(call, fmt::format("the number of elements, {}, is negative", count));
  on_set(call, start, log_stride, size, [&](rma_team_t team) {
    reduce_on<Op, T>(call, team, dest, source, static_cast<std::size_t>(count));
  });
}

}  // namespace librma::shmem
