#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/completion/pending_operations.hpp"
#include "core/job/job.hpp"
#include "core/network/copy_fallback.hpp"
#include "core/one_sided/layout.hpp"
#include "helper_thread/rpc_client.hpp"
#include "helper_thread/rpc_server.hpp"

namespace librma {

/// Puts and gets by copies. A put packs the data into a message or a registered buffer, and the target's
/// helper unpacks it; a get works the other way round. This is also the path to remote memory that is not
/// registered. The class also serves such requests of other ranks.
class RemoteCopy final : public CopyFallback {
 public:
  /// Registers handlers with `server`. The arguments outlive this.
  RemoteCopy(const Job& job, PendingOperations& pending, RpcClient& client, RpcServer& server);

  [[nodiscard]] Status move(transport::Direction direction, int rank, std::uintptr_t remote, std::byte* local,
                            std::size_t bytes, rma_request_t operation) override;
  [[nodiscard]] Status move(transport::Direction direction, int rank, std::shared_ptr<const Layout> remote,
                            std::shared_ptr<const Layout> local, rma_request_t operation) override;

 private:
  [[nodiscard]] Answer serve_put(const Served& request) const;
  [[nodiscard]] Answer serve_get(const Served& request) const;
  [[nodiscard]] bool given_out(const Layout::Part& part) const;

  const Job& job_;
  PendingOperations& pending_;
  RpcClient& client_;
};

}  // namespace librma
