// How the outbox announces a message: the form says how the receiver gets the data.

#include <algorithm>
#include <cstring>
#include <utility>

#include "channel/channel.hpp"
#include "core/network/keyed_transfers.hpp"
#include "messages/sending/outbox.hpp"
#include "util/statistics.hpp"

namespace librma {
namespace {

/// Returns how `rank`, which is on this host, gets the data. `most` is the longest body of a message.
RendezvousForm form_on_host(const Job& job, int rank, const MessageData& data, std::size_t most) {
  if (data.contiguous()) return RendezvousForm::plain;
  const Layout& layout = *data.layout;
  const bool mapped = rank == job.rank() || job.direct(reinterpret_cast<const void*>(layout.extent().low),
                                                       layout.extent().bytes(), job.rank()) != nullptr;
  const bool fits = layout.encoded_bytes(0, layout.bytes()) <= most - sizeof(RendezvousHead);
  const bool polls = job.wait_policy().spins != 0;
  return fits && (mapped || worth_reading(layout.bytes(), layout.segments(), polls))
             ? RendezvousForm::laid_out
             : RendezvousForm::opaque;
}

/// Returns how another host gets the data of an operation, and registers them if that host is to read them.
RendezvousForm form_between_hosts(Network& network, RendezvousSetting setting, SendOperation& operation) {
  if (!operation.data.contiguous()) return RendezvousForm::opaque;
  switch (setting) {
    case RendezvousSetting::copy:
      return RendezvousForm::opaque;
    case RendezvousSetting::register_each:
    case RendezvousSetting::cache:
    case RendezvousSetting::pipeline:
    case RendezvousSetting::caching_pipeline:
      return RendezvousForm::piped;
    case RendezvousSetting::automatic:
    case RendezvousSetting::read:
      break;
  }
  auto memory = network.keyed_transfers().prepare(operation.data.address, operation.data.bytes, true);
  if (!memory.ok() || memory.value().remote == RailKeys{}) {
    count(Counter::receive_refused);
    return RendezvousForm::opaque;
  }
  operation.memory = std::move(memory).value();
  return RendezvousForm::keyed;
}

/// Returns the address from which ranks of this host are to read contiguous data: they map the heap and what
/// the program has aliased (HeapMemory::alias) by the addresses that it has in the heap.
std::uintptr_t address_on_host(const Job& job, const MessageData& data) {
  const std::byte* const aliased = job.memory().window().aliased(data.address, data.bytes);
  return reinterpret_cast<std::uintptr_t>(aliased != nullptr ? aliased : data.address);
}

}  // namespace

void Outbox::announce(int rank, OutboxPeer& peer, SendOperation& operation, Waiting& waiting) {
  const MessageData& data = operation.data;
  RendezvousHead head = {.bytes = data.bytes,
                         .address = reinterpret_cast<std::uintptr_t>(data.address),
                         .sender = operation.name};
  const std::size_t start = std::min(data.bytes, peer.eager);
  const std::uint64_t cost = UnexpectedWindow::cost(sizeof head + start);
  const bool room = peer.has_room(cost, limits_.window);
  if (start == data.bytes && room) {
    head.form = RendezvousForm::inlined;
  } else {
    const bool network = network_ != nullptr && !by_ring(rank) && !channel_->local(rank);
    head.form = by_ring(rank) ? form_on_host(job_, rank, data, limits_.ring.most_body())
                : network     ? form_between_hosts(*network_, limits_.rendezvous, operation)
                              : RendezvousForm::opaque;
    if (head.form == RendezvousForm::plain) head.address = address_on_host(job_, data);
  }
  operation.piped = head.form == RendezvousForm::piped;
  if (head.form == RendezvousForm::inlined || (operation.piped && room && start != 0)) {
    waiting.start = start;
    waiting.cost = cost;
    peer.port->eager_cost += cost;
  }
  waiting.form = head.form;
  waiting.head_bytes = sizeof head;
  std::memcpy(waiting.head.data(), &head, sizeof head);
}

}  // namespace librma
