#include "messages/rendezvous/pipeline.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "core/network/keyed_transfers.hpp"
#include "util/take_head.hpp"

namespace librma {

Pipeline::Options Pipeline::Options::from(const Settings& settings) {
  const auto piece = static_cast<std::size_t>(settings.pipeline_bytes);
  const auto depth = static_cast<std::size_t>(settings.pipeline_depth);
  switch (settings.rendezvous) {
    case RendezvousSetting::register_each:
      return {.keep = false, .counter = Counter::receive_register};
    case RendezvousSetting::pipeline:
      return {.piece = piece, .depth = depth, .keep = false, .counter = Counter::receive_pipeline};
    case RendezvousSetting::caching_pipeline:
      return {.piece = piece, .depth = depth, .keep = true, .counter = Counter::receive_caching_pipeline};
    default:
      return {};
  }
}

void Pipeline::begin(ReceiveOperation& receive, std::uint64_t sender) {
  count(options_.counter);
  const int rank = receive.peer;
  const auto pieces = std::make_shared<WrittenPieces>(receive, sender);
  static_cast<void>(operations_.receives().with(receive.name, [&](ReceiveOperation& operation) {
    operation.pieces = pieces;
    return true;
  }));
  // The rank may have been lost before `pieces` was known. lose() or this thread then ends the receive.
  advance(pieces);
  if (outbox_.lost(rank)) lose(rank);
}

void Pipeline::advance(const std::shared_ptr<WrittenPieces>& pieces) {
  {
    const std::lock_guard guard(pieces->lock);
    if (pieces->over) return;
    const std::size_t wanted = pieces->receive.wanted();
    while (!pieces->refused && pieces->next < wanted && pieces->pieces.size() < options_.depth) {
      announce_next(*pieces);
    }
    if (!pieces->pieces.empty()) return;
    pieces->over = true;
  }
  // This thread has set `over`, so it alone uses the receive now.
  if (pieces->refused) {
    count(Counter::receive_refused);
    answers_.ask_for_fragments(pieces->receive, pieces->sender, pieces->missing);
  } else {
    answers_.finish(pieces->receive, pieces->sender, RMA_SUCCESS);
  }
}

void Pipeline::announce_next(WrittenPieces& pieces) {
  const ReceiveOperation& receive = pieces.receive;
  std::byte* const address = receive.data.address + pieces.next;
  std::size_t bytes = receive.wanted() - pieces.next;
  if (bytes > options_.piece) {
    // Pieces end at multiples of their size, so that the cache finds them again.
    bytes = options_.piece - reinterpret_cast<std::uintptr_t>(address) % options_.piece;
  }
  RailKeys keys = {};
  const Status prepared = unless_exhausted([&]() -> Status {
    auto memory = network_->keyed_transfers().prepare(address, bytes, options_.keep);
    if (!memory.ok()) return std::move(memory).status();
    keys = memory.value().remote;
    pieces.pieces.push_back({.offset = pieces.next, .bytes = bytes, .memory = std::move(memory).value()});
    return {};
  });
  if (!prepared.ok()) {
    pieces.missing = pieces.refused ? std::min(pieces.missing, pieces.next) : pieces.next;
    pieces.refused = true;
    return;
  }
  const ReadyHead head = {.sender = pieces.sender,
                          .receiver = receive.name,
                          .offset = pieces.next,
                          .bytes = bytes,
                          .address = reinterpret_cast<std::uintptr_t>(address)};
  std::array<std::byte, sizeof head + sizeof(RailKeys)> body = {};
  std::memcpy(body.data(), &head, sizeof head);
  std::memcpy(body.data() + sizeof head, keys.data(), sizeof keys);
  pieces.next += bytes;
  outbox_.control(receive.peer, MessageType::ready, std::span<const std::byte>(body));
}

bool Pipeline::take_in_ready(const Arrival& arrival) {
  std::span<const std::byte> body = arrival.body;
  const auto ready = take_head<ReadyHead>(body);
  const auto keys = take_head<RailKeys>(body);
  if (!ready || !keys || !body.empty()) return false;
  MessageData data;
  const bool known = outbox_.with_send(arrival.source, ready->sender, [&](SendOperation& send) {
    // An honest receiver asks for the pieces in order, and for each once.
    if (!send.awaits_answer() || !send.piped || ready->bytes == 0 || ready->bytes > send.data.bytes ||
        ready->offset > send.data.bytes - ready->bytes || ready->offset < send.asked) {
      return false;
    }
    send.asked = static_cast<std::size_t>(ready->offset + ready->bytes);
    ++send.writing;
    data = {.address = send.data.address + ready->offset, .bytes = static_cast<std::size_t>(ready->bytes)};
    return true;
  });
  if (!known) return false;
  const rma_status_t status = write(arrival.source, *ready, *keys, data);
  if (status != RMA_SUCCESS) say_written(arrival.source, *ready, status);
  return true;
}

void Pipeline::say_written(int rank, const ReadyHead& ready, rma_status_t status) {
  // Before the receiver is told, because it may then end the operation.
  static_cast<void>(outbox_.with_send(rank, ready.sender, [](SendOperation& send) {
    --send.writing;
    return true;
  }));
  outbox_.control(rank, MessageType::written,
                  WrittenHead{.receiver = ready.receiver, .offset = ready.offset, .status = status});
}

rma_status_t Pipeline::write(int rank, const ReadyHead& ready, const RailKeys& keys,
                             const MessageData& data) {
  return transfers_.start(transport::Direction::write, rank, static_cast<std::uintptr_t>(ready.address), keys,
                          data, options_.keep,
                          [this, rank, ready](rma_status_t status) { say_written(rank, ready, status); });
}

bool Pipeline::take_in_written(const Arrival& arrival) {
  std::span<const std::byte> body = arrival.body;
  const auto written = take_head<WrittenHead>(body);
  if (!written || !body.empty()) return false;
  std::shared_ptr<WrittenPieces> pieces;
  static_cast<void>(operations_.receives().with(written->receiver, [&](const ReceiveOperation& receive) {
    if (receive.peer == arrival.source) pieces = receive.pieces;
    return true;
  }));
  if (pieces == nullptr) return false;
  {
    const std::lock_guard guard(pieces->lock);
    const auto piece = std::ranges::find(pieces->pieces, written->offset, &WrittenPieces::Piece::offset);
    if (piece == pieces->pieces.end()) return false;
    if (written->status != RMA_SUCCESS) {
      pieces->missing = pieces->refused ? std::min(pieces->missing, piece->offset) : piece->offset;
      pieces->refused = true;
    }
    pieces->pieces.erase(piece);
  }
  advance(pieces);
  return true;
}

void Pipeline::lose(int rank) {
  std::shared_ptr<WrittenPieces> pieces;
  operations_.receives().each(
      [&](const ReceiveOperation& receive) {
        if (receive.pieces == nullptr || receive.peer != rank) return false;
        pieces = receive.pieces;
        return true;
      },
      [&](const ReceiveOperation& /*one*/) {
        {
          const std::lock_guard guard(pieces->lock);
          if (std::exchange(pieces->over, true)) return;
          pieces->pieces.clear();  // deregisters: nobody writes there any more
        }
        operations_.end(pieces->receive, RMA_ERR_PEER_LOST);
      });
}

}  // namespace librma
