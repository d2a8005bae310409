#include "core/network/network.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/network/bounce_copy.hpp"
#include "core/network/completions.hpp"
#include "core/network/connection_manager.hpp"
#include "core/network/inline_put.hpp"
#include "core/network/keyed_transfers.hpp"
#include "core/network/ordered_writes.hpp"
#include "core/network/posting.hpp"
#include "core/network/remote_keys.hpp"
#include "core/network/request_order.hpp"
#include "core/network/transfers.hpp"
#include "core/network/word_operations.hpp"
#include "core/network/zero_copy.hpp"
#include "util/try.hpp"

namespace librma {

/// The parts of a network, from the lowest to the highest. Each uses those above it.
struct Network::Components {
  Components(const Settings& settings_given, PendingOperations& pending, Rails& rails_given, int ranks,
             NetworkCardSource cards, OwnMemory own_memory)
      : settings(settings_given),
        rails(rails_given),
        cache(RegistrationCache::create(rails,
                                        {.max_bytes = settings.cache_bytes,
                                         .max_entries = settings.cache_entries,
                                         .enabled = settings.local_buffers == LocalBufferSetting::cache})),
        connections(pending, rails, ranks, std::move(cards), settings.peer_timeout),
        completions(pending, rails, connections),
        posting(pending, rails, connections, completions),
        requests(pending, connections, posting),
        inline_put(posting, std::min(static_cast<std::uint32_t>(settings.inline_bytes), rails.max_inline())),
        bounce(pending, rails, connections, completions, posting),
        zero_copy(settings, *cache, connections, completions, posting, bounce),
        keys(pending, posting, bounce, settings.bounce_bytes),
        keyed_transfers(settings, own_memory, *cache, connections, completions),
        ordered_writes(settings, pending, connections, completions, posting, bounce, zero_copy),
        transfers(settings, std::move(own_memory), requests, keys, posting, connections, inline_put, bounce,
                  zero_copy),
        words(pending, rails, requests, connections, keys, completions, posting, inline_put, bounce) {
    rails.make_buffers(settings);
    for (std::size_t rail = 0; rail < rails.count(); ++rail) {
      if (const int fd = rails[rail].event_fd(); fd >= 0) event_fds.push_back(fd);
    }
  }

  const Settings settings;
  Rails& rails;
  std::vector<int> event_fds;
  const std::unique_ptr<RegistrationCache> cache;  // outlives the fragments, which use registrations
  ConnectionManager connections;
  Completions completions;
  Posting posting;
  RequestOrder requests;
  InlinePut inline_put;
  BounceCopy bounce;
  ZeroCopy zero_copy;
  RemoteKeys keys;
  KeyedTransfers keyed_transfers;
  OrderedWrites ordered_writes;
  Transfers transfers;
  WordOperations words;
};

Network::Network(const Settings& settings, PendingOperations& pending, Rails& rails, int ranks,
                 CardSource cards, OwnMemory own_memory)
    : components_(std::make_unique<Components>(settings, pending, rails, ranks, std::move(cards),
                                               std::move(own_memory))) {}

Network::~Network() = default;

Transfers& Network::transfers() { return components_->transfers; }

WordOperations& Network::words() { return components_->words; }

KeyedTransfers& Network::keyed_transfers() { return components_->keyed_transfers; }

OrderedWrites& Network::ordered_writes() { return components_->ordered_writes; }

Posting& Network::posting() { return components_->posting; }

RequestOrder& Network::requests() { return components_->requests; }

Result<RegistrationCache::Use> Network::register_local(std::byte* address, std::size_t bytes) {
  if (components_->settings.local_buffers == LocalBufferSetting::bounce) {
    return Status(RMA_ERR_UNSUPPORTED, "RMA_LOCAL_BUFFERS=bounce");
  }
  return components_->cache->get(address, bytes);
}

Status Network::probe(int rank) {
  NetworkPeer* peer = nullptr;
  RMA_TRY(components_->connections.connect(rank, &peer));
  return components_->posting.probe(*peer);
}

bool Network::progress() { return components_->completions.progress(); }

void Network::flush(int rank, CompletionContext& context) {
  NetworkPeer& peer = components_->connections.peer(rank);
  // A fence may also flush what ForeignMemory holds for a rank of this host.
  if (peer.connected.load(std::memory_order_acquire) == 0) return;
  components_->posting.flush_unsignaled(peer, context);
}

void Network::give_up(int rank) { components_->connections.give_up(rank); }

void Network::arm() {
  Rails& rails = components_->rails;
  // A thread that is about to sleep has the time to unpin memory that the program has unmapped.
  components_->cache->reclaim();
  for (std::size_t rail = 0; rail < rails.count(); ++rail) static_cast<void>(rails[rail].arm());
}

std::span<const int> Network::event_fds() const { return components_->event_fds; }

void Network::follow(transport::Attendants& attendants) {
  Rails& rails = components_->rails;
  for (std::size_t rail = 0; rail < rails.count(); ++rail) rails[rail].follow(attendants);
}

std::string Network::explain(rma_status_t code, int rank) const {
  return components_->connections.explain(code, rank);
}

}  // namespace librma
