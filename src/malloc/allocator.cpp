#include "malloc/allocator.hpp"
#include "util/range_check.hpp"
#include "util/round.hpp"
#include "util/text.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"
#include "util/undo.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>
#include <utility>

namespace librma {
namespace {

// The largest small size class of jemalloc with 4 KiB pages. jemalloc would give a larger block an extent of
// its own, too.
constexpr std::size_t kArenaMaxBytes = 14336;

std::string_view name_of(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::collective:
      return "rma_malloc";
    case MemoryKind::local:
      return "rma_malloc_local";
    case MemoryKind::internal:
      break;
  }
  return "the library";
}

}  // namespace

Allocator::Allocator(Window& window, Backing& backing, RegionTable& regions, std::size_t reserved)
    : window_(window), regions_(regions), extents_(window, backing, reserved) {}

Result<std::unique_ptr<Allocator>> Allocator::create(Window& window, Backing& backing, RegionTable& regions,
                                                     std::size_t reserved) {
  std::unique_ptr<Allocator> allocator(new Allocator(window, backing, regions, reserved));
  for (auto* arena : {&allocator->collective_, &allocator->local_}) {
    RMA_TRY_ASSIGN(created, Arena::create(allocator->extents_));
    *arena = std::move(created);
  }
  RMA_TRY(
      regions.add(reinterpret_cast<std::uintptr_t>(window.base()), window.address_bytes(), kRegionWindow));
  allocator->listed_ = true;
  return allocator;
}

Allocator::~Allocator() {
  // This cannot fail, because listed_ says that the region is in the table.
  if (listed_) {
    static_cast<void>(regions_.remove(reinterpret_cast<std::uintptr_t>(window_.base()), kRegionWindow));
  }
  for (auto& [address, block] : blocks_) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    if (block.own_extent)
      give_extent(reinterpret_cast<std::byte*>(address), block.bytes, std::move(block.record));
  }
  for (auto& [address, reservation] : reservations_) give_reservation(address, reservation);
}

Result<std::byte*> Allocator::allocate(MemoryKind kind, std::size_t bytes, std::size_t alignment) {
  if (bytes == 0) return Status(RMA_ERR_SIZE, "a block of 0 bytes");
  if (!std::has_single_bit(alignment)) {
    return Status(RMA_ERR_ALIGNMENT, text("alignment {} is not a power of two", alignment));
  }
  const bool own_extent = bytes > kArenaMaxBytes || alignment > ExtentPool::kPage;
  ExtentPool::Record record = own_extent ? ExtentPool::make_record() : ExtentPool::Record();
  auto block = own_extent ? take_extent(bytes, alignment) : arena(kind).allocate(bytes, alignment);
  if (!block.ok()) return block;
  Undo give_back([&] {
    if (own_extent) {
      give_extent(block.value(), bytes, std::move(record));
    } else {
      arena(kind).free(block.value());
    }
  });
  const std::lock_guard lock(mutex_);
  AllocatedBlock& listed = blocks_[reinterpret_cast<std::uintptr_t>(block.value())];
  listed = {.bytes = bytes, .kind = kind, .own_extent = own_extent, .record = std::move(record)};
  bytes_in_use_ += bytes;
  give_back.dismiss();
  return block;
}

Result<std::byte*> Allocator::reserve(std::size_t bytes, std::size_t alignment) {
  if (bytes == 0) return Status(RMA_ERR_SIZE, "a range of 0 bytes");
  if (!std::has_single_bit(alignment)) {
    return Status(RMA_ERR_ALIGNMENT, text("alignment {} is not a power of two", alignment));
  }
  const std::size_t granule = extents_.granule();
  if (bytes > window_.address_bytes()) {
    return Status(RMA_ERR_NO_MEMORY, text("the heap has {} addresses, fewer than {}; raise RMA_HEAP_SIZE",
                                          window_.address_bytes(), bytes));
  }
  Reservation reservation;
  reservation.bytes = round_up(bytes, granule);
  reservation.committed.resize(reservation.bytes / granule);
  reservation.record = ExtentPool::make_record();
  RMA_TRY_ASSIGN(offset, extents_.take_addresses(reservation.bytes, std::max(alignment, ExtentPool::kPage)));
  std::byte* const start = window_.base() + offset;
  Undo give_back([&] { extents_.give_addresses(offset, reservation.bytes, ExtentPool::make_record()); });
  const std::lock_guard lock(mutex_);
  reservations_.emplace(reinterpret_cast<std::uintptr_t>(start), std::move(reservation));
  give_back.dismiss();
  return start;
}

Status Allocator::commit(const void* address, std::size_t bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(address);
  const std::lock_guard lock(mutex_);
  auto found = reservations_.upper_bound(first);
  if (found == reservations_.begin() ||
      !range_contains(std::prev(found)->second.bytes, first - std::prev(found)->first, bytes)) {
    return {RMA_ERR_ADDRESS,
            text("the {} bytes at {} are not inside a range of rma_reserve", bytes, address)};
  }
  auto& [start, reservation] = *std::prev(found);
  const std::size_t granule = extents_.granule();
  const std::size_t end = (first - start + bytes + granule - 1) / granule;
  for (std::size_t at = (first - start) / granule; at < end;) {
    std::size_t after = at;
    while (after < end && reservation.committed[after] == reservation.committed[at]) ++after;
    if (!reservation.committed[at]) {
      RMA_TRY(extents_.back_zeroed(offset_of(start) + at * granule, (after - at) * granule));
      std::fill_n(reservation.committed.begin() + static_cast<std::ptrdiff_t>(at), after - at, true);
    }
    at = after;
  }
  return {};
}

Status Allocator::free(MemoryKind kind, void* address) {
  AllocatedBlock block;
  {
    const std::lock_guard lock(mutex_);
    if (const auto reserved = reservations_.find(reinterpret_cast<std::uintptr_t>(address));
        reserved != reservations_.end() && kind == MemoryKind::collective) {
      give_reservation(reserved->first, reserved->second);
      reservations_.erase(reserved);
      return {};
    }
    const auto it = blocks_.find(reinterpret_cast<std::uintptr_t>(address));
    if (it == blocks_.end()) {
      return {RMA_ERR_ADDRESS,
              text("{} is not the start of a live block: freed before, or never allocated", address)};
    }
    if (it->second.kind != kind) {
      return {RMA_ERR_ADDRESS, text("{} was allocated by {} and is freed as a block of {}", address,
                                    name_of(it->second.kind), name_of(kind))};
    }
    // The block leaves the table of live blocks before it can be allocated again.
    block = std::move(it->second);
    blocks_.erase(it);
    bytes_in_use_ -= block.bytes;
  }
  auto* start = static_cast<std::byte*>(address);
  if (block.own_extent) {
    give_extent(start, block.bytes, std::move(block.record));
  } else {
    arena(kind).free(start);
  }
  return {};
}

bool Allocator::contains(const void* address, std::size_t bytes) const noexcept {
  const std::uintptr_t offset =
      reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(window_.base());
  return range_contains(window_.address_bytes(), offset, bytes);
}

std::size_t Allocator::bytes_in_use() const {
  const std::lock_guard lock(mutex_);
  return bytes_in_use_;
}

std::size_t Allocator::blocks_in_use() const {
  const std::lock_guard lock(mutex_);
  return blocks_.size();
}

Arena& Allocator::arena(MemoryKind kind) noexcept {
  return kind == MemoryKind::collective ? *collective_ : *local_;
}

Result<std::byte*> Allocator::take_extent(std::size_t bytes, std::size_t alignment) {
  if (bytes > window_.address_bytes()) {
    // Rounding up so large a size could overflow. The text is that of Window::back().
    return Status(RMA_ERR_NO_MEMORY,
                  text("the heap has no room for {} bytes more: {} of {} are used; raise RMA_HEAP_SIZE",
                       bytes, window_.used(), window_.limit()));
  }
  RMA_TRY_ASSIGN(offset, extents_.take(extent_bytes(bytes), std::max(alignment, ExtentPool::kPage)));
  return window_.base() + offset;
}

void Allocator::give_extent(std::byte* address, std::size_t bytes, ExtentPool::Record record) noexcept {
  extents_.give(static_cast<std::size_t>(address - window_.base()), extent_bytes(bytes), std::move(record));
}

std::size_t Allocator::offset_of(std::uintptr_t address) const noexcept {
  return address - reinterpret_cast<std::uintptr_t>(window_.base());
}

// The caller holds mutex_, or is the destructor.
void Allocator::give_reservation(std::uintptr_t address, Reservation& reservation) noexcept {
  const std::size_t granule = extents_.granule();
  const std::size_t offset = offset_of(address);
  const auto& committed = reservation.committed;
  for (std::size_t at = 0; at < committed.size();) {
    std::size_t after = at;
    while (after < committed.size() && committed[after] == committed[at]) ++after;
    if (committed[at]) extents_.release(offset + at * granule, (after - at) * granule);
    at = after;
  }
  extents_.give_addresses(offset, reservation.bytes, std::move(reservation.record));
}

std::size_t Allocator::extent_bytes(std::size_t bytes) noexcept {
  return (bytes + ExtentPool::kPage - 1) / ExtentPool::kPage * ExtentPool::kPage;
}

}  // namespace librma
