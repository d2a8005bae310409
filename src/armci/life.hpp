#pragma once

#include <functional>

#include "armci/groups.hpp"
#include "rma/rma.h"

namespace rma::armci {

/// How a flavour begins.
struct Beginning {
  std::function<rma_status_t()> join;  ///< joins the job
  std::function<void(Group& world)>
      prepare;                            ///< adds to the group of all processes what the flavour has for it
  std::function<void()> confirm = [] {};  ///< ends the job where the one that messages began is another
};

/// One ARMCI_Init. The first one begins, unless messages have; the job ends where that fails.
void init(const Beginning& beginning, const char* call);

/// For messages before ARMCI_Init or after ARMCI_Finalize: begins without counting as an ARMCI_Init.
void init_messages(const Beginning& beginning, const char* call);

/// Ends what init_messages() has begun and no ARMCI_Init has taken over. Collective, as is the last
/// ARMCI_Finalize, which ends it too.
void finalize_messages();

}  // namespace rma::armci
