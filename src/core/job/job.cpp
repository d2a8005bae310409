#include "core/job/job.hpp"

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "malloc/window_backing.hpp"
#include "util/memory_limit.hpp"
#include "util/text.hpp"

namespace rma {
namespace {

/// Returns the heap size for RMA_HEAP_SIZE=0: half of the memory that the job may use here, divided by its
/// local ranks.
std::uint64_t automatic_heap_size(std::size_t local_ranks) {
  constexpr std::uint64_t kUnit = std::uint64_t{1} << 20;
  return std::max(kUnit, usable_memory() / 2 / local_ranks / kUnit * kUnit);
}

/// Returns whether all of [address, address + bytes) of this process is mapped.
bool is_mapped(std::uintptr_t address, std::size_t bytes) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t end = address + bytes;
  std::array<unsigned char, 256> resident = {};
  for (std::uintptr_t at = address / page * page; at < end; at += resident.size() * page) {
    const std::size_t length = std::min<std::size_t>(end - at, resident.size() * page);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of this process, which may not be mapped
    if (mincore(reinterpret_cast<void*>(at), length, resident.data()) != 0) return false;
  }
  return true;
}

/// Returns the number of processors that this process may run on.
std::size_t usable_processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<std::size_t>(CPU_COUNT(&set));
}

HugePages window_pages(HugePagesSetting setting) {
  switch (setting) {
    case HugePagesSetting::transparent:
      return HugePages::transparent;
    case HugePagesSetting::hugetlb:
      return HugePages::hugetlb;
    case HugePagesSetting::off:
      break;
  }
  return HugePages::off;
}

/// Returns a policy that spins only if each local rank has a processor. Otherwise a rank that spins only
/// keeps another one from running. For a rank that is bound to one of several processors, the host's count.
WaitPolicy wait_policy_for(const Settings& settings, std::size_t local_ranks) {
  const std::size_t processors =
      std::max<std::size_t>(usable_processors(), static_cast<std::size_t>(sysconf(_SC_NPROCESSORS_ONLN)));
  return {.spins = local_ranks > processors ? 0 : settings.spins, .yields = settings.yields};
}

}  // namespace

Job::Job(const Settings& settings, std::unique_ptr<Bootstrap> bootstrap, Window window)
    : settings_(settings),
      wait_policy_(wait_policy_for(settings, bootstrap->local_ranks().size())),
      bootstrap_(std::move(bootstrap)),
      window_(std::move(window)),
      mapped_(static_cast<std::size_t>(bootstrap_->size())),
      direct_(static_cast<std::size_t>(bootstrap_->size())),
      processes_(static_cast<std::size_t>(bootstrap_->size())) {}

Job::~Job() = default;

Result<std::unique_ptr<Job>> Job::open(const Settings& settings, int incarnation,
                                       const rma_bootstrap_t* given) {
  auto bootstrap = open_bootstrap(incarnation, given);
  if (!bootstrap.ok()) return std::move(bootstrap).status();
  const std::size_t locals = bootstrap.value()->local_ranks().size();
  const WindowOptions options = {
      .limit = settings.heap_size != 0 ? settings.heap_size : automatic_heap_size(locals),
      .huge_pages = window_pages(settings.huge_pages)};
  auto window = Window::create(options);
  if (!window.ok()) return std::move(window).status();
  auto job = std::unique_ptr<Job>(new Job(settings, std::move(bootstrap).value(), std::move(window).value()));
  if (Status status = job->open_rails(); !status.ok()) return status;
  if (Status status = job->start(); !status.ok()) return status;
  return job;
}

Status Job::start() {
  // Allows other processes of this user to access this one's memory by process_vm_*, as some security modules
  // require. Without such a module the call fails, but then no permission is needed.
  static_cast<void>(prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0));

  if (Status status = start_memory(); !status.ok()) return status;
  auto self = identify(getpid());
  if (!self.ok()) return {self.status().code(), std::string(self.status().text())};
  card_.head.pid = static_cast<std::uint32_t>(self->process);
  card_.head.started = self->started;
  card_.head.base = reinterpret_cast<std::uintptr_t>(window_.base());
  card_.head.bytes = window_.address_bytes();
  card_.head.window_fd = static_cast<std::uint32_t>(window_.fd());
  card_.head.services[static_cast<std::size_t>(Service::regions)] = {
      .offset = 0, .bytes = RegionTable::directory_bytes(settings_.max_regions)};
  const auto doorbell = provide(Service::doorbell, sizeof(Doorbell));
  if (!doorbell.ok()) return {doorbell.status().code(), std::string(doorbell.status().text())};
  return {};
}

Status Job::open_rails() {
  const std::size_t mapped = settings_.shm == ShmSetting::off ? 1 : local_ranks().size();
  const bool needed = static_cast<std::size_t>(size()) > mapped;
  if (settings_.network == NetworkSetting::off && needed) {
    return {RMA_ERR_SETTING, text("{} of the {} ranks cannot be mapped here, and RMA_NETWORK=off leaves no "
                                  "other way to them",
                                  static_cast<std::size_t>(size()) - mapped, size())};
  }
  const bool forced =
      settings_.network != NetworkSetting::automatic && settings_.network != NetworkSetting::off;
  auto rails = Rails::open(settings_, {.rank = rank(),
                                       .ranks = size(),
                                       .network = forced || needed,
                                       .locals = mapped > 1 ? local_ranks() : std::vector<int>()});
  if (!rails.ok()) return std::move(rails).status();
  rails_ = std::move(rails).value();
  if (rails_->has_local()) {
    const std::span<const std::byte> card = (*rails_)[kLocalRail].card();
    card_.local.assign(card.begin(), card.end());
  }
  if (!has_network()) return {};
  for (std::size_t rail = 0; rail < rails_->count(); ++rail) {
    const std::span<const std::byte> card = (*rails_)[rail].card();
    card_.rails.push_back({.name = std::string((*rails_)[rail].name()), .card = {card.begin(), card.end()}});
  }
  // A device without atomics leaves them to the helpers.
  const bool able = (*rails_)[0].limits().atomics64;
  const bool by_device = settings_.atomic_domain == AtomicDomainSetting::nic ||
                         (settings_.atomic_domain == AtomicDomainSetting::automatic && needed && able);
  card_.head.atomics_by_device = by_device ? 1 : 0;
  return {};
}

Status Job::start_memory() {
  // The directory lies in front of what the allocator manages, because the allocator lists the window in it.
  const auto round_up = [](std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; };
  const std::size_t directory = RegionTable::directory_bytes(settings_.max_regions);
  const std::size_t backed = round_up(directory, window_.granule());
  if (Status status = window_.back(0, backed); !status.ok())
    return std::move(status).within("region directory");
  regions_ = std::make_unique<RegionTable>(std::span(window_.base(), directory));
  if (!has_network()) {
    backing_ = std::make_unique<WindowBacking>(window_, settings_.heap_keep);
  } else {
    auto backing = std::make_unique<RegisteredBacking>(window_, *regions_, *rails_, settings_.extent_bytes);
    registered_ = backing.get();
    registered_->adopt(0, backed);
    if (const auto registration = registered_->find(window_.base())) {
      for (std::size_t rail = 0; rail < card_.rails.size(); ++rail) {
        card_.rails[rail].directory_key = registration->remote[rail];
      }
    }
    backing_ = std::move(backing);
  }
  user_regions_ = std::make_unique<UserRegions>(*regions_, has_network() ? rails_.get() : nullptr);
  auto allocator = Allocator::create(window_, *backing_, *regions_, round_up(directory, backing_->granule()));
  if (!allocator.ok()) return std::move(allocator).status();
  allocator_ = std::move(allocator).value();
  return {};
}

Result<std::byte*> Job::provide(Service service, std::size_t bytes) {
  auto block = allocator_->allocate(MemoryKind::internal, bytes, ProcessCard::kBlockAlignment);
  if (!block.ok()) return std::move(block).status().within("memory that ranks share");
  std::memset(block.value(), 0, bytes);
  card_.head.services[static_cast<std::size_t>(service)] = {
      .offset = static_cast<std::uint64_t>(block.value() - window_.base()), .bytes = bytes};
  return block;
}

Status Job::connect() {
  const std::vector<std::byte> card = card_.encode();
  if (Status status = bootstrap_->publish(card); !status.ok()) return status;
  if (Status status = bootstrap_->fence(); !status.ok()) return status;
  for (const int rank : local_ranks()) {
    if (settings_.shm == ShmSetting::off && rank != this->rank()) continue;
    if (Status status = map_peer(rank); !status.ok()) return status;
  }
  // No process may leave, and take its memory with it, before all have mapped it.
  return bootstrap_->fence();
}

Status Job::map_peer(int rank) {
  auto peer = std::make_unique<MappedProcess>();
  std::byte* here = window_.base();
  if (rank == this->rank()) {
    peer->card = card_;
  } else {
    auto card = card_of(rank);
    if (!card.ok()) return std::move(card).status();
    peer->card = card.value();
    if (Status status = processes_.add(rank, static_cast<pid_t>(peer->card.head.pid)); !status.ok()) {
      return std::move(status).within(text("rank {}", rank));
    }
    auto window = PeerWindow::map(static_cast<pid_t>(peer->card.head.pid),
                                  static_cast<int>(peer->card.head.window_fd), peer->card.head.bytes);
    if (!window.ok()) return std::move(window).status().within(text("heap of rank {}", rank));
    // The number may have been another process's when the file was opened, unless it is still the rank's now.
    if (const auto there = identify(process(card.value()).process);
        !there.ok() || there.value() != process(card.value())) {
      return {RMA_ERR_PEER_LOST, text("rank {}, process {}, has ended", rank, card->head.pid)};
    }
    peer->window = std::move(window).value();
    here = peer->window.base();
  }
  direct_[static_cast<std::size_t>(rank)] = {
      .base = peer->card.head.base,
      .bytes = peer->card.head.bytes,
      .delta = static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(here) - peer->card.head.base)};
  mapped_[static_cast<std::size_t>(rank)] = std::move(peer);
  MappedProcess& mapped = *mapped_[static_cast<std::size_t>(rank)];
  mapped.regions = RegionView(service(Service::regions, rank));
  return {};
}

Result<ProcessCard> Job::card_of(int rank) {
  if (rank == this->rank()) return card_;
  const std::lock_guard guard(cards_lock_);
  if (const auto known = cards_.find(rank); known != cards_.end()) return known->second;
  auto bytes = bootstrap_->card_of(rank);
  if (!bytes.ok()) return std::move(bytes).status();
  auto card = ProcessCard::decode(bytes.value(), rank);
  if (card.ok()) cards_.emplace(rank, card.value());
  return card;
}

Result<std::uintptr_t> Job::service_address(Service service, int rank) {
  auto card = card_of(rank);
  if (!card.ok()) return std::move(card).status();
  const ServiceBlock& block = card->head.services[static_cast<std::size_t>(service)];
  if (block.bytes != 0) return static_cast<std::uintptr_t>(card->head.base + block.offset);
  return Status(RMA_ERR_STATE,
                text("rank {} offers no block for service {}", rank, static_cast<int>(service)));
}

Result<NetworkCard> Job::network_card(int rank) {
  auto card = card_of(rank);
  if (!card.ok()) return std::move(card).status();
  if (has_network() && !card->rails.empty() && card->head.atomics_by_device != card_.head.atomics_by_device) {
    return Status(RMA_ERR_SETTING,
                  text("rank {} has another RMA_ATOMIC_DOMAIN: set it alike on all ranks", rank));
  }
  NetworkCard network;
  RailKeys keys = {};
  for (std::size_t rail = 0; rail < card->rails.size(); ++rail) {
    network.rails.push_back({.name = card->rails[rail].name, .card = card->rails[rail].card});
    keys[rail] = card->rails[rail].directory_key;
  }
  const ServiceBlock& directory = card->head.services[static_cast<std::size_t>(Service::regions)];
  network.directory = {.address = static_cast<std::uintptr_t>(card->head.base + directory.offset),
                       .bytes = directory.bytes,
                       .keys = keys};
  return network;
}

Result<std::vector<std::byte>> Job::local_card(int rank) {
  auto card = card_of(rank);
  if (!card.ok()) return std::move(card).status();
  return card->local;
}

std::span<std::byte> Job::service(Service service, int rank) const {
  const MappedProcess& peer = *mapped_[static_cast<std::size_t>(rank)];
  const ServiceBlock& block = peer.card.head.services[static_cast<std::size_t>(service)];
  const rma_direct_peer_t& direct = direct_[static_cast<std::size_t>(rank)];
  const std::uintptr_t address = direct.base + static_cast<std::uintptr_t>(direct.delta) + block.offset;
  return {reinterpret_cast<std::byte*>(address), block.bytes};
}

Path Job::resolve(const void* address, std::size_t bytes, int rank) const {
  if (std::byte* const here = direct(address, bytes, rank); here != nullptr) {
    return {.kind = Path::Kind::direct, .here = here};
  }
  if (!mapped(rank)) return {.kind = Path::Kind::network, .here = nullptr};
  const auto region =
      mapped_[static_cast<std::size_t>(rank)]->regions.find(reinterpret_cast<std::uintptr_t>(address), bytes);
  if (!region) return {};
  std::byte* const own =
      rank == this->rank() ? const_cast<std::byte*>(static_cast<const std::byte*>(address)) : nullptr;
  return {.kind = Path::Kind::foreign, .here = own};
}

bool Job::given_out(std::uintptr_t address, std::size_t bytes) const {
  const auto* const there = reinterpret_cast<const void*>(address);  // NOLINT(performance-no-int-to-ptr)
  const Path path = resolve(there, bytes, rank());
  return (path.kind == Path::Kind::foreign && is_mapped(address, bytes)) ||
         (path.kind == Path::Kind::direct && registered_ != nullptr && registered_->covers(address, bytes));
}

std::optional<Registered> Job::registration_of(std::uintptr_t address, std::size_t bytes) const {
  const auto* const there = reinterpret_cast<const std::byte*>(address);  // NOLINT(performance-no-int-to-ptr)
  if (const auto own = own_registration(there)) {
    if (bytes <= own->bytes - static_cast<std::size_t>(there - own->address)) return own;
    return std::nullopt;
  }
  return user_regions_->find(there, bytes);
}

Status Job::unreachable(const void* address, std::size_t bytes, int rank) {
  return {RMA_ERR_ADDRESS,
          text("{} bytes at {} of rank {} are neither in its heap nor registered there (rma_malloc, "
               "rma_malloc_local, rma_register)",
               bytes, address, rank)};
}

Status Job::lost(int rank) const {
  return {RMA_ERR_PEER_LOST,
          text("rank {}, process {} of this host, has ended", rank, process(rank).process)};
}

ProcessIdentity Job::process(int rank) const {
  return process(mapped_[static_cast<std::size_t>(rank)]->card);
}

ProcessIdentity Job::process(const ProcessCard& card) {
  return {.process = static_cast<pid_t>(card.head.pid), .started = card.head.started};
}

}  // namespace rma
