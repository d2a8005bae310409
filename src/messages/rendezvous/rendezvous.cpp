#include "messages/rendezvous/rendezvous.hpp"

#include <algorithm>
#include <utility>

#include "util/copying/copy_table.hpp"
#include "util/statistics.hpp"
#include "util/take_head.hpp"

namespace librma {
namespace {

[[nodiscard]] std::size_t parts_of(const MessageData& data) {
  return data.contiguous() ? 1 : data.layout->segments();
}

}  // namespace

Rendezvous::Rendezvous(Job& job, RemoteAccess& remote_access, const ProcessMemory& memory,
                       OperationEnds& operations, Inbox& inbox, Outbox& outbox)
    : job_(job),
      remote_access_(remote_access),
      memory_(memory),
      operations_(operations),
      outbox_(outbox),
      transfers_(remote_access.pending(), remote_access.network()),
      answers_(operations, outbox),
      pipeline_(Pipeline::Options::from(job.settings()), remote_access.network(), operations, outbox,
                transfers_, answers_),
      shared_copy_({.least = static_cast<std::size_t>(job.settings().shared_copy_bytes),
                    .polls = job.wait_policy().spins != 0},
                   remote_access, memory_, operations, inbox, outbox, answers_) {}

void Rendezvous::fetch(ReceiveOperation& receive, const Announcement& announced) {
  const RendezvousHead& head = announced.head;
  receive.come = std::min(announced.start.size(), receive.wanted());
  receive.data.scatter(0, announced.start.first(receive.come));
  if (receive.come == receive.wanted()) return answers_.finish(receive, head.sender, RMA_SUCCESS);
  switch (head.form) {
    case RendezvousForm::plain:
    case RendezvousForm::laid_out:
      if (read_host(receive, announced)) return;
      break;
    case RendezvousForm::keyed:
      if (receive.data.contiguous() && read_keyed(receive, announced)) return;
      break;
    case RendezvousForm::piped:
      // The receive has its message: without memory, that comes in another way.
      if (receive.data.contiguous() && remote_access_.network() != nullptr &&
          unless_exhausted([&]() -> Status {
            pipeline_.begin(receive, head.sender);
            return {};
          }).ok()) {
        return;
      }
      break;
    case RendezvousForm::inlined:
    case RendezvousForm::opaque:
      break;
  }
  answers_.ask_for_fragments(receive, head.sender, receive.come);
}

bool Rendezvous::read_host(ReceiveOperation& receive, const Announcement& announced) {
  const int rank = receive.peer;
  const std::size_t wanted = receive.wanted();
  const Layout* const layout = announced.layout != nullptr ? &announced.layout->layout : nullptr;
  const auto address = static_cast<std::uintptr_t>(announced.head.address);
  const Layout::Extent extent = layout != nullptr
                                    ? layout->extent()
                                    : Layout::Extent{.low = address, .high = address + announced.head.bytes};
  if (extent.high < extent.low) return false;
  const bool mapped = rank == job_.rank() ||
                      job_.direct(reinterpret_cast<const void*>(extent.low), extent.bytes(), rank) != nullptr;
  if (!mapped) {
    const std::size_t parts = std::max(layout != nullptr ? layout->segments() : 1, parts_of(receive.data));
    const bool worth_it = parts == 1 || worth_reading(wanted, parts, job_.wait_policy().spins != 0);
    if (!job_.mapped(rank) || !worth_it || !remote_access_.permitted(rank)) return false;
  }
  if (!mapped && layout == nullptr && receive.data.contiguous() &&
      shared_copy_.receive(receive, announced.head.sender, address)) {
    return true;
  }
  count(mapped ? Counter::receive_mapped : Counter::receive_cma);
  // Calls read(from, into) for the parts that are contiguous on both sides, until it returns false.
  const auto list = [&](const auto& read) {
    std::size_t at = 0;
    bool goes_on = true;
    const auto read_both = [&](std::uintptr_t from, std::size_t bytes) {
      receive.data.visit(at, bytes, [&](std::byte* into, std::size_t part) {
        goes_on = goes_on && read(from, std::span(into, part));
        from += part;
      });
      at += bytes;
      return goes_on;
    };
    if (layout != nullptr) {
      static_cast<void>(layout->visit(announced.layout->from, wanted, read_both));
    } else {
      static_cast<void>(read_both(address, wanted));
    }
  };
  rma_status_t status = RMA_SUCCESS;
  if (mapped) {
    list([&](std::uintptr_t from, std::span<std::byte> into) {
      const void* const remote = reinterpret_cast<const void*>(from);
      copy_mapped(into.data(), rank == job_.rank() ? remote : job_.direct(remote, into.size(), rank),
                  into.size());
      return true;
    });
  } else {
    status = memory_.read_pieces(rank, list);
  }
  answers_.finish(receive, announced.head.sender, status);
  return true;
}

bool Rendezvous::read_keyed(ReceiveOperation& receive, const Announcement& announced) {
  const std::uint64_t sender = announced.head.sender;
  const rma_status_t started = transfers_.start(
      transport::Direction::read, receive.peer, static_cast<std::uintptr_t>(announced.head.address),
      announced.keys, {.address = receive.data.address, .bytes = receive.wanted()}, true,
      [this, &receive, sender](rma_status_t status) { answers_.finish(receive, sender, status); });
  if (started == RMA_SUCCESS) count(Counter::receive_rdma);
  return started == RMA_SUCCESS;
}

bool Rendezvous::take_in(const Arrival& arrival) {
  switch (arrival.type) {
    case MessageType::clear:
      return take_in_clear(arrival);
    case MessageType::fragment:
      return take_in_fragment(arrival);
    case MessageType::finished:
      return take_in_finished(arrival);
    case MessageType::retracted:
      return take_in_retracted(arrival);
    case MessageType::ready:
      return pipeline_.take_in_ready(arrival);
    case MessageType::written:
      return pipeline_.take_in_written(arrival);
    case MessageType::helped:
      return shared_copy_.take_in_helped(arrival);
    default:
      return false;
  }
}

bool Rendezvous::take_in_clear(const Arrival& arrival) {
  std::span<const std::byte> body = arrival.body;
  const auto head = take_head<ClearHead>(body);
  if (!head || !body.empty()) return false;
  return outbox_.with_send(arrival.source, head->sender, [&](SendOperation& send) {
    if (!awaits_end(send) || head->begin >= head->end || head->end > send.data.bytes) {
      return false;
    }
    send.receiver = head->receiver;
    send.given = static_cast<std::size_t>(head->begin);
    send.wanted = static_cast<std::size_t>(head->end);
    outbox_.send_fragments(send);
    return true;
  });
}

bool Rendezvous::take_in_fragment(const Arrival& arrival) {
  std::span<const std::byte> data = arrival.body;
  const auto head = take_head<FragmentHead>(data);
  if (!head) return false;
  ReceiveOperation* complete = nullptr;
  const bool honest = operations_.receives().with(head->receiver, [&](ReceiveOperation& receive) {
    if (!receive.fragmented || receive.peer != arrival.source || head->offset != receive.come ||
        data.empty() || data.size() > receive.wanted() - receive.come) {
      return false;
    }
    receive.data.scatter(receive.come, data);
    receive.come += data.size();
    if (receive.come == receive.wanted()) {
      receive.fragmented = false;
      complete = &receive;
    }
    return true;
  });
  if (complete != nullptr) operations_.end(*complete, complete->status());
  return honest;
}

bool Rendezvous::take_in_finished(const Arrival& arrival) {
  std::span<const std::byte> body = arrival.body;
  const auto head = take_head<FinishedHead>(body);
  if (!head || !body.empty() || head->status < RMA_SUCCESS || head->status > RMA_ERR_CANCELED) return false;
  const auto ended = outbox_.take_send(arrival.source, head->sender, awaits_end);
  if (ended) operations_.end(*ended, static_cast<rma_status_t>(head->status));
  return ended.has_value();
}

bool Rendezvous::take_in_retracted(const Arrival& arrival) {
  std::span<const std::byte> body = arrival.body;
  const auto head = take_head<RetractedHead>(body);
  if (!head || !body.empty()) return false;
  const auto ended = outbox_.take_send(arrival.source, head->sender, [](const SendOperation& send) {
    return send.retracting && awaits_end(send);
  });
  if (ended) operations_.end(*ended, RMA_ERR_CANCELED);
  return ended.has_value();
}

void Rendezvous::lose(int rank) {
  pipeline_.lose(rank);
  shared_copy_.lose(rank);
  operations_.receives().each(
      [&](ReceiveOperation& receive) {
        return receive.fragmented && receive.peer == rank && std::exchange(receive.fragmented, false);
      },
      [&](ReceiveOperation& receive) { operations_.end(receive, RMA_ERR_PEER_LOST); });
}

}  // namespace librma
