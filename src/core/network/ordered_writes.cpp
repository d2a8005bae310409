#include "core/network/ordered_writes.hpp"

#include <algorithm>
#include <utility>

#include "util/statistics.hpp"
#include "util/try.hpp"

namespace librma {

Status OrderedWrites::connect(int rank) {
  NetworkPeer* peer = nullptr;
  return connections_.connect(rank, &peer);
}

Status OrderedWrites::write(int rank, std::span<const KeyedWrite> pieces, rma_request_t operation) {
  NetworkPeer* peer = nullptr;
  RMA_TRY(connections_.connect(rank, &peer));
  // All pieces take one rail, whose queue pair keeps their order.
  std::size_t rail = 0;
  RMA_TRY(connections_.primary(*peer, &rail));
  Batch batch(rank);
  batch.set_operation(operation);
  count(Counter::put_rdma);
  for (const KeyedWrite& piece : pieces) {
    Span span = {.direction = transport::Direction::write,
                 .remote = piece.remote,
                 .local = piece.local,
                 .bytes = piece.bytes,
                 .remote_keys = peer->match.by_mine(piece.remote_keys),
                 .local_keys = piece.local_keys,
                 .lasts = true};
    if (!piece.registered) {
      // The completions of these buffers belong to no operation. But the last piece completes after them.
      RMA_TRY(bounce_.post(batch, *peer, span));
      continue;
    }
    if (span.bytes >= settings_.stripe_bytes && peer->cards.size() > 1) {
      RMA_TRY(posting_.flush(batch));
      RMA_TRY(write_divided(*peer, span));
      continue;
    }
    while (span.bytes > 0) {
      const Span part = span.split(std::min<std::size_t>(span.bytes, settings_.piece_bytes));
      Fragment& fragment = completions_.begin(*peer, part, operation);
      RMA_TRY(posting_.add(batch, rail, fragment));
    }
  }
  return posting_.flush(batch);
}

Status OrderedWrites::write_divided(NetworkPeer& peer, const Span& span) {
  // ZeroCopy lets other rails take over what a rail has lost. That is safe: the piece that tells the rank
  // about the data is posted when all of the data are there.
  Batch batch(peer.rank);
  RMA_TRY(posting_.open(batch));
  Span left = span;
  Status posted = zero_copy_.post(batch, peer, left, nullptr);
  if (posted.ok()) posted = posting_.flush(batch);
  Status ended = pending_.finish(batch.take_operation());
  return posted.ok() ? std::move(ended) : std::move(posted);
}

}  // namespace librma
