// Teams and mutexes.

#include <cstddef>

#include "fortran/outcome.hpp"
#include "fortran/team.hpp"

using rma::fortran::conclude;
using rma::fortran::Team;
using rma::fortran::team_or_world;

namespace {

/// The C++ side of type(rma_mutexes).
struct Mutexes {
  rma_mutexes_t handle;
};

/// Converts an index that counts from 1, as in Fortran. A smaller one becomes an index that no mutex has.
std::size_t from_zero(int index) { return static_cast<std::size_t>(index) - 1; }

}  // namespace

extern "C" {

Team rma_fortran_team_world() { return {rma_team_world()}; }

void rma_fortran_team_create(const CFI_cdesc_t* ranks, Team* team, int* stat, CFI_cdesc_t* errmsg) {
  team->handle = nullptr;
  conclude(rma_team_create(static_cast<const int*>(ranks->base_addr), static_cast<int>(ranks->dim[0].extent),
                           &team->handle),
           {stat, errmsg});
}

void rma_fortran_team_split(const Team* parent, int color, int key, Team* team, int* stat,
                            CFI_cdesc_t* errmsg) {
  team->handle = nullptr;
  conclude(rma_team_split(parent->handle, color, key, &team->handle), {stat, errmsg});
}

void rma_fortran_team_free(Team* team, int* stat, CFI_cdesc_t* errmsg) {
  conclude(rma_team_free(&team->handle), {stat, errmsg});
}

void rma_fortran_team_info(const Team* team, int* rank, int* size, int* stat, CFI_cdesc_t* errmsg) {
  conclude(rma_team_info(team->handle, rank, size), {stat, errmsg});
}

void rma_fortran_team_world_rank(const Team* team, int team_rank, int* world_rank, int* stat,
                                 CFI_cdesc_t* errmsg) {
  conclude(rma_team_world_rank(team->handle, team_rank, world_rank), {stat, errmsg});
}

void rma_fortran_mutexes_create(int count, Mutexes* mutexes, const Team* team, int* stat,
                                CFI_cdesc_t* errmsg) {
  mutexes->handle = nullptr;
  conclude(rma_mutexes_create(team_or_world(team), static_cast<std::size_t>(count), &mutexes->handle),
           {stat, errmsg});
}

void rma_fortran_mutexes_destroy(Mutexes* mutexes, int* stat, CFI_cdesc_t* errmsg) {
  conclude(rma_mutexes_destroy(&mutexes->handle), {stat, errmsg});
}

void rma_fortran_lock(const Mutexes* mutexes, int index, int rank, int* stat, CFI_cdesc_t* errmsg) {
  conclude(rma_lock(mutexes->handle, from_zero(index), rank), {stat, errmsg});
}

void rma_fortran_unlock(const Mutexes* mutexes, int index, int rank, int* stat, CFI_cdesc_t* errmsg) {
  conclude(rma_unlock(mutexes->handle, from_zero(index), rank), {stat, errmsg});
}

}  // extern "C"
