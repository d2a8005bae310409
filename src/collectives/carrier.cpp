#include "collectives/carrier.hpp"

#include "atomics/notify.hpp"
#include "core/operation.hpp"

namespace rma {

Result<std::uintptr_t> JobCarrier::block(int member) {
  std::uintptr_t& known = blocks_[static_cast<std::size_t>(member)];
  if (known == 0) {
    const int rank = ranks_[static_cast<std::size_t>(member)];
    const std::span<std::byte> here = job_.service(Service::teams, rank);
    const rma_direct_peer_t& peer = job_.direct_table()[static_cast<std::size_t>(rank)];
    known = reinterpret_cast<std::uintptr_t>(here.data()) - static_cast<std::uintptr_t>(peer.delta) + offset_;
  }
  return known;
}

Status JobCarrier::put(int member, std::uintptr_t to, const void* from, std::size_t bytes,
                       std::uintptr_t flag, std::uint64_t value) {
  const int rank = ranks_[static_cast<std::size_t>(member)];
  if (bytes != 0) {
    Operation data(job_, device_, rank);
    auto* const there = reinterpret_cast<void*>(to);  // NOLINT(performance-no-int-to-ptr)
    if (Status status = data.put(there, from, bytes); !status.ok()) return status;
    if (Status status = data.end({}); !status.ok()) return status;
  }
  auto* const word = reinterpret_cast<void*>(flag);  // NOLINT(performance-no-int-to-ptr)
  std::byte* const here = job_.direct(word, sizeof value, rank);
  if (here == nullptr) return Job::unreachable(word, sizeof value, rank);
  notify(job_, here, value, rank);
  return {};
}

Status JobCarrier::check(int /*member*/) { return {}; }

}  // namespace rma
