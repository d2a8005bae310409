// The functions behind the entry points that functions.txt lists, except the transfers (transfers.hpp).
#pragma once

#include <ISO_Fortran_binding.h>

#include <cstddef>
#include <cstdint>

#include "fortran/array.hpp"
#include "rma/rma.h"
#include "util/status.hpp"

namespace librma::fortran {

/// The C++ side of type(rma_team) and of type(rma_mutexes).
struct Team {
  rma_team_t handle;
};
struct Mutexes {
  rma_mutexes_t handle;
};

/// Returns the team of the dummy argument `team`, or the world team if the argument is absent (null).
inline rma_team_t handle_of(const Team* team) { return team != nullptr ? team->handle : rma_team_world(); }

/// Converts an index that counts from 1, as in Fortran. A smaller one becomes an index that no mutex has.
inline std::size_t from_zero(int index) { return static_cast<std::size_t>(index) - 1; }

/// Sets `index`, which counts from 1, to 0 if there is nothing to wait for.
[[nodiscard]] rma_status_t wait_any(const CFI_cdesc_t& requests, int& index);
[[nodiscard]] rma_status_t wait_all(const CFI_cdesc_t& requests);
[[nodiscard]] Status wait_until(const std::uint64_t& flag, int compare, const CFI_cdesc_t& value,
                                std::uint64_t* seen);

/// Executes an atomic. `operand`, `compare` and `old` may be null if the operation has none; `old` also if
/// the caller does not need it.
[[nodiscard]] Status update(rma_atomic_op_t op, const RemoteArray& target, const CFI_cdesc_t* operand,
                            const CFI_cdesc_t* compare, const CFI_cdesc_t* old);

[[nodiscard]] rma_status_t create_team(const CFI_cdesc_t& ranks, rma_team_t& team);
[[nodiscard]] Status broadcast(const CFI_cdesc_t& buffer, int root, rma_team_t team);
/// If `src` is null, `dst` holds the input.
[[nodiscard]] Status reduce(const CFI_cdesc_t& dst, const CFI_cdesc_t* src, int op, int root,
                            rma_team_t team);
[[nodiscard]] Status allreduce(const CFI_cdesc_t& dst, const CFI_cdesc_t* src, int op, rma_team_t team);
[[nodiscard]] Status allgather(const CFI_cdesc_t& dst, const CFI_cdesc_t& src, rma_team_t team);

[[nodiscard]] Status malloc(CFI_cdesc_t& pointer, CFI_cdesc_t& parts, const CFI_cdesc_t& upper,
                            const CFI_cdesc_t* lower, rma_team_t team);
[[nodiscard]] Status free(CFI_cdesc_t& parts, rma_team_t team);
[[nodiscard]] Status malloc_local(CFI_cdesc_t& pointer, RemoteArray& part, const CFI_cdesc_t& upper,
                                  const CFI_cdesc_t* lower);
[[nodiscard]] Status free_local(RemoteArray& part);
[[nodiscard]] Status map(const RemoteArray& array, CFI_cdesc_t& pointer);
/// Make an array of this process accessible to other ranks, and end that.
[[nodiscard]] Status enroll(const CFI_cdesc_t& array, RemoteArray& part);
[[nodiscard]] Status strike(RemoteArray& part);

}  // namespace librma::fortran
