#include "coarrays/outcome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "coarrays/abi.hpp"
#include "coarrays/images.hpp"

namespace librma::coarrays {

void Outcome::fail(int value, std::string_view text) const {
  if (stat == nullptr) die(text);
  *stat = value;
  if (message == nullptr) return;
  const std::size_t used = std::min(length, text.size());
  std::memcpy(message, text.data(), used);
  std::memset(message + used, ' ', length - used);
}

void Outcome::fail(rma_status_t status) const {
  const std::string text = rma_last_error();
  if (status == RMA_ERR_PEER_LOST) find_failed_images();
  fail(status == RMA_ERR_PEER_LOST ? kFailedImage : kFailure, text);
}

void die(std::string_view text) {
  const int rank = rma_rank();
  rma_abort(1, (rank >= 0 ? fmt::format("image {}: {}", rank + 1, text) : std::string(text)).c_str());
  __builtin_unreachable();  // rma_abort does not return
}

}  // namespace librma::coarrays
