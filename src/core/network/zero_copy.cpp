#include "core/network/zero_copy.hpp"
#include "util/try.hpp"

#include <algorithm>
#include <utility>

namespace librma {

Status ZeroCopy::post(Batch& batch, NetworkPeer& peer, Span& span, const std::shared_ptr<Use>& use) {
  constexpr std::size_t kPage = 4096;
  std::size_t most = settings_.piece_bytes;
  bool divided = false;
  if (span.bytes >= settings_.stripe_bytes && peer.cards.size() > 1) {
    const std::size_t alive = connections_.connect_all(peer);
    divided = alive > 1;
    if (divided) {
      most = std::min(most, (span.bytes / alive + kPage - 1) / kPage * kPage);
      // The other rails are not in order with the primary one, so the puts on that have to be complete.
      RMA_TRY(posting_.flush(batch));
      posting_.drain(peer);
    }
  }
  while (span.bytes > 0) {
    std::size_t rail = 0;
    if (divided) {
      rail = ConnectionManager::next_rail(peer);
    } else if (Status status = connections_.primary(peer, &rail); !status.ok()) {
      return status;
    }
    const Span part = span.split(std::min(span.bytes, most));
    RMA_TRY(posting_.open(batch));
    Fragment& fragment = completions_.begin(peer, part, batch.operation());
    fragment.use = use;
    fragment.movable = true;
    RMA_TRY(posting_.add(batch, rail, fragment));
  }
  return {};
}

Status ZeroCopy::register_and_post(Batch& batch, NetworkPeer& peer, Span& span) {
  const bool pipeline = settings_.local_buffers == LocalBufferSetting::pipeline;
  while (span.bytes > 0) {
    Span part =
        span.split(pipeline ? std::min<std::size_t>(span.bytes, settings_.pipeline_bytes) : span.bytes);
    auto use = cache_.get(part.local, part.bytes);
    if (!use.ok()) {
      // A limit is reached, or the memory is read-only.
      RMA_TRY(bounce_.post(batch, peer, part));
      continue;
    }
    part.local_keys = use->registered().local;
    const auto shared = std::make_shared<Use>(std::move(use).value());
    RMA_TRY(post(batch, peer, part, shared));
    // The device moves this part while the next one is registered.
    RMA_TRY(posting_.flush(batch));
  }
  return {};
}

}  // namespace librma
