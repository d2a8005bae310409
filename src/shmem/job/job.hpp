#pragma once

#include <cstddef>
#include <cstdint>

#include "rma/rma.h"
#include "shmem/job/errors.hpp"
#include "util/range_check.hpp"

// Where symmetric memory is. An address of this PE stands for the same object on every PE. The table below
// turns it into the owner's address, which librma takes, and into the place where this process has mapped it,
// if it has.

namespace librma::shmem {

/// A range of this PE's own addresses.
struct Range {
  std::uintptr_t base = 0;
  std::size_t bytes = 0;

  [[nodiscard]] bool contains(const void* address, std::size_t count) const {
    return range_contains(bytes, reinterpret_cast<std::uintptr_t>(address) - base, count);
  }
};

/// How one PE sees a range of another.
struct View {
  std::size_t mapped = 0;    ///< the bytes of the range that plain loads and stores reach: all, or 0
  std::ptrdiff_t here = 0;   ///< from an own address to the place where the other PE's memory is mapped
  std::ptrdiff_t there = 0;  ///< from an own address to the other PE's address
};

struct PeerAddresses {
  View heap;
  View data;
  const std::uint32_t* awaits_stores =
      nullptr;  ///< as in rma_direct_peer_t; null if nothing of the PE is mapped
};

/// The data that the inlined paths need. Written by init and finalize, and only read between them.
struct Job {
  const PeerAddresses* peers = nullptr;
  unsigned n_pes = 0;  ///< 0: not initialized
  int me = -1;
  bool debug = false;         ///< SHMEM_DEBUG
  bool all_mapped = false;    ///< plain loads and stores reach the symmetric memory of all PEs
  bool data_in_heap = false;  ///< on all PEs, librma knows static data by addresses of its heap (rma_alias)
  Range heap;
  Range data;  ///< the executable's static data
};
extern constinit Job job;

/// Returns where `bytes` bytes of the view of `range` at `address` are mapped, or null.
inline std::byte* mapped_at(const Range& range, const View& view, const void* address, std::size_t bytes) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const std::uintptr_t offset = at - range.base;
  // Not range_contains(): here the first comparison suffices for an address of another range, and a view of
  // which nothing is mapped does not even have 0 bytes.
  if (offset >= view.mapped || bytes > view.mapped - offset) return nullptr;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address that the peer's window gives
  return reinterpret_cast<std::byte*>(at + static_cast<std::uintptr_t>(view.here));
}

/// Returns the place where this process has mapped the `bytes` bytes at `address` of `pe`. Returns null if it
/// has not mapped them, if they are not symmetric, and if there is no such PE.
[[gnu::always_inline]] inline std::byte* here(const void* address, std::size_t bytes, int pe) {
  if (static_cast<unsigned>(pe) >= job.n_pes) [[unlikely]]
    return nullptr;
  const PeerAddresses& peer = job.peers[pe];
  if (std::byte* const at = mapped_at(job.heap, peer.heap, address, bytes); at != nullptr) [[likely]]
    return at;
  return mapped_at(job.data, peer.data, address, bytes);
}

/// Wakes `pe` if it sleeps until a store. Called after a store to memory that here() has found.
[[gnu::always_inline]] inline void wake_after_store(int pe) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);  // as in rma_wake_after_store
  if (__atomic_load_n(job.peers[pe].awaits_stores, __ATOMIC_RELAXED) != 0) [[unlikely]]
    rma_wake(pe);
}

/// Ends the job: says which of the arguments is wrong.
[[noreturn, gnu::cold]] void refuse(Call call, const void* address, std::size_t bytes, int pe);

/// Returns the address by which `pe` knows the `bytes` bytes at `address`. Ends the job if they are not
/// symmetric, or if there is no such PE.
inline std::byte* there(Call call, const void* address, std::size_t bytes, int pe) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if (static_cast<unsigned>(pe) < job.n_pes) [[likely]] {
    // NOLINTBEGIN(performance-no-int-to-ptr): an address of the peer
    if (job.heap.contains(address, bytes)) {
      return reinterpret_cast<std::byte*>(at + static_cast<std::uintptr_t>(job.peers[pe].heap.there));
    }
    if (job.data.contains(address, bytes)) {
      return reinterpret_cast<std::byte*>(at + static_cast<std::uintptr_t>(job.peers[pe].data.there));
    }
    // NOLINTEND(performance-no-int-to-ptr)
  }
  refuse(call, address, bytes, pe);
}

/// Returns the address by which a collective call of librma takes this PE's own memory at `address`. Static
/// data are named by their place in the heap, because the other members reach the heap directly. Other memory
/// keeps its address.
template <typename T>
T* collective_address(T* address) {
  if (!job.data.contains(address, 1)) return address;
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of this PE's heap
  return reinterpret_cast<T*>(at + static_cast<std::uintptr_t>(job.peers[job.me].data.there));
}

/// Ends the job unless the library is initialized and has a PE `pe`.
void check_pe(Call call, int pe);
/// Ends the job unless the library is initialized.
void require_initialized(Call call);
/// With SHMEM_DEBUG, ends the job unless [address, address + bytes) is symmetric.
void check_symmetric(Call call, const void* address, std::size_t bytes);

}  // namespace librma::shmem
