#include "transport/ofi/ofi_handshakes.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "util/try_assign.hpp"

namespace librma::transport {

Status OfiHandshakes::open(fid_ep* endpoint, fid_av* addresses) {
  endpoint_ = endpoint;
  addresses_ = addresses;
  slots_.resize((kReceives + kSends) * kSlot);
  arrived_.reserve(kMostArrived);
  serving_.reserve(kMostArrived);
  RMA_TRY_ASSIGN(registration, memory_.add(slots_.data(), slots_.size()));
  registration_ = registration;
  for (std::size_t i = 0; i < kReceives + kSends; ++i) {
    const Local slot = {
        .address = slots_.data() + i * kSlot, .bytes = sizeof(OfiHandshake), .key = registration_.local};
    if (i < kReceives) {
      post_receive(slot);
    } else {
      free_sends_.push_back(slot);
    }
  }
  return {};
}

void OfiHandshakes::post_receive(const Local& slot) {
  const OfiPurpose purpose = {
      .kind = OfiKind::hello_awaited, .report = true, .peer = nullptr, .cookie = 0, .memory = slot};
  static_cast<void>(driver_.post_free(purpose, [&](void* context) {
    return fi_trecv(endpoint_, slot.address, slot.bytes, memory_.descriptor(slot.key), FI_ADDR_UNSPEC, kTag,
                    0, context);
  }));
}

Result<fi_addr_t> OfiHandshakes::resolve(const OfiAddress& address) {
  if (!address.valid()) return Status(RMA_ERR_SYSTEM, "a libfabric address that makes no sense");
  const std::lock_guard guard(lock_);
  const auto found = known_.find(address.name);
  if (found != known_.end()) return found->second;
  fi_addr_t name = FI_ADDR_UNSPEC;
  const long error = fi_av_insert(addresses_, address.name.data(), 1, &name, 0, nullptr);
  if (error != 1) return fabric_failure(RMA_ERR_SYSTEM, "fi_av_insert", error);
  known_[address.name] = name;
  return name;
}

void OfiHandshakes::send(const OfiAddress& to, const OfiHandshake& handshake) {
  const auto name = resolve(to);
  if (!name.ok()) return;
  std::list<Waiting> waiting(1, {.to = name.value(), .memory = {}, .attempts = 0});
  {
    const std::lock_guard guard(lock_);
    if (free_sends_.empty()) return;
    const Local slot = free_sends_.back();
    free_sends_.pop_back();
    std::memcpy(slot.address, &handshake, sizeof handshake);
    waiting.front().memory = slot;
    waiting_.splice(waiting_.end(), waiting);
  }
  driver_.call_service();
}

long OfiHandshakes::post(const Waiting& waiting) {
  const OfiPurpose purpose = {
      .kind = OfiKind::hello_sent, .report = true, .peer = nullptr, .cookie = 0, .memory = waiting.memory};
  return driver_.post_free(purpose, [&](void* context) {
    return fi_tsend(endpoint_, waiting.memory.address, waiting.memory.bytes,
                    memory_.descriptor(waiting.memory.key), waiting.to, kTag, context);
  });
}

bool OfiHandshakes::send_waiting() {
  std::list<Waiting> waiting;
  {
    const std::lock_guard guard(lock_);
    waiting.swap(waiting_);
  }
  for (auto datagram = waiting.begin(); datagram != waiting.end();) {
    const long error = post(*datagram);
    const bool again = error == -FI_EAGAIN && ++datagram->attempts < kAttempts;
    if (error != 0 && !again) ended(datagram->memory, 0);
    datagram = again ? std::next(datagram) : waiting.erase(datagram);
  }
  const std::lock_guard guard(lock_);
  waiting_.splice(waiting_.begin(), waiting);
  return !waiting_.empty();
}

void OfiHandshakes::ended(const Local& memory, std::size_t arrived) {
  const bool receive = static_cast<std::size_t>(memory.address - slots_.data()) < kReceives * kSlot;
  bool call = false;
  {
    const std::lock_guard guard(lock_);
    if (!receive) {
      free_sends_.push_back(memory);
    } else if (arrived == sizeof(OfiHandshake) && arrived_.size() < kMostArrived) {
      std::memcpy(&arrived_.emplace_back(), memory.address, sizeof(OfiHandshake));
      call = true;
    }
  }
  if (receive) post_receive(memory);
  if (call) driver_.call_service();
}

}  // namespace librma::transport
