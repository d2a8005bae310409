#include "transport/shm/shm_message_endpoint.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <utility>

namespace librma::transport {
namespace {

constexpr std::uint32_t kNoLimit = UINT32_MAX;

}  // namespace

Result<std::unique_ptr<ShmMessageEndpoint>> ShmMessageEndpoint::create(const ShmOptions& options) {
  const auto own = std::ranges::find(options.locals, options.rank);
  const bool ascending =
      std::ranges::adjacent_find(options.locals, std::greater_equal()) == options.locals.end();
  if (own == options.locals.end() || options.locals.front() < 0 || !ascending) {
    return Status(RMA_ERR_LAUNCH, fmt::format("rank {} is not among those of its host", options.rank));
  }
  RMA_TRY_ASSIGN(segment, Segment::create(options.segment_bytes, options.locals.size()));
  RMA_TRY_ASSIGN(wakeup, Wakeup::create());
  const MappedSegment& mapped = segment->mapped();
  ShmCard card = {.rank = options.rank,
                  .bytes = mapped.bytes(),
                  .base = reinterpret_cast<std::uintptr_t>(mapped.base()),
                  .seats = options.locals.size()};
  if (getrandom(&card.token, sizeof card.token, 0) != sizeof card.token) {
    return system_failure(RMA_ERR_SYSTEM, "getrandom", errno);
  }
  // Other processes read this after they have got the card through the launcher, and so after this store.
  mapped.head().card = card;
  for (const auto& [kind, file] :
       {std::pair(Handed::segment, segment->fd()), std::pair(Handed::wakeup, wakeup->wakeup_fd())}) {
    RMA_TRY(options.host->offer(kind, file));
  }
  return std::unique_ptr<ShmMessageEndpoint>(
      new ShmMessageEndpoint(options, static_cast<std::size_t>(own - options.locals.begin()),
                             std::move(segment), std::move(wakeup), card));
}

ShmMessageEndpoint::ShmMessageEndpoint(const ShmOptions& options, std::size_t seat,
                                       std::unique_ptr<Segment> segment, std::unique_ptr<Wakeup> wakeup,
                                       const ShmCard& card)
    : my_seat_(seat),
      locals_(options.locals),
      host_(*options.host),
      timeout_(options.connect_timeout),
      segment_(std::move(segment)),
      wakeup_(std::move(wakeup)),
      card_(card),
      moves_(static_cast<int>(options.locals.size()), options.cma),
      limits_{.gather = moves_.limits().max_gather,
              .max_inline = QueueShape::kMostSlotBytes,
              .messages = kNoLimit,
              .transfers = kNoLimit,
              .scatters = 0,
              .max_message = moves_.limits().max_message},
      answered_(options.locals.size()),
      peers_(options.locals.size()),
      ended_(segment_->mapped().head(), *wakeup_) {}

ShmMessageEndpoint::~ShmMessageEndpoint() {
  // Everything was sent before this store. Pairs with the load in closed().
  segment_->mapped().head().closed.store(1, std::memory_order_release);
  for (const auto& peer : owned_) peer->wake();
}

ShmPeer* ShmMessageEndpoint::find(int peer) const {
  const auto at = std::ranges::lower_bound(locals_, peer);
  if (at == locals_.end() || *at != peer) return nullptr;
  // Pairs with the store in admit().
  return peers_[static_cast<std::size_t>(at - locals_.begin())].load(std::memory_order_acquire);
}

void ShmMessageEndpoint::fail(int peer) {
  ShmPeer* const shm_peer = find(peer);
  if (shm_peer == nullptr) return;
  shm_peer->fail();
  moves_.fail(static_cast<int>(shm_peer->seat()));
}

rma_status_t ShmMessageEndpoint::post_message(int peer, std::span<const Local> pieces, Cookie cookie,
                                              PostFlags flags) {
  ShmPeer* const shm_peer = find(peer);
  if (shm_peer == nullptr) return RMA_ERR_PEER_LOST;
  ended_.promise(flags);
  const rma_status_t status = shm_peer->post(pieces);
  if (status == RMA_SUCCESS) {
    ended_.add({.cookie = cookie, .peer = peer}, flags);
  } else {
    ended_.withdraw(flags);
  }
  return status;
}

rma_status_t ShmMessageEndpoint::post_message_write(int peer, Remote to, Local piece, Cookie cookie,
                                                    PostFlags flags) {
  ShmPeer* const shm_peer = find(peer);
  if (shm_peer == nullptr) return RMA_ERR_PEER_LOST;
  ended_.promise(flags);
  const rma_status_t status = shm_peer->write(to, {piece.address, piece.bytes});
  if (status == RMA_ERR_PEER_LOST) {
    ended_.withdraw(flags);
    return status;
  }
  ended_.add({.cookie = cookie, .peer = peer, .status = status}, flags);
  return RMA_SUCCESS;
}

rma_status_t ShmMessageEndpoint::post_transfer(int peer, const Work& work) {
  ShmPeer* const shm_peer = find(peer);
  if (shm_peer == nullptr || shm_peer->failed()) return RMA_ERR_PEER_LOST;
  ended_.promise(work.flags);
  if (shm_peer->copy(work)) {
    ended_.add({.cookie = work.cookie, .peer = peer}, work.flags);
    return RMA_SUCCESS;
  }
  ended_.withdraw(work.flags);
  std::size_t posted = 0;
  const rma_status_t status = moves_.post(static_cast<int>(shm_peer->seat()), {&work, 1}, &posted);
  // The transfer has ended. (The completions that this loop takes may be those of another thread's transfer.
  // That thread then finds none here.)
  ended_.add_all([&](Completion* over) {
    if (moves_.poll({over, 1}) == 0) return false;
    over->peer = locals_[static_cast<std::size_t>(over->peer)];
    return true;
  });
  return status;
}

rma_status_t ShmMessageEndpoint::post_gather(int /*peer*/, std::span<const Local> /*pieces*/,
                                             Cookie /*cookie*/, PostFlags /*flags*/) {
  return RMA_ERR_UNSUPPORTED;
}

rma_status_t ShmMessageEndpoint::post_scatter(int /*peer*/, std::span<const Local> /*pieces*/,
                                              Cookie /*cookie*/) {
  return RMA_ERR_UNSUPPORTED;
}

std::uint32_t ShmMessageEndpoint::buffers_of(int peer) {
  const ShmPeer* const shm_peer = find(peer);
  return shm_peer != nullptr ? shm_peer->buffers() : 0;
}

}  // namespace librma::transport
