#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "rma/messages.h"
#include "util/status.hpp"

namespace librma::armci {

/// Separates the client's messages from the library's own.
enum class MessageSpace : std::uint32_t { client, library };
struct Label {
  MessageSpace space = MessageSpace::client;
  std::int32_t tag = 0;
};

/// ARMCI's two-sided messages, by those of librma (rma/messages.h). A label is a context and a tag there.
/// Sends and receives block. Thread-safe.
class Messages {
 public:
  /// `incarnation` counts the beginnings of ARMCI in this process. All processes have the same. A message
  /// that nobody received before ARMCI ended is never received after it began again.
  explicit Messages(std::uint32_t incarnation) : incarnation_(incarnation) {}
  ~Messages();
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  /// Sends a message to a process. Returns when `data` may be reused. A message to this process itself is
  /// copied, whatever its length, because ARMCI promises that such a send returns. RMA_ERR_RANK, and the
  /// errors of rma_send.
  [[nodiscard]] Status send(Label label, std::span<const std::byte> data, int to);

  /// Receives the first message with `label` from a process, or from any (RMA_ANY_SOURCE). RMA_ERR_RANK,
  /// RMA_ERR_TRUNCATED.
  [[nodiscard]] Status receive(Label label, std::span<std::byte> room, int from, rma_message_info_t* info);

 private:
  [[nodiscard]] std::uint32_t context(Label label) const;
  [[nodiscard]] Status send_self(Label label, std::span<const std::byte> data);

  /// A long message to this process itself that was not received yet.
  struct Copy {
    std::vector<std::byte> data;
    rma_request_t request = RMA_REQUEST_NULL;
  };
  const std::uint32_t incarnation_;
  std::mutex lock_;  ///< guards copies_
  std::vector<Copy> copies_;
};

}  // namespace librma::armci
