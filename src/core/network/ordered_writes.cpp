#include "core/network/ordered_writes.hpp"

#include <algorithm>
#include <utility>

#include "util/statistics.hpp"

namespace rma {

Status OrderedWrites::connect(int rank) {
  Peer* peer = nullptr;
  return connections_.connect(rank, &peer);
}

Status OrderedWrites::write(int rank, std::span<const KeyedWrite> pieces, rma_request_t operation) {
  Peer* peer = nullptr;
  if (Status status = connections_.connect(rank, &peer); !status.ok()) return status;
  // All pieces take one rail, whose queue pair keeps their order.
  std::size_t rail = 0;
  if (Status status = connections_.primary(*peer, &rail); !status.ok()) return status;
  Batch batch(rank);
  batch.set_operation(operation);
  count(Counter::put_rdma);
  for (const KeyedWrite& piece : pieces) {
    Span span = {.direction = transport::Direction::write,
                 .remote = piece.remote,
                 .local = piece.local,
                 .bytes = piece.bytes,
                 .remote_keys = peer->match.by_mine(piece.remote_keys),
                 .local_keys = piece.local_keys};
    if (!piece.registered) {
      // The completions of these buffers belong to no operation. But the last piece completes after them.
      if (Status status = bounce_.post(batch, *peer, span); !status.ok()) return status;
      continue;
    }
    if (span.bytes >= settings_.stripe_bytes && peer->cards.size() > 1) {
      if (Status status = posting_.flush(batch); !status.ok()) return status;
      if (Status status = write_divided(*peer, span); !status.ok()) return status;
      continue;
    }
    while (span.bytes > 0) {
      const Span part = span.split(std::min<std::size_t>(span.bytes, settings_.piece_bytes));
      Fragment& fragment = completions_.begin(*peer, part, operation);
      if (Status status = posting_.add(batch, rail, fragment); !status.ok()) return status;
    }
  }
  return posting_.flush(batch);
}

Status OrderedWrites::write_divided(Peer& peer, const Span& span) {
  // ZeroCopy lets other rails take over what a rail has lost. That is safe: the piece that tells the rank
  // about the data is posted when all of the data are there.
  Batch batch(peer.rank);
  if (Status status = posting_.open(batch); !status.ok()) return status;
  Span left = span;
  Status posted = zero_copy_.post(batch, peer, left, nullptr);
  if (posted.ok()) posted = posting_.flush(batch);
  Status ended = pending_.finish(batch.take_operation());
  return posted.ok() ? std::move(ended) : std::move(posted);
}

}  // namespace rma
