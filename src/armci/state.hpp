#pragma once

#include "armci/groups.hpp"
#include "armci/handles.hpp"
#include "armci/messages.hpp"
#include "armci/notifications.hpp"
#include "armci/topology.hpp"

namespace librma::armci {

/// The state of ARMCI between the first ARMCI_Init and the last ARMCI_Finalize. Everything else is
/// in the runtime.
struct State {
  explicit State(Group world);

  Groups groups;
  const Topology topology;
  Notifications notifications;
  Messages messages;
  Handles handles;
  rma_mutexes_t mutexes = nullptr;  ///< null unless ARMCI_Create_mutexes was called
};

/// Returns the state. Ends the job if ARMCI is not initialized. `call` is the name of the caller.
[[nodiscard]] State& state(const char* call);

/// Returns the state for a call of message.h, which needs only armci_msg_init. The first such call begins the
/// job, and so waits until all processes call such a function or ARMCI_Init.
State& message_state(const char* call);

}  // namespace librma::armci
