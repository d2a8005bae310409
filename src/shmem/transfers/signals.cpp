#include "shmem/transfers/signals.hpp"

#include "rma/rma.h"
#include "shmem.h"
#include "shmem/transfers/atomics.hpp"
#include "shmem/transfers/waits.hpp"

namespace librma::shmem {

void put_bytes_signal(Call call, void* dest, const void* source, std::size_t bytes,
                      std::uint64_t* signal_address, std::uint64_t signal, int op, int pe) {
  if (op != SHMEM_SIGNAL_SET && op != SHMEM_SIGNAL_ADD)
    die(call, fmt::format("there is no signal operation {}", op));
  auto* const flag =
      reinterpret_cast<std::uint64_t*>(there(call, signal_address, sizeof *signal_address, pe));
  // Without data, their addresses may be null, and the signal comes alone.
  std::byte* const to = bytes != 0 ? there(call, dest, bytes, pe) : nullptr;
  const bool in_heap = job.data_in_heap || job.heap.contains(signal_address, sizeof *signal_address);
  if (op == SHMEM_SIGNAL_SET && in_heap && bytes != 0) {
    require(rma_put_notify(to, source, bytes, flag, signal, pe), call);
    return;
  }
  if (bytes != 0) {
    require(rma_put(to, source, bytes, pe), call);
    // The data are visible before the signal, which may take another path.
    require(rma_fence(pe), call);
  }
  const rma_atomic_op_t change = op == SHMEM_SIGNAL_SET ? RMA_SET : RMA_FETCH_ADD;
  require(rma_atomic64_nbi(change, flag, signal, 0, nullptr, pe), call);
}

std::uint64_t signal_fetch(Call call, const std::uint64_t* signal_address) {
  require_initialized(call);
  return load(signal_address);
}

void signal_add(Call call, std::uint64_t* signal_address, std::uint64_t signal, int pe) {
  atomic_post<RMA_FETCH_ADD, std::uint64_t>(call, signal_address, signal, pe);
}

void signal_set(Call call, std::uint64_t* signal_address, std::uint64_t signal, int pe) {
  atomic_post<RMA_SET, std::uint64_t>(call, signal_address, signal, pe);
}

std::uint64_t signal_wait_until(Call call, std::uint64_t* signal_address, int compare, std::uint64_t value) {
  check_compare(call, compare);
  std::uint64_t seen = 0;
  require(rma_wait_until(signal_address, static_cast<rma_compare_t>(compare), value, &seen), call);
  return seen;
}

}  // namespace librma::shmem
