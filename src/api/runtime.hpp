#pragma once

#include <atomic>
#include <memory>

#include "api/mutex_registry.hpp"
#include "atomics/accumulate.hpp"
#include "atomics/remote_atomics.hpp"
#include "atomics/remote_mutexes.hpp"
#include "collectives/team.hpp"
#include "core/device.hpp"
#include "core/job.hpp"
#include "helper_thread/helper.hpp"
#include "strided/noncontiguous.hpp"
#include "strided/ways.hpp"
#include "util/settings.hpp"
#include "util/statistics.hpp"
#include "util/trace.hpp"

namespace rma {

/// Everything that exists between rma_init and rma_finalize, from the bottom up: what is below outlives what
/// is above.
struct Runtime {
  Settings settings;
  std::unique_ptr<Job> job;
  std::unique_ptr<Device> device;  ///< for memory that is not mapped here
  std::unique_ptr<Helper> helper;  ///< null without a network, or without memory for messages
  std::unique_ptr<Accumulator> accumulator;
  std::unique_ptr<RemoteAtomics> remote_atomics;  ///< null without a helper
  std::unique_ptr<RemoteMutexes> remote_mutexes;  ///< likewise
  std::unique_ptr<Noncontiguous> noncontiguous;   ///< likewise
  std::unique_ptr<Teams> teams;
  MutexRegistry mutexes;
  std::unique_ptr<Trace> trace;  ///< null unless asked for
  std::array<std::uint64_t, kCounters> counts_before = {};

  /// Joins the job: the launcher's, or where `given` is not null, that one. Collective.
  [[nodiscard]] static Result<std::unique_ptr<Runtime>> open(int incarnation,
                                                             const rma_bootstrap_t* given = nullptr);
  ~Runtime();
  [[nodiscard]] Ways ways() const { return {*job, *device, noncontiguous.get()}; }
  /// Prints what was asked to be printed at the end. Local; never fails the job.
  void report() const;
};

/// The runtime in force, null outside rma_init ... rma_finalize. Stored with release order once it is
/// complete.
extern constinit std::atomic<Runtime*> current_runtime;

}  // namespace rma
