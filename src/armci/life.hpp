#pragma once

#include <functional>

#include "armci/groups.hpp"
#include "rma/rma.h"

namespace librma::armci {

/// The functions by which a flavour (ARMCI without an MPI, or beside one) begins the job.
struct Beginning {
  std::function<rma_status_t()> join;         ///< joins the job
  std::function<void(Group& world)> prepare;  ///< adds the flavour's data to the group of all processes
  std::function<void()> confirm = [] {};      ///< ends the job if messages began another one
};

/// From now on, a program that returns from main() or calls exit(), with code 0 and without ARMCI_Finalize,
/// finalizes ARMCI as it ends. That is collective. Some public programs end in this way.
void finalize_at_exit(const char* call);

/// Performs one ARMCI_Init. The first one begins the job, unless messages have begun it. Ends the job
/// if that fails.
void init(const Beginning& beginning, const char* call);

/// Begins the job for messages before ARMCI_Init or after ARMCI_Finalize. Does not count as an ARMCI_Init.
void init_messages(const Beginning& beginning, const char* call);

/// Ends a job that init_messages() has begun, unless an ARMCI_Init has taken it over. Collective, as the last
/// ARMCI_Finalize is, which ends it too.
void finalize_messages();

}  // namespace librma::armci
