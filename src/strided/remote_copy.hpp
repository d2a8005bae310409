#pragma once

#include <cstddef>

#include "core/assistant.hpp"
#include "core/job.hpp"
#include "helper_thread/helper.hpp"
#include "helper_thread/layout.hpp"

namespace rma {

/// Puts and gets by copies. A put packs the data into a message or a registered buffer, and the target's
/// helper unpacks it; a get works the other way round. This is also the path to remote memory that is not
/// registered. The class also serves such requests of other ranks.
class RemoteCopy final : public Assistant {
 public:
  /// Made before the helper starts. `job` and `helper` outlive this.
  RemoteCopy(const Job& job, Helper& helper);

  [[nodiscard]] Status move(transport::Direction direction, int rank, std::uintptr_t remote, std::byte* local,
                            std::size_t bytes, rma_request_t operation) override;

 private:
  [[nodiscard]] Answer serve_put(const Served& request) const;
  [[nodiscard]] Answer serve_get(const Served& request) const;
  [[nodiscard]] bool given_out(const Layout::Part& part) const;

  const Job& job_;
  Helper& helper_;
};

}  // namespace rma
