// Joining and leaving the job; requests, fences and the barrier.

#include <cstdlib>
#include <string>

#include "fortran/outcome.hpp"
#include "fortran/team.hpp"

using rma::fortran::conclude;
using rma::fortran::Team;
using rma::fortran::team_or_world;

extern "C" {

void rma_fortran_init(int* stat, CFI_cdesc_t* errmsg) { conclude(rma_init(), {stat, errmsg}); }

void rma_fortran_finalize(int* stat, CFI_cdesc_t* errmsg) { conclude(rma_finalize(), {stat, errmsg}); }

void rma_fortran_abort(int exit_code, const CFI_cdesc_t* text) {
  const bool given = text != nullptr && text->type == CFI_type_char && text->rank == 0;
  const std::string said =
      given ? std::string(static_cast<const char*>(text->base_addr), text->elem_len) : "rma_abort";
  rma_abort(exit_code, said.c_str());
}

void rma_fortran_wait(rma_request_t* request, int* stat, CFI_cdesc_t* errmsg) {
  conclude(rma_wait(request), {stat, errmsg});
}

void rma_fortran_test(rma_request_t* request, int* done, int* stat, CFI_cdesc_t* errmsg) {
  *done = 0;
  conclude(rma_test(request, done), {stat, errmsg});
}

/// `index` counts from 1. It is 0 if there is nothing to wait for.
void rma_fortran_wait_any(const CFI_cdesc_t* requests, int* index, int* stat, CFI_cdesc_t* errmsg) {
  const auto count = static_cast<std::size_t>(requests->dim[0].extent);
  std::size_t place = count;
  const rma_status_t status = rma_wait_any(static_cast<rma_request_t*>(requests->base_addr), count, &place);
  *index = place < count ? static_cast<int>(place) + 1 : 0;
  conclude(status, {stat, errmsg});
}

void rma_fortran_wait_all(const CFI_cdesc_t* requests, int* stat, CFI_cdesc_t* errmsg) {
  const auto count = static_cast<std::size_t>(requests->dim[0].extent);
  conclude(rma_wait_all(static_cast<rma_request_t*>(requests->base_addr), count), {stat, errmsg});
}

void rma_fortran_fence(int rank, int* stat, CFI_cdesc_t* errmsg) {
  conclude(rma_fence(rank), {stat, errmsg});
}

void rma_fortran_fence_all(int* stat, CFI_cdesc_t* errmsg) { conclude(rma_fence_all(), {stat, errmsg}); }

void rma_fortran_barrier(const Team* team, int* stat, CFI_cdesc_t* errmsg) {
  conclude(rma_barrier(team_or_world(team)), {stat, errmsg});
}

}  // extern "C"
