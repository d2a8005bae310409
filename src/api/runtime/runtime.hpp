#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "api/runtime/context_registry.hpp"
#include "api/runtime/wait_places.hpp"
#include "core/job/job.hpp"
#include "util/settings.hpp"
#include "util/statistics.hpp"
#include "util/status.hpp"
#include "util/trace.hpp"

// The C functions' files include this, so it only declares the members' types. Each file includes the
// headers of the members that it uses.

namespace librma {

namespace transport {
class CmaTransport;
}
class Accumulator;
class ActiveMessages;
class Channel;
class HelperThread;
class Messages;
class MutexRegistry;
class Noncontiguous;
class PersistentOperations;
class RemoteAccess;
class RemoteAtomics;
class RemoteCopy;
class RemoteMutexes;
class RpcClient;
class RpcServer;
class Schedules;
class Teams;
struct TransferPaths;

/// Owns everything that exists between rma_init and rma_finalize. The members are declared from the lowest to
/// the highest: each may use those declared before it, and they are destroyed in the opposite order.
struct Runtime {
  Settings settings;
  std::unique_ptr<Job> job;
  std::unique_ptr<RemoteAccess> remote_access;  ///< the paths to memory that is not mapped here
  transport::CmaTransport* cma = nullptr;       ///< the transport of `remote_access` within the host
  std::unique_ptr<Channel> channel;             ///< null in a job of one rank, or without memory for messages
  std::unique_ptr<RpcClient> rpc_client;        ///< this and the next are null without a channel
  std::unique_ptr<RpcServer> rpc_server;
  std::unique_ptr<ActiveMessages> active_messages;
  std::unique_ptr<HelperThread> helper;  ///< null without a channel
  std::unique_ptr<Accumulator> accumulator;
  std::unique_ptr<RemoteCopy> remote_copy;  ///< this and the next are null without a channel
  std::unique_ptr<RemoteAtomics> remote_atomics;
  std::unique_ptr<RemoteMutexes> remote_mutexes;  ///< this and the next are null without a channel or network
  std::unique_ptr<Noncontiguous> noncontiguous;
  /// Collectives under way, by `messages`. Declared before that, because its progress thread uses them.
  std::unique_ptr<Schedules> schedules;
  std::unique_ptr<Messages> messages;
  std::unique_ptr<PersistentOperations> persistents;
  std::unique_ptr<Teams> teams;
  std::unique_ptr<MutexRegistry> mutexes;
  ContextRegistry contexts;
  std::unique_ptr<Trace> trace;  ///< null unless the settings ask for a trace
  std::array<std::uint64_t, kCounters> counts_before = {};
  std::optional<JobPlaces> places;          ///< names what threads wait for
  std::atomic<bool> reported_loss = false;  ///< a call has returned RMA_ERR_PEER_LOST

  /// Joins the job of the launcher, or that of `given` if it is not null. Collective.
  [[nodiscard]] static Result<std::unique_ptr<Runtime>> open(int incarnation,
                                                             const rma_bootstrap_t* given = nullptr);
  Runtime();
  ~Runtime();
  [[nodiscard]] TransferPaths transfer_paths() const;
  /// Prints the statistics, if the settings ask for them. Local; never fails the job.
  void report() const;
};

/// The current runtime; null before rma_init and after rma_finalize. It is stored with release order when it
/// is complete.
extern constinit std::atomic<Runtime*> current_runtime;
/// The messages of the current runtime, for the short ways of rma/unchecked.h. It is null also if calls are
/// traced, because the other ways record them. It is stored right before `current_runtime`, in the same
/// order. It is hidden, because the compiler would otherwise load its address from a table (GOT): another
/// library could define the variable.
[[gnu::visibility("hidden")]] extern constinit std::atomic<Messages*> untraced_messages;
/// Publishes both this and rma_send_ports, or takes them back if `messages` is null.
void publish_short_ways(Messages* messages) noexcept;

}  // namespace librma
