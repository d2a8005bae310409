#include "core/job/process_cards.hpp"

#include "util/text.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma {

Result<ProcessCard> ProcessCards::of(int rank) {
  if (rank == bootstrap_.rank()) return own_;
  const std::lock_guard guard(lock_);
  if (const auto known = others_.find(rank); known != others_.end()) return known->second;
  RMA_TRY_ASSIGN(bytes, bootstrap_.card_of(rank));
  auto card = ProcessCard::decode(bytes, rank);
  if (!card.ok()) return card;
  RMA_TRY(fits(card.value(), rank));
  others_.emplace(rank, card.value());
  return card;
}

Result<ProcessCard> ProcessCards::take(int rank, std::span<const std::byte> bytes) {
  const std::lock_guard guard(lock_);
  auto card = ProcessCard::decode(bytes, rank);
  if (!card.ok()) return card;
  RMA_TRY(fits(card.value(), rank));
  others_.insert_or_assign(rank, card.value());
  return card;
}

Status ProcessCards::fits(const ProcessCard& card, int rank) const {
  const int self = bootstrap_.rank();
  RMA_TRY(own_.settings.agree(card.settings, self, rank));
  RMA_TRY(own_.check_network(card, self, rank));
  if (card.head.atomics_by_device == own_.head.atomics_by_device) return {};
  // The settings are equal, so the devices differ.
  const bool mine = own_.head.atomics_by_device != 0;
  return {RMA_ERR_SETTING,
          text("8-byte atomics are executed by the network device of rank {}, but not by that of rank "
               "{}: give both the same kind of device (RMA_DEVICES), or set "
               "RMA_ATOMIC_DOMAIN=helper on all ranks",
               mine ? self : rank, mine ? rank : self)};
}

Result<NetworkCard> ProcessCards::network(int rank) {
  RMA_TRY_ASSIGN(card, of(rank));
  NetworkCard network;
  RailKeys keys = {};
  for (std::size_t rail = 0; rail < card.rails.size(); ++rail) {
    network.rails.push_back({.name = card.rails[rail].name, .card = card.rails[rail].card});
    keys[rail] = card.rails[rail].directory_key;
  }
  const ServiceBlock& directory = card.head.services[static_cast<std::size_t>(Service::regions)];
  network.directory = {.address = static_cast<std::uintptr_t>(card.head.base + directory.offset),
                       .bytes = directory.bytes,
                       .keys = keys};
  return network;
}

Result<std::vector<std::byte>> ProcessCards::local(int rank) {
  RMA_TRY_ASSIGN(card, of(rank));
  return card.local;
}

}  // namespace librma
