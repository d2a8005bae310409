#include "core/job/job.hpp"

#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>

#include "util/log.hpp"
#include "util/system/memory_limit.hpp"
#include "util/text.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma {
namespace {

/// Returns the number of processors that this process may run on.
std::size_t usable_processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<std::size_t>(CPU_COUNT(&set));
}

/// Returns a policy that spins only if each local rank has a processor. Otherwise a rank that spins only
/// keeps another one from running. For a rank that is bound to one of several processors, the host's count.
WaitPolicy wait_policy_for(const Settings& settings, std::size_t local_ranks) {
  const std::size_t processors =
      std::max<std::size_t>(usable_processors(), static_cast<std::size_t>(sysconf(_SC_NPROCESSORS_ONLN)));
  return {.spins = local_ranks > processors ? 0 : settings.spins, .yields = settings.yields};
}

}  // namespace

Job::Job(const Settings& settings, std::unique_ptr<Bootstrap> bootstrap, std::unique_ptr<HeapMemory> memory)
    : settings_(settings),
      wait_policy_(wait_policy_for(settings, bootstrap->local_started())),
      bootstrap_(std::move(bootstrap)),
      host_(bootstrap_->rank(), bootstrap_->local_seats(), bootstrap_->meeting_directory()),
      cards_(*bootstrap_),
      memory_(std::move(memory)),
      mapped_(static_cast<std::size_t>(bootstrap_->size())),
      direct_(static_cast<std::size_t>(bootstrap_->size())) {}

Job::~Job() = default;

Result<std::unique_ptr<Job>> Job::open(const Settings& settings, int incarnation,
                                       const rma_bootstrap_t* given) {
  RMA_TRY_ASSIGN(bootstrap, open_bootstrap(incarnation, given, settings.singleton));
  RMA_TRY(open_log(settings.log, bootstrap->rank()));  // before the rails, which say what they are
  RMA_TRY_ASSIGN(memory, HeapMemory::reserve(settings, bootstrap->local_seats().size()));
  auto job = std::unique_ptr<Job>(new Job(settings, std::move(bootstrap), std::move(memory)));
  if (job->shares_host()) {
    RMA_TRY(job->host_.open());
  }
  RMA_TRY(job->open_rails());
  RMA_TRY(job->start());
  return job;
}

Status Job::start() {
  // Allows other processes of this user to access this one's memory by process_vm_*, as some security modules
  // require. Without such a module the call fails, but then no permission is needed.
  static_cast<void>(prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0));

  RMA_TRY(memory_->start(settings_, *rails_));
  const Window& window = memory_->window();
  ProcessCard& card = cards_.own();
  card.settings = JobSettings(settings_);
  card.head.pid = static_cast<std::uint32_t>(getpid());
  card.head.base = reinterpret_cast<std::uintptr_t>(window.base());
  card.head.bytes = window.address_bytes();
  card.head.alias_bytes = window.alias().file_bytes;
  const ProcessHeap* const heap = window.process_heap();
  if (heap != nullptr) card.head.process_heap_bytes = heap->bytes;
  RMA_TRY(choose_copies());
  if (shares_host()) {
    Status status = host_.offer(transport::Handed::window, window.fd());
    if (status.ok() && heap != nullptr) status = host_.offer(transport::Handed::process_heap, heap->fd);
    if (status.ok() && card.head.alias_bytes != 0) {
      status = host_.offer(transport::Handed::alias, window.alias().fd);
    }
    if (!status.ok()) return status;
    card.head.host = host_.card();
  }
  const std::span<std::byte> directory = memory_->directory();
  card.head.services[static_cast<std::size_t>(Service::regions)] = {
      .offset = static_cast<std::uint64_t>(directory.data() - window.base()), .bytes = directory.size()};
  if (const auto registration = memory_->own_registration(directory.data())) {
    for (std::size_t rail = 0; rail < card.rails.size(); ++rail) {
      card.rails[rail].directory_key = registration->remote[rail];
    }
  }
  RMA_TRY(provide(Service::doorbell, sizeof(Doorbell)).status());
  return provide(Service::heap_use, sizeof(std::atomic<std::uint64_t>)).status();
}

Status Job::choose_copies() {
  CopyTable& copies = cards_.own().head.copies;
  if (settings_.copy != CopySetting::automatic) {
    const auto method = static_cast<CopyMethod>(static_cast<int>(settings_.copy) - 1);
    static_assert(static_cast<int>(CopySetting::stream) - 1 == static_cast<int>(CopyMethod::stream));
    if (block_copy(method) == nullptr) {
      return {RMA_ERR_SETTING,
              text("RMA_COPY={}: this processor lacks the instructions", copy_method_name(method))};
    }
    copies = CopyTable::of(method);
  } else if (!copies_by_another()) {
    copies = fastest_copies(time_copies(kCopyBudget));
  }
  return {};
}

Status Job::open_rails() {
  const std::size_t mapped = settings_.shm == ShmSetting::off ? 1 : local_seats().size();
  const bool needed = static_cast<std::size_t>(size()) > mapped;
  if (settings_.network == NetworkSetting::off && needed) {
    return {RMA_ERR_SETTING, text("{} of the {} ranks cannot be mapped here, and RMA_NETWORK=off leaves no "
                                  "other way to them{}{}",
                                  static_cast<std::size_t>(size()) - mapped, size(),
                                  bootstrap_->apart().empty() ? "" : ": ", bootstrap_->apart())};
  }
  const bool forced =
      settings_.network != NetworkSetting::automatic && settings_.network != NetworkSetting::off;
  auto rails = Rails::open(settings_, {.rank = rank(),
                                       .ranks = size(),
                                       .network = forced || needed,
                                       .locals = mapped > 1 ? local_seats() : std::vector<int>(),
                                       .host = &host_});
  if (!rails.ok()) {
    return bootstrap_->apart().empty() ? std::move(rails).status()
                                       : std::move(rails).status().within(bootstrap_->apart());
  }
  rails_ = std::move(rails).value();
  if (rails_->has_local()) {
    const std::span<const std::byte> card = (*rails_)[kLocalRail].card();
    cards_.own().local.assign(card.begin(), card.end());
  }
  if (!has_network()) return {};
  for (std::size_t rail = 0; rail < rails_->count(); ++rail) {
    const std::span<const std::byte> card = (*rails_)[rail].card();
    cards_.own().rails.push_back(
        {.name = std::string((*rails_)[rail].name()), .card = {card.begin(), card.end()}});
  }
  cards_.own().head.network = rails_->network();
  // A device without atomics leaves them to the helpers.
  const bool able = (*rails_)[0].limits().atomics64;
  const bool by_device = settings_.atomic_domain == AtomicDomainSetting::nic ||
                         (settings_.atomic_domain == AtomicDomainSetting::automatic && needed && able);
  cards_.own().head.atomics_by_device = by_device ? 1 : 0;
  return {};
}

Result<std::byte*> Job::provide(Service service, std::size_t bytes) {
  auto block = memory_->allocator().allocate(MemoryKind::internal, bytes, ProcessCard::kBlockAlignment);
  if (!block.ok()) return std::move(block).status().within("memory that ranks share");
  std::memset(block.value(), 0, bytes);
  cards_.own().head.services[static_cast<std::size_t>(service)] = {
      .offset = static_cast<std::uint64_t>(block.value() - memory_->window().base()), .bytes = bytes};
  return block;
}

// Not when the window was made, because the log was not open then.
void Job::settle_process_heap() const {
  const ProcessHeap* const heap = find_process_heap();
  if (heap == nullptr) {
    return log(LogLevel::info, "malloc gives out memory that other ranks cannot map: {}",
               process_heap_refusal());
  }
  if (const GroupLimit limit = control_group_limit("/"); limit.bytes != UINT64_MAX) {
    heap->watch_memory(limit.usage.c_str(), limit.bytes);
  }
  const Window& window = memory_->window();
  if (window.process_heap() == nullptr) {
    log(LogLevel::warn,
        "other ranks cannot map what malloc gives out, because the heap window has {} "
        "addresses and there "
        "is room for {} in front of the process heap; lower RMA_HEAP_SIZE",
        window.address_bytes(), heap->base - heap->front);
  }
  // The registration cache does not keep shared memory, so what is sent to other hosts by RDMA should be
  // private.
  if (has_network()) heap->limit_blocks(static_cast<std::size_t>(settings_.eager_bytes) + 1);
}

Status Job::connect() {
  settle_process_heap();
  const std::vector<std::byte> card = cards_.own().encode();
  RMA_TRY(bootstrap_->publish(card));
  RMA_TRY(bootstrap_->fence());
  RMA_TRY(map_host());
  // No process may leave, and take its memory with it, before all have mapped it.
  return bootstrap_->fence();
}

Status Job::map_host() {
  auto self = std::make_unique<MappedProcess>();
  self->card = cards_.own();
  enter(rank(), std::move(self), memory_->window().base());
  std::vector<transport::HostPeers::Partner> partners;
  std::map<int, ProcessCard> cards;
  for (const int rank : local_ranks()) {
    if (!shares_host() || rank == this->rank()) continue;
    RMA_TRY_ASSIGN(card, cards_.of(rank));
    partners.push_back({.rank = rank, .card = card.head.host});
    cards.emplace(rank, std::move(card));
  }
  const int chooser = copies_by_another() ? local_ranks().front() : this->rank();
  const CopyTable& copies = (chooser == this->rank() ? cards_.own() : cards.at(chooser)).head.copies;
  if (copies.usable()) {
    use_copies(copies);
    const auto name = [&copies](std::size_t bytes) {
      return copy_method_name(copies.methods[1][copy_class(bytes)]);
    };
    log(LogLevel::info, "aligned copies as rank {} has chosen: 4 KiB by {}, 32 KiB by {}, 1 MiB by {}",
        chooser, name(4096), name(32768), name(std::size_t{1} << 20U));
  }
  RMA_TRY(host_.meet(partners, [&](int rank, transport::HostPeer& process) {
    return map_peer(rank, cards.at(rank), process).within(text("heap of rank {}", rank));
  }));
  std::vector<const std::atomic<std::uint64_t>*> others;
  for (const auto& [rank, card] : partners) {
    if (service(Service::heap_use, rank).size() >= sizeof(std::atomic<std::uint64_t>))
      others.push_back(&heap_use(rank));
  }
  memory_->share_limit(heap_use(this->rank()), [others = std::move(others)] {
    std::uint64_t sum = 0;
    for (const auto* const other : others) sum += other->load(std::memory_order_relaxed);
    return sum;
  });
  return {};
}

Status Job::meet_later(const Assembly& assembly) {
  if (!shares_host())
    return {RMA_ERR_UNSUPPORTED, "ranks that are started later need memory in common, and RMA_SHM=off"};
  // All of other worlds, so that two ranks agree on whether they meet here: whether they have met before may
  // change meanwhile by another thread.
  std::vector<int> strangers;
  std::ranges::copy_if(assembly.ranks, std::back_inserter(strangers),
                       [&](int rank) { return !in_world(rank); });
  RMA_TRY_ASSIGN(door, host_.open_door());
  ProcessCard shown = cards_.own();
  shown.head.host = door.card;
  RMA_TRY_ASSIGN(cards, bootstrap_->convene(assembly, shown.encode(), strangers));
  std::vector<transport::HostPeers::Partner> partners;
  std::map<int, ProcessCard> known;
  for (std::size_t i = 0; i < strangers.size(); ++i) {
    RMA_TRY_ASSIGN(card, cards_.take(strangers[i], cards[i]));
    partners.push_back({.rank = strangers[i], .card = card.head.host});
    known.emplace(strangers[i], std::move(card));
  }
  RMA_TRY(host_.meet_at(door, partners, [&](int rank, transport::HostPeer& process) -> Status {
    const std::lock_guard guard(meeting_lock_);
    if (mapped(rank)) return {};
    return map_peer(rank, known.at(rank), process).within(text("heap of rank {}", rank));
  }));
  // Nobody sends anything to a process that has not mapped it yet.
  auto all_mapped = bootstrap_->convene(assembly, {}, {});
  return all_mapped.ok() ? Status() : std::move(all_mapped).status();
}

std::atomic<std::uint64_t>& Job::heap_use(int rank) const {
  return *reinterpret_cast<std::atomic<std::uint64_t>*>(service(Service::heap_use, rank).data());
}

Status Job::map_peer(int rank, const ProcessCard& card, transport::HostPeer& process) {
  using transport::Handed;
  const ProcessCard::Head& head = card.head;
  RMA_TRY_ASSIGN(window,
                 PeerWindow::map({.fd = process.file(Handed::window), .bytes = head.bytes - head.alias_bytes},
                                 {.fd = process.file(Handed::process_heap), .bytes = head.process_heap_bytes},
                                 {.fd = process.file(Handed::alias), .bytes = head.alias_bytes}));
  for (const Handed kind : {Handed::window, Handed::process_heap, Handed::alias}) process.close(kind);
  auto peer = std::make_unique<MappedProcess>();
  peer->card = card;
  peer->window = std::move(window);
  std::byte* const here = peer->window.base();
  enter(rank, std::move(peer), here);
  return {};
}

void Job::enter(int rank, std::unique_ptr<MappedProcess> peer, std::byte* here) {
  const ProcessCard::Head& head = peer->card.head;
  rma_direct_peer_t& direct = direct_[static_cast<std::size_t>(rank)];
  direct = {.base = head.base,
            .bytes = head.bytes + head.process_heap_bytes,
            .delta = static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(here) - head.base),
            .awaits_stores = nullptr};
  MappedProcess& mapped = *(mapped_[static_cast<std::size_t>(rank)] = std::move(peer));
  // The atomic is a plain word for the programs that direct.h is compiled into.
  direct.awaits_stores = reinterpret_cast<const std::uint32_t*>(&doorbell(rank).awaits_stores);
  mapped.regions = RegionView(service(Service::regions, rank));
}

std::span<std::byte> Job::service(Service service, int rank) const {
  const MappedProcess& peer = *mapped_[static_cast<std::size_t>(rank)];
  const ServiceBlock& block = peer.card.head.services[static_cast<std::size_t>(service)];
  const rma_direct_peer_t& direct = direct_[static_cast<std::size_t>(rank)];
  const std::uintptr_t address = direct.base + static_cast<std::uintptr_t>(direct.delta) + block.offset;
  return {reinterpret_cast<std::byte*>(address), block.bytes};
}

Job::HeapParts Job::heap_parts(const void* address, std::size_t bytes, int rank) const {
  const rma_direct_peer_t& heap = direct_[static_cast<std::size_t>(rank)];
  const auto first = reinterpret_cast<std::uintptr_t>(address);
  const std::size_t before = first < heap.base ? std::min<std::size_t>(bytes, heap.base - first) : 0;
  const std::uintptr_t offset = first + before - heap.base;
  const std::size_t inside =
      offset < heap.bytes ? std::min<std::size_t>(bytes - before, heap.bytes - offset) : 0;
  return {.before = before, .inside = inside, .behind = bytes - before - inside};
}

Path Job::resolve(const void* address, std::size_t bytes, int rank) const {
  if (std::byte* const here = direct(address, bytes, rank); here != nullptr) {
    return {.kind = Path::Kind::direct, .here = here};
  }
  if (!mapped(rank)) return {.kind = Path::Kind::network, .here = nullptr};
  const auto first = reinterpret_cast<std::uintptr_t>(address);
  if (bytes > UINTPTR_MAX - first) return {};
  const HeapParts parts = heap_parts(address, bytes, rank);
  const RegionView& regions = mapped_[static_cast<std::size_t>(rank)]->regions;
  const bool listed = parts.inside == 0 ? regions.covers(first, bytes)
                                        : (parts.before == 0 || regions.covers(first, parts.before)) &&
                                              (parts.behind == 0 ||
                                               regions.covers(first + bytes - parts.behind, parts.behind));
  if (!listed) return {};
  std::byte* const own =
      rank == this->rank() ? const_cast<std::byte*>(static_cast<const std::byte*>(address)) : nullptr;
  return {.kind = Path::Kind::foreign, .here = own};
}

Status unreachable(const void* address, std::size_t bytes, int rank) {
  return {RMA_ERR_ADDRESS,
          text("{} bytes at {} of rank {} are neither in its heap nor registered there (rma_malloc, "
               "rma_malloc_local, rma_register)",
               bytes, address, rank)};
}

Status Job::lost(int rank) const {
  return {RMA_ERR_PEER_LOST, text("rank {}, process {} of this host, has ended", rank,
                                  mapped_[static_cast<std::size_t>(rank)]->card.head.pid)};
}

}  // namespace librma
