#include "twosided_compat/objects/phase.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "rma/rma.h"

namespace librma::mpi {

void refuse_without_job(const char* name) {
  const bool before = phase.load(std::memory_order_relaxed) == Phase::kBefore;
  end_job(EXIT_FAILURE,
          fmt::format("{} was called {}", name, before ? "before MPI_Init" : "after MPI_Finalize").c_str());
}

void end_job(int code, const char* text) {
  rma_abort((code & 0xff) != 0 ? code : EXIT_FAILURE, text);
  std::abort();  // not reached
}

}  // namespace librma::mpi
