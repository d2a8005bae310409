#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rma/rma.h"

// Calls of functions at other images, by active messages (rma/active_messages.h).
//
// A call is a block of bytes that goes to the image in medium messages, in order. The last one makes the
// image run the function: in the handler, or in a thread of the image if the function makes calls itself,
// which no handler may. The function's result is another block: its beginning comes back with the reply,
// or from that thread, and the caller asks for the rest piece by piece, because a handler does not wait
// for room.

namespace librma::coarrays {

/// How an image serves calls. `run` runs a call of image `caller` (an index in the initial team) and returns
/// the result. `in_handler` says whether the call may run in a handler: it makes no calls and does not wait.
struct CallService {
  std::vector<std::byte> (*run)(std::span<std::byte> call, int caller);
  bool (*in_handler)(std::span<const std::byte> call);
};

/// Makes this image ready for calls. Collective over all images.
void serve_calls(const CallService& functions);

/// Has `rank` run a call, and stores its result. RMA_ERR_PEER_LOST.
[[nodiscard]] rma_status_t call_at(int rank, std::span<const std::byte> call, std::vector<std::byte>& result);

}  // namespace librma::coarrays
