#pragma once

#include <cstddef>
#include <cstdint>

#include "rma/rma.h"
#include "transport/transport.hpp"
#include "util/status.hpp"

namespace rma {

/// Whoever reaches memory that no network device does, because its owner could not register it: a folder
/// above, which the network is told of.
class Assistant {
 public:
  Assistant() = default;
  Assistant(const Assistant&) = delete;
  Assistant& operator=(const Assistant&) = delete;
  virtual ~Assistant() = default;

  /// Moves `bytes` between `local` and `rank`'s `remote`, as parts of `operation`. Returns when a write's
  /// source may be reused.
  [[nodiscard]] virtual Status move(transport::Direction direction, int rank, std::uintptr_t remote,
                                    std::byte* local, std::size_t bytes, rma_request_t operation) = 0;
};

}  // namespace rma
