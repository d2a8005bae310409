#include "collectives/team_transport.hpp"

#include "atomics/notify.hpp"

namespace rma {

Result<std::uintptr_t> JobTeamTransport::block(int member) {
  std::uintptr_t& known = blocks_[static_cast<std::size_t>(member)];
  if (known == 0) {
    auto service = job_.cards().service_address(Service::teams, ranks_[static_cast<std::size_t>(member)]);
    if (!service.ok()) return service;
    known = service.value() + offset_;
  }
  return known;
}

Status JobTeamTransport::put(int member, std::uintptr_t to, const void* from, std::size_t bytes,
                             std::uintptr_t flag, std::uint64_t value) {
  auto* const there = reinterpret_cast<void*>(to);            // NOLINT(performance-no-int-to-ptr)
  auto* const word = reinterpret_cast<std::uint64_t*>(flag);  // NOLINT(performance-no-int-to-ptr)
  return put_notify(job_, remote_access_, there, from, bytes, word, value,
                    ranks_[static_cast<std::size_t>(member)]);
}

std::chrono::milliseconds JobTeamTransport::patience(int member) const {
  // A check of a process of this host costs only a system call.
  if (job_.mapped(ranks_[static_cast<std::size_t>(member)]))
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::nanoseconds(kMortalNap));
  return std::chrono::seconds(job_.settings().peer_timeout) / 4;
}

Status JobTeamTransport::check(int member) {
  const int rank = ranks_[static_cast<std::size_t>(member)];
  if (!job_.mapped(rank)) return remote_access_.network()->probe(rank);
  return job_.ended(rank) ? job_.lost(rank) : Status();
}

}  // namespace rma
