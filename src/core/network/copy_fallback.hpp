#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "rma/rma.h"
#include "transport/transport.hpp"
#include "util/status.hpp"

namespace librma {

class Layout;

/// Reaches memory of other ranks that no network device reaches, because its owner could not register it: the
/// owner's processor copies. A folder above implements this and hands it to the network.
class CopyFallback {
 public:
  CopyFallback() = default;
  CopyFallback(const CopyFallback&) = delete;
  CopyFallback& operator=(const CopyFallback&) = delete;
  virtual ~CopyFallback() = default;

  /// Moves `bytes` between `local` and `rank`'s `remote`, as parts of `operation`. Returns when a write's
  /// source may be reused.
  [[nodiscard]] virtual Status move(transport::Direction direction, int rank, std::uintptr_t remote,
                                    std::byte* local, std::size_t bytes, rma_request_t operation) = 0;
  /// Does the same for noncontiguous memory: the layouts have equal sizes.
  [[nodiscard]] virtual Status move(transport::Direction direction, int rank,
                                    std::shared_ptr<const Layout> remote, std::shared_ptr<const Layout> local,
                                    rma_request_t operation) = 0;
};

}  // namespace librma
