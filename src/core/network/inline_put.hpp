#pragma once

#include <cstddef>
#include <cstdint>

#include "core/network/fragment.hpp"
#include "core/network/posting.hpp"
#include "util/statistics.hpp"
#include "util/status.hpp"

namespace librma {

/// The protocol of the smallest puts (UCX: put/offload/short): the device takes the data with the work
/// request, so the source may be reused when that is posted. Such a put is unsignaled.
class InlinePut {
 public:
  InlinePut(Posting& posting, std::uint32_t max_bytes) : posting_(posting), max_bytes_(max_bytes) {}

  [[nodiscard]] bool fits(std::size_t bytes) const { return bytes <= max_bytes_; }
  /// Adds a write that fits to the batch.
  [[nodiscard]] Status post(Batch& batch, std::size_t rail, const Span& span) {
    count(Counter::rdma_inline);
    return posting_.add(batch, rail,
                        {.direction = transport::Direction::write,
                         .remote = {.address = span.remote, .key = span.remote_keys[rail]},
                         .pieces = {},
                         .cookie = 0,
                         .flags = {.inline_data = true, .unsignaled = true}},
                        {.address = span.local, .bytes = span.bytes, .key = 0});
  }

 private:
  Posting& posting_;
  const std::uint32_t max_bytes_;
};

}  // namespace librma
