#include "core/job/heap_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>

#include "malloc/window_backing.hpp"
#include "util/log.hpp"
#include "util/system/memory_limit.hpp"
#include "util/system/page_size.hpp"
#include "util/system/process_limits.hpp"
#include "util/text.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma {
namespace {

/// The part of a rank's memory, as a divisor, that may be kept for later allocations.
constexpr std::size_t kSharesKept = 8;

/// Returns how many addresses the window of one of `locals` ranks of this host may have.
std::uint64_t window_addresses(std::size_t locals) {
  // Each rank maps the windows of all. A quarter of the 47 bits of user addresses are for them; and half of
  // what this process may have, because segments of messages, stacks and the program need some too.
  constexpr std::uint64_t kMapped = std::uint64_t{1} << 45U;
  return std::min(largest_file(), std::min(kMapped, free_addresses() / 2) / locals);
}

/// Sizes the window for RMA_HEAP_SIZE=0. All ranks of the host together may use half of the memory that the
/// job may use here, and each its part of that in any case.
WindowOptions automatic_size(std::size_t locals) {
  constexpr std::uint64_t kUnit = std::uint64_t{1} << 20U;
  constexpr std::uint64_t kLeast = 4 * kUnit;  // with less, MPI and SHMEM do not start
  const std::uint64_t addresses = window_addresses(locals);
  const std::uint64_t together = usable_memory() / 2;
  const std::uint64_t most = std::max(kLeast, std::min(together, addresses / 5 * 2) / kUnit * kUnit);
  return {.limit = most,
          .share = std::min(most, std::max(kUnit, together / locals / kUnit * kUnit)),
          .addresses = std::max(addresses, kLeast)};
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

/// Returns whether all of [address, address + bytes) of this process is mapped.
bool is_mapped(std::uintptr_t address, std::size_t bytes) {
  const std::uintptr_t page = page_bytes();
  const std::uintptr_t end = address + bytes;
  std::array<unsigned char, 256> resident = {};
  for (std::uintptr_t at = address / page * page; at < end; at += resident.size() * page) {
    const std::size_t length = std::min<std::size_t>(end - at, resident.size() * page);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of this process, which may not be mapped
    if (mincore(reinterpret_cast<void*>(at), length, resident.data()) != 0) return false;
  }
  return true;
}

constexpr std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

Status HeapMemory::alias(std::byte* address, std::size_t bytes, bool joined) {
  if (joined && own_alias() == nullptr) {
    return {RMA_ERR_STATE, "this process has joined a job; make the call before rma_init"};
  }
  return make_alias(address, bytes);
}

Result<std::unique_ptr<HeapMemory>> HeapMemory::reserve(const Settings& settings, std::size_t locals) {
  WindowOptions options =
      settings.heap_size != 0 ? WindowOptions{.limit = settings.heap_size} : automatic_size(locals);
  options.huge_pages = window_pages(settings.huge_pages);
  options.reserved = RegionTable::directory_bytes(settings.max_regions);
  RMA_TRY_ASSIGN(window, Window::create(options, own_alias()));
  return std::unique_ptr<HeapMemory>(new HeapMemory(std::move(window)));
}

Status HeapMemory::start(const Settings& settings, Rails& rails) {
  // The directory lies in front of what the allocator manages, because the allocator lists the window in it.
  directory_bytes_ = RegionTable::directory_bytes(settings.max_regions);
  directory_offset_ = window_.alias().file_bytes;
  const std::size_t first = RegionTable::first_bytes(settings.max_regions);
  if (Status status = back_directory(first); !status.ok())
    return std::move(status).within("region directory");
  regions_ = std::make_unique<RegionTable>(
      directory(), settings.max_regions,
      [this, &rails](std::size_t offset, std::size_t bytes) { return grow_directory(rails, offset, bytes); });
  const bool network = rails.count() != 0;
  if (!network) {
    const std::size_t keep = std::min<std::size_t>(settings.heap_keep, window_.share() / kSharesKept);
    backing_ = std::make_unique<WindowBacking>(window_, keep);
  } else {
    auto backing = std::make_unique<RegisteredBacking>(window_, *regions_, rails, settings.extent_bytes);
    registered_ = backing.get();
    if (const Alias& alias = window_.alias(); alias.bytes != 0) registered_->adopt(alias.offset, alias.bytes);
    registered_->adopt(directory_offset_, directory_backed_);
    backing_ = std::move(backing);
  }
  user_regions_ = std::make_unique<UserRegions>(*regions_, network ? &rails : nullptr);
  const std::size_t reserved = round_up(directory_offset_ + directory_bytes_, backing_->granule());
  RMA_TRY_ASSIGN(allocator, Allocator::create(window_, *backing_, *regions_, reserved));
  allocator_ = std::move(allocator);
  return {};
}

HeapMemory::~HeapMemory() {
  // In this order each of them still has what it uses.
  user_regions_.reset();
  allocator_.reset();
  backing_.reset();
  regions_.reset();
  for (const Registered& registered : directory_registered_) directory_rails_->remove(registered);
}

Status HeapMemory::back_directory(std::size_t bytes) {
  const std::size_t wanted = round_up(bytes, window_.granule());
  if (wanted <= directory_backed_) return {};
  Status status = window_.back(directory_offset_ + directory_backed_, wanted - directory_backed_);
  if (status.ok()) directory_backed_ = wanted;
  return status;
}

Result<RailKeys> HeapMemory::grow_directory(Rails& rails, std::size_t offset, std::size_t bytes) {
  RMA_TRY(back_directory(offset + bytes));
  if (rails.count() == 0) return RailKeys{};
  directory_registered_.reserve(directory_registered_.size() + 1);
  auto registered = rails.add(directory().data() + offset, bytes);
  if (!registered.ok()) {
    log(LogLevel::warn,
        "other hosts no longer reach this rank's memory, because a part of the list of it cannot "
        "be registered: {}; raise the limit of locked memory (ulimit -l)",
        registered.status().text());
    return RailKeys{};
  }
  directory_rails_ = &rails;
  directory_registered_.push_back(registered.value());
  return registered->remote;
}

std::optional<Registered> HeapMemory::registration_of(std::uintptr_t address, std::size_t bytes) const {
  const auto* const there = reinterpret_cast<const std::byte*>(address);  // NOLINT(performance-no-int-to-ptr)
  if (const auto own = own_registration(there)) {
    if (bytes <= own->bytes - static_cast<std::size_t>(there - own->address)) return own;
    return std::nullopt;
  }
  return user_regions_->find(there, bytes);
}

bool HeapMemory::given_out(std::uintptr_t address, std::size_t bytes) const {
  const auto heap = reinterpret_cast<std::uintptr_t>(window_.base());
  const std::uintptr_t heap_end = heap + window_.address_bytes();
  if (bytes > UINTPTR_MAX - address) return false;
  const std::uintptr_t end = address + bytes;
  if (address >= heap && end <= heap_end)
    return registered_ != nullptr && registered_->covers(address, bytes);
  const RegionView regions(directory());
  const auto listed = [&](std::uintptr_t from, std::uintptr_t to) {
    return regions.covers(from, to - from) && is_mapped(from, to - from);
  };
  if (end <= heap || address >= heap_end) return listed(address, end);
  // The range crosses an end of the heap. Without a network only ranks of this host ask, and these have
  // mapped the heap.
  const std::uintptr_t first = std::max(address, heap);
  const bool in_heap = registered_ == nullptr || registered_->covers(first, std::min(end, heap_end) - first);
  return in_heap && (address >= heap || listed(address, heap)) && (end <= heap_end || listed(heap_end, end));
}

}  // namespace librma
