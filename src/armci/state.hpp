#pragma once

#include <memory>

#include "armci/groups.hpp"
#include "armci/handles.hpp"
#include "armci/mailbox.hpp"
#include "armci/notifications.hpp"
#include "armci/topology.hpp"

namespace rma::armci {

/// What exists between the first ARMCI_Init and the last ARMCI_Finalize. The runtime knows all else.
struct State {
  explicit State(Group world);

  Groups groups;
  const Topology topology;
  Notifications notifications;
  const std::unique_ptr<Mailbox> mailbox;
  Handles handles;
  rma_mutexes_t mutexes = nullptr;  ///< null unless ARMCI_Create_mutexes was called
};

/// The state; the job ends where there is none, because ARMCI is not initialized. `call` names who asks.
[[nodiscard]] State& state(const char* call);

/// The same for a call of message.h, of which armci_msg_init is enough: the first one begins the job, and so
/// waits for all processes to call one, or ARMCI_Init.
State& message_state(const char* call);

}  // namespace rma::armci
