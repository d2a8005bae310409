#include "api/runtime/runtime.hpp"

#include <unistd.h>

#include <cstdio>
#include <new>

#include "api/runtime/mutex_registry.hpp"
#include "api/runtime/persistent.hpp"
#include "atomics/accumulate.hpp"
#include "atomics/remote_atomics.hpp"
#include "atomics/remote_mutexes.hpp"
#include "channel/channel.hpp"
#include "collectives/schedules/schedules.hpp"
#include "collectives/team/team.hpp"
#include "core/network/transfers.hpp"
#include "core/one_sided/operation.hpp"
#include "core/one_sided/remote_access.hpp"
#include "helper_thread/active_messages.hpp"
#include "helper_thread/helper_thread.hpp"
#include "helper_thread/rpc_client.hpp"
#include "helper_thread/rpc_server.hpp"
#include "messages/messages.hpp"
#include "rma/unchecked.h"
#include "strided/noncontiguous.hpp"
#include "strided/remote_copy.hpp"
#include "transport/shm/cma_transport.hpp"
#include "util/log.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma {
namespace {

/// Opens the paths to memory that is not mapped here.
std::unique_ptr<RemoteAccess> open_remote_access(const Settings& settings, Job& job,
                                                 transport::CmaTransport** transport) {
  const bool allowed = settings.cma == CmaSetting::automatic && transport::CmaTransport::available();
  const auto card_of = [&job](int rank) -> Result<std::vector<std::byte>> {
    return transport::CmaTransport::card_of(job.process(rank));
  };
  const std::chrono::seconds patience(settings.peer_timeout);
  auto cma = std::make_unique<transport::CmaTransport>(job.size(), allowed);
  *transport = cma.get();
  auto remote_access =
      std::make_unique<RemoteAccess>(std::move(cma), job.size(), card_of, job.wait_policy(), patience);
  if (job.has_network()) {
    auto network = std::make_unique<Network>(
        settings, remote_access->pending(), job.rails(), job.size(),
        [&job](int rank) { return job.cards().network(rank); },
        [&job](const std::byte* address) { return job.memory().own_registration(address); });
    remote_access->add_network(std::move(network));
  }
  return remote_access;
}

/// Returns how often the helper's thread polls: it polls only if it keeps no rank from running.
std::uint64_t helper_spins(const Settings& settings, const Job& job) {
  const auto processors = static_cast<std::size_t>(sysconf(_SC_NPROCESSORS_ONLN));
  return 2 * job.local_started() <= processors ? settings.helper_spins : 0;
}

/// Creates the objects that serve the requests of other ranks and send requests to them.
void open_requests(Runtime& runtime) {
  Job& job = *runtime.job;
  const Settings& settings = runtime.settings;
  Channel& channel = *runtime.channel;
  Network* const network = runtime.remote_access->network();
  PendingOperations& pending = runtime.remote_access->pending();
  runtime.rpc_client = std::make_unique<RpcClient>(pending, network, channel, job.rails(),
                                                   settings.helper_buffer, settings.helper_buffers);
  runtime.rpc_server =
      std::make_unique<RpcServer>(channel, job.rails(), settings.helper_buffer, settings.helper_buffers);
  RpcClient& client = *runtime.rpc_client;
  RpcServer& server = *runtime.rpc_server;
  runtime.remote_copy = std::make_unique<RemoteCopy>(job, pending, client, server);
  runtime.remote_access->set_copy_fallback(runtime.remote_copy.get());
  runtime.remote_atomics = std::make_unique<RemoteAtomics>(*runtime.accumulator, settings.packed_piece,
                                                           pending, network, client, server);
  runtime.accumulator->set_remote(runtime.remote_atomics.get());
  if (network == nullptr) return;
  network->transfers().set_copy_fallback(runtime.remote_copy.get());
  runtime.remote_mutexes = std::make_unique<RemoteMutexes>(
      job.rank(), job.size(), settings, pending, *network, channel, client, server,
      [&job](std::uint64_t holder) { return holder_ended(job, holder); });
  runtime.noncontiguous = std::make_unique<Noncontiguous>(job, pending, *network, channel, client);
}

/// Returns whether this process will have mapped all ranks of its world, once it has connected.
bool shares_memory_with_all(const Job& job) {
  return job.settings().shm != ShmSetting::off &&
         job.local_seats().size() == static_cast<std::size_t>(job.size());
}

/// Returns the doorbells and the memory that rings of active messages use. `own` is this process's block of
/// Service::active. Ranks of other worlds map this process at a time that it does not know, so their messages
/// take the channel.
ActiveRings active_rings(Job& job, Doorbell& own) {
  return {
      .doorbell = [&job, &own](int rank) -> Doorbell* {
        if (rank == job.rank()) return &own;
        if (!job.in_world(rank) || !job.mapped(rank)) return nullptr;
        const std::span<std::byte> block = job.service(Service::active, rank);
        return block.size() < sizeof(Doorbell) ? nullptr : reinterpret_cast<Doorbell*>(block.data());
      },
      .take = [&job](std::size_t bytes) -> std::byte* {
        auto memory = job.memory().allocator().allocate(MemoryKind::internal, bytes, alignof(RingLine));
        return memory.ok() ? memory.value() : nullptr;
      },
      .give =
          [&job](std::byte* memory) {
            static_cast<void>(job.memory().allocator().free(MemoryKind::internal, memory));
          },
      .mapped = [&job](const void* address, std::size_t bytes,
                       int rank) { return job.in_world(rank) ? job.direct(address, bytes, rank) : nullptr; }};
}

/// Opens active messages, over the channel if there is one.
Status open_active_messages(Runtime& runtime) {
  Job& job = *runtime.job;
  RemoteAccess& access = *runtime.remote_access;
  Channel* const channel = runtime.channel.get();
  ActiveMessages::Memory memory;
  memory.mapped = [&job](const void* address, std::size_t bytes, int rank) {
    return job.direct(address, bytes, rank);
  };
  memory.in_reach = [&job, channel](std::uintptr_t address, std::size_t bytes, int peer) {
    // A rank of this host has mapped the heap.
    // NOLINTNEXTLINE(performance-no-int-to-ptr): of this process
    const auto* const there = reinterpret_cast<const void*>(address);
    return (channel->local(peer) && job.direct(there, bytes, job.rank()) != nullptr) ||
           job.memory().given_out(address, bytes);
  };
  memory.put = [&job, &access](void* dst, std::span<const std::byte> data, int rank) -> Status {
    Operation operation(job, access, rank);
    RMA_TRY(operation.put(dst, data.data(), data.size()));
    RMA_TRY(operation.end({}));
    return access.pending().fence(rank);
  };
  if (channel != nullptr) {
    RMA_TRY_ASSIGN(block, job.provide(Service::active, sizeof(Doorbell)));
    memory.rings = active_rings(job, *reinterpret_cast<Doorbell*>(block));
  }
  const ActiveMessages::Ranks ranks = {.own = job.rank(),
                                       .all = job.size(),
                                       .rings_to_all = channel != nullptr && shares_memory_with_all(job)};
  runtime.active_messages = std::make_unique<ActiveMessages>(ranks, access.pending(), channel,
                                                             runtime.rpc_client.get(), std::move(memory));
  return {};
}

/// Opens two-sided messages, over the channel if there is one.
Status open_messages(Runtime& runtime) {
  RMA_TRY_ASSIGN(messages, Messages::create(*runtime.job, *runtime.remote_access, runtime.channel.get(),
                                            ProcessMemory(*runtime.cma)));
  runtime.messages = std::move(messages);
  PendingOperations& pending = runtime.remote_access->pending();
  runtime.schedules =
      std::make_unique<Schedules>(*runtime.messages, pending, runtime.settings.check_collectives);
  pending.engine().follow_with(*runtime.schedules);
  return {};
}

/// Opens the channel and everything that talks through it, and starts the helper thread. If there is no
/// memory for messages, starts only the thread that answers processes that connect.
Status start_helper(Runtime& runtime) {
  Job& job = *runtime.job;
  Rails& rails = job.rails();
  if (rails.count() == 0 && !rails.has_local()) {
    RMA_TRY(open_active_messages(runtime));
    return open_messages(runtime);
  }
  const std::uint64_t spins = helper_spins(runtime.settings, job);
  Channel::Options options = Channel::Options::from(runtime.settings, job.size(), spins != 0);
  options.locals = job.local_seats();
  options.local_card = [&job](int rank) { return job.cards().local(rank); };
  auto opened = Channel::create(rails, job.size(), options);
  if (!opened.ok()) {
    log(LogLevel::warn,
        "messages, teams between hosts and operations that need another rank's "
        "helper will be refused: {}",
        opened.status().text());
    RMA_TRY(open_active_messages(runtime));
    RMA_TRY(open_messages(runtime));
    return rails.service()->start();
  }
  runtime.channel = std::move(opened).value();
  open_requests(runtime);
  RMA_TRY(open_active_messages(runtime));
  runtime.active_messages->serve_in(*rails.service());
  RMA_TRY(open_messages(runtime));
  runtime.helper = std::make_unique<HelperThread>(*runtime.channel, runtime.remote_access->pending(),
                                                  rails.service(), spins);
  return runtime.helper->start();
}

/// Makes transports that see peers' writes wake threads that wait for a word; those sleep at the doorbell.
void wake_for_writes(Job& job) {
  Rails& rails = job.rails();
  for (std::size_t rail = 0; rail < rails.count(); ++rail) {
    rails[rail].watch_writes([&doorbell = job.doorbell(job.rank())] { doorbell.wake_for_store(); });
  }
}

}  // namespace

Runtime::Runtime()
    : persistents(std::make_unique<PersistentOperations>()), mutexes(std::make_unique<MutexRegistry>()) {}

Runtime::~Runtime() {
  // The service thread, which is the helper's too, uses objects that are declared after the job, so it has to
  // stop before they are destroyed.
  if (job != nullptr && job->rails().service() != nullptr) job->rails().service()->stop();
}

constinit std::atomic<Runtime*> current_runtime = nullptr;
constinit std::atomic<Messages*> untraced_messages = nullptr;

void publish_short_ways(Messages* messages) noexcept {
  auto* const ports = messages != nullptr ? messages->send_ports() : nullptr;
  // Both pair with the loads of the short ways.
  __atomic_store_n(&rma_send_ports, reinterpret_cast<rma_send_port_t*>(ports), __ATOMIC_RELEASE);
  untraced_messages.store(messages, std::memory_order_release);
}

Result<std::unique_ptr<Runtime>> Runtime::open(int incarnation, const rma_bootstrap_t* given) {
  RMA_TRY_ASSIGN(settings, read_settings());
  auto runtime = std::make_unique<Runtime>();
  runtime->settings = settings;
  runtime->counts_before = total_counts();

  RMA_TRY_ASSIGN(job, Job::open(runtime->settings, incarnation, given));
  runtime->job = std::move(job);
  const int rank = runtime->job->rank();
  if (rank == 0 && !runtime->settings.unknown.empty()) log(LogLevel::warn, runtime->settings.unknown);
  if (const std::string& remark = runtime->job->bootstrap().remark(); !remark.empty()) {
    log(LogLevel::warn, remark);
  }

  runtime->remote_access = open_remote_access(runtime->settings, *runtime->job, &runtime->cma);
  RMA_TRY_ASSIGN(accumulator, Accumulator::create(*runtime->job, *runtime->remote_access));
  runtime->accumulator = std::move(accumulator);
  RMA_TRY_ASSIGN(teams, Teams::create(*runtime->job));
  runtime->teams = std::move(teams);

  RMA_TRY(start_helper(*runtime));
  RMA_TRY(runtime->job->connect());
  wake_for_writes(*runtime->job);
  for (int other = 0; other < runtime->job->size(); ++other) {
    if (!runtime->job->mapped(other) && runtime->job->in_world(other))
      runtime->remote_access->reach_by_network(other);
  }
  RMA_TRY(runtime->messages->start(helper_spins(runtime->settings, *runtime->job)));
  runtime->job->drive_while_waiting(*runtime->schedules);
  HostMemory host = {
      .memory = ProcessMemory(*runtime->cma),
      .permitted = [&access = *runtime->remote_access](int other) { return access.permitted(other); }};
  RMA_TRY(
      runtime->teams->start(*runtime->messages, *runtime->schedules, *runtime->accumulator, std::move(host)));
  runtime->places.emplace(*runtime);

  if (!runtime->settings.trace.empty()) {
    RMA_TRY_ASSIGN(trace, Trace::open(path_for_rank(runtime->settings.trace, rank), rank));
    runtime->trace = std::move(trace);
  }
  return runtime;
}

void Runtime::report() const try {
  if (settings.statistics == StatisticsSetting::off) return;
  const std::string text = settings.statistics == StatisticsSetting::json
                               ? counts_json(job->rank(), counts_before)
                               : counts_table(job->rank(), counts_before);
  if (settings.statistics_file.empty()) {
    std::fputs(text.c_str(), stderr);
    return;
  }
  const std::string path = path_for_rank(settings.statistics_file, job->rank());
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "we"), &std::fclose);
  if (file == nullptr || std::fputs(text.c_str(), file.get()) < 0) {
    log(LogLevel::error, "RMA_STATS_FILE: cannot write {}", path);
  }
} catch (const std::bad_alloc&) {
  log(LogLevel::error, "no memory is left to print statistics");
}

}  // namespace librma
