#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rma/rma.h"

// Calls of functions at other images, by active messages (rma/active_messages.h).
//
// A call is a block of bytes that goes to the image in medium messages, in order. The last one makes the
// image run the function, in the handler. The function's result is another block: its beginning comes back
// with the reply, and the caller asks for the rest piece by piece, because a handler does not wait for room.

namespace librma::coarrays {

/// Runs a call of image `caller` (an index in the initial team). Returns the result. It must not wait.
using RunCall = std::vector<std::byte> (*)(std::span<std::byte> call, int caller);

/// Makes this image ready for calls. Collective over all images.
void serve_calls(RunCall run);

/// Has `rank` run a call, and stores its result. RMA_ERR_PEER_LOST.
[[nodiscard]] rma_status_t call_at(int rank, std::span<const std::byte> call, std::vector<std::byte>& result);

}  // namespace librma::coarrays
