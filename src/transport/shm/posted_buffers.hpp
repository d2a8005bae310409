#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "transport/transport.hpp"

namespace librma::transport {

/// The buffers that were posted for messages of any peer, oldest first. Thread-safe.
class PostedBuffers {
 public:
  struct Buffer {
    Local memory;
    Cookie cookie = 0;
  };

  void post(const Buffer& buffer);
  /// Takes out the oldest buffer. Returns false if there is none.
  [[nodiscard]] bool take(Buffer* buffer);

  /// The buffers that are posted from now on are not for all peers, but for the peers that connect.
  void end_lending();
  /// Returns the number of buffers that were posted before end_lending().
  [[nodiscard]] std::uint32_t lent() const;
  /// Returns the size of the largest buffer that was ever posted, in bytes.
  [[nodiscard]] std::size_t largest() const;

 private:
  mutable std::mutex lock_;      ///< guards the members below
  std::vector<Buffer> buffers_;  ///< circular; `posted_` of them, from `oldest_` on, are posted
  std::size_t oldest_ = 0;
  std::size_t posted_ = 0;
  std::size_t largest_ = 0;
  std::uint32_t lent_ = 0;
  bool lending_ = true;
};

}  // namespace librma::transport
