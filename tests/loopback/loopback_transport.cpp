#include "loopback/loopback_transport.hpp"

#include <algorithm>
#include <cstring>

namespace librma::transport {
namespace {

std::vector<std::byte> card_of(int number) {
  std::vector<std::byte> card(sizeof number);
  std::memcpy(card.data(), &number, sizeof number);
  return card;
}

std::byte* pointer(std::uintptr_t address) {
  return reinterpret_cast<std::byte*>(address);  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace

LoopbackFabric::LoopbackFabric(std::optional<std::uint64_t> seed) {
  if (seed) random_.emplace(*seed);
}

std::unique_ptr<LoopbackTransport> LoopbackFabric::open(int number, const Limits& limits, LoopbackKeys keys) {
  auto endpoint = std::unique_ptr<LoopbackTransport>(new LoopbackTransport(*this, number, limits, keys));
  const std::lock_guard guard(lock_);
  endpoints_[number] = endpoint.get();
  return endpoint;
}

LoopbackTransport::LoopbackTransport(LoopbackFabric& fabric, int number, const Limits& limits,
                                     LoopbackKeys keys)
    : fabric_(fabric),
      number_(number),
      limits_(limits),
      keys_(keys),
      card_(card_of(number)),
      messages_(*this, fabric.lock_) {}

LoopbackTransport::~LoopbackTransport() {
  const std::lock_guard guard(fabric_.lock_);
  fabric_.endpoints_.erase(number_);
  for (auto& [number, endpoint] : fabric_.endpoints_)
    std::erase_if(endpoint->peers_, [this](const auto& peer) { return peer.second == this; });
}

void LoopbackTransport::set_faults(const LoopbackFaults& faults) {
  const std::lock_guard guard(fabric_.lock_);
  faults_ = faults;
}

std::uint64_t LoopbackTransport::posts() const {
  const std::lock_guard guard(fabric_.lock_);
  return posts_;
}

Result<Registration> LoopbackTransport::register_memory(std::byte* address, std::size_t bytes) {
  const std::lock_guard guard(fabric_.lock_);
  if (faults_.registrations == 0) return Status(RMA_ERR_NO_MEMORY, "loopback: no more registrations");
  --faults_.registrations;
  const Key key = next_key_++;
  const Registration registration = {
      .base = reinterpret_cast<std::uintptr_t>(address), .bytes = bytes, .local = key, .remote = key};
  registrations_[key] = registration;
  return registration;
}

void LoopbackTransport::deregister_memory(const Registration& registration) {
  const std::lock_guard guard(fabric_.lock_);
  registrations_.erase(registration.local);
}

Status LoopbackTransport::connect(int peer, std::span<const std::byte> card) {
  int number = 0;
  if (card.size() != sizeof number) return {RMA_ERR_LAUNCH, "loopback: a card of another size"};
  std::memcpy(&number, card.data(), sizeof number);
  LoopbackTransport* there = nullptr;
  {
    const std::lock_guard guard(fabric_.lock_);
    const auto found = fabric_.endpoints_.find(number);
    if (found == fabric_.endpoints_.end()) return {RMA_ERR_PEER_LOST, "loopback: no such endpoint"};
    there = found->second;
    peers_[peer] = there;
    there->peers_.try_emplace(number_, this);  // a connection works both ways
  }
  const std::lock_guard introducing(fabric_.introductions_);
  LoopbackMessageEndpoint::introduce(messages_, peer, there->messages_, number_);
  return {};
}

LoopbackTransport* LoopbackTransport::reachable(int peer) const {
  const auto found = peers_.find(peer);
  return found == peers_.end() || faults_.lost == peer ? nullptr : found->second;
}

/// Returns whether a post may happen now. The caller holds the lock, and completes the post if
/// it is admitted.
rma_status_t LoopbackTransport::admit(int peer, std::span<const Local> pieces, PostFlags flags) {
  if (!peers_.contains(peer) || faults_.lost == peer) return RMA_ERR_PEER_LOST;
  if (pieces.size() > limits_.max_gather) return RMA_ERR_ARGUMENT;
  const std::size_t bytes = total_bytes(pieces);
  if (bytes > limits_.max_message || (flags.inline_data && bytes > limits_.max_inline)) return RMA_ERR_SIZE;
  if (faults_.refused_posts > 0) {
    --faults_.refused_posts;
    return RMA_ERR_STATE;
  }
  if (outstanding_[peer] >= limits_.max_outstanding) return RMA_ERR_STATE;
  return RMA_SUCCESS;
}

bool LoopbackTransport::covered(std::uintptr_t address, std::size_t bytes, Key key) const {
  if (keys_ == LoopbackKeys::ignored || bytes == 0) return true;
  const auto found = registrations_.find(key);
  if (found == registrations_.end()) return false;
  const Registration& registration = found->second;
  return address >= registration.base && bytes <= registration.bytes &&
         address - registration.base <= registration.bytes - bytes;
}

bool LoopbackTransport::usable(std::span<const Local> pieces) const {
  return std::all_of(pieces.begin(), pieces.end(), [this](const Local& piece) {
    return covered(reinterpret_cast<std::uintptr_t>(piece.address), piece.bytes, piece.key);
  });
}

void LoopbackTransport::complete(int peer, Cookie cookie, rma_status_t status, bool unsignaled) {
  ++posts_;
  ++outstanding_[peer];
  if (faults_.failing_post > 0 && --faults_.failing_post == 0) status = faults_.failing_status;
  due_.push_back({.completion = {.cookie = cookie, .peer = peer, .status = status, .bytes = 0},
                  .poll = polls_ + faults_.delay,
                  .posted = true,
                  .silent = unsignaled && status == RMA_SUCCESS});
}

void LoopbackTransport::fail(int peer) {
  const std::lock_guard guard(fabric_.lock_);
  faults_.lost = peer;
}

rma_status_t LoopbackTransport::post(int peer, std::span<const Work> work, std::size_t* posted) {
  const std::lock_guard guard(fabric_.lock_);
  *posted = 0;
  for (const Work& one : work) {
    if (const rma_status_t status = post_one(peer, one); status != RMA_SUCCESS) return status;
    ++*posted;
  }
  return RMA_SUCCESS;
}

/// Adds a completion for poll(). The caller holds the lock.
rma_status_t LoopbackTransport::post_one(int peer, const Work& work) {
  const auto [direction, remote, pieces, cookie, flags] = work;
  if (const rma_status_t status = admit(peer, pieces, flags); status != RMA_SUCCESS) return status;
  const bool local_good = (flags.inline_data && direction == Direction::write) || usable(pieces);
  const bool good = local_good && peers_[peer]->covered(remote.address, total_bytes(pieces), remote.key);
  if (good && faults_.failing_post != 1) {
    std::byte* there = pointer(remote.address);
    for (const Local& piece : pieces) {
      if (direction == Direction::write) {
        std::copy_n(piece.address, piece.bytes, there);
      } else {
        std::copy_n(there, piece.bytes, piece.address);
      }
      there += piece.bytes;
    }
  }
  complete(peer, cookie, good ? RMA_SUCCESS : RMA_ERR_ADDRESS, flags.unsignaled);
  return RMA_SUCCESS;
}

std::uint32_t LoopbackTransport::outstanding(int peer) {
  const std::lock_guard guard(fabric_.lock_);
  return outstanding_[peer];
}

rma_status_t LoopbackTransport::post_atomic(int peer, rma_atomic_op_t op, Remote target,
                                            std::uint64_t operand, std::uint64_t compare, Local old,
                                            Cookie cookie) {
  if (!limits_.atomics64 || (op != RMA_FETCH_ADD && op != RMA_COMPARE_SWAP)) return RMA_ERR_UNSUPPORTED;
  const std::lock_guard guard(fabric_.lock_);
  if (const rma_status_t status = admit(peer, {&old, 1}, {}); status != RMA_SUCCESS) return status;
  const bool good = old.bytes == sizeof operand && target.address % sizeof operand == 0 &&
                    usable({&old, 1}) && peers_[peer]->covered(target.address, sizeof operand, target.key);
  if (good && faults_.failing_post != 1) {
    std::uint64_t before = 0;
    std::memcpy(&before, pointer(target.address), sizeof before);
    const std::uint64_t after = op == RMA_FETCH_ADD ? before + operand : before == compare ? operand : before;
    std::memcpy(pointer(target.address), &after, sizeof after);
    std::memcpy(old.address, &before, sizeof before);
  }
  complete(peer, cookie, good ? RMA_SUCCESS : RMA_ERR_ADDRESS, false);
  return RMA_SUCCESS;
}

std::size_t LoopbackTransport::poll(std::span<Completion> completions) {
  const std::lock_guard guard(fabric_.lock_);
  const std::uint64_t now = polls_++;
  faults_.refused_posts = 0;
  if (fabric_.random_) std::shuffle(due_.begin(), due_.end(), *fabric_.random_);
  std::size_t filled = 0;
  for (auto due = due_.begin(); due != due_.end() && filled < completions.size();) {
    if (due->poll > now) {
      ++due;
      continue;
    }
    if (due->posted) --outstanding_[due->completion.peer];
    if (!due->silent) completions[filled++] = due->completion;
    due = due_.erase(due);
  }
  return filled;
}

bool LoopbackTransport::arm() {
  const std::lock_guard guard(fabric_.lock_);
  return std::all_of(due_.begin(), due_.end(), [](const Due& due) { return due.silent; });
}

}  // namespace librma::transport
