#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "atomics/accumulate.hpp"
#include "core/completion/pending_operations.hpp"
#include "core/network/network.hpp"
#include "core/one_sided/layout.hpp"
#include "core/one_sided/operation.hpp"
#include "helper_thread/rpc_client.hpp"
#include "helper_thread/rpc_server.hpp"

namespace librma {

/// Atomics and accumulates that the target's helper executes, by its processor and under its locks. This
/// class sends such requests, and serves those of other ranks.
class RemoteAtomics {
 public:
  /// Registers handlers with `server`. Accumulates are cut at `piece_bytes`. `network` is null in a job
  /// without one. The arguments outlive this.
  RemoteAtomics(Accumulator& accumulator, std::size_t piece_bytes, PendingOperations& pending,
                Network* network, RpcClient& client, RpcServer& server);

  /// Executes a (valid) operation on an aligned word of 4 or 8 bytes. Stores the value before into `*old` at
  /// the end of the operation, unless `old` is null. RMA_ERR_ADDRESS, RMA_ERR_PEER_LOST, RMA_ERR_UNSUPPORTED
  /// if the rank has no memory for messages.
  template <typename Word>
  [[nodiscard]] Status atomic(rma_atomic_op_t op, const Word* target, Word operand, Word compare, Word* old,
                              int rank, const Ending& ending);

  /// Performs remote[i] += scale * local[i] for all elements of two layouts of equal size. Each segment
  /// consists of whole elements. `local` may be reused when the call returns. If the remote memory is
  /// registered, the accumulate is complete at the next fence at the latest, and later operations to that
  /// rank take effect after it. If it is not, the accumulate is complete when the call returns, because only
  /// the rank knows whether the memory exists. RMA_ERR_ADDRESS names the first segment that was refused.
  [[nodiscard]] Status accumulate(const std::shared_ptr<const Layout>& remote,
                                  std::shared_ptr<const Layout> local, rma_type_t type, const void* scale,
                                  int rank);

  /// Executes an operation on a word of this process that no device can access, and returns the value before.
  [[nodiscard]] std::uint64_t beside_devices(rma_atomic_op_t op, std::uintptr_t target, std::uint64_t operand,
                                             std::uint64_t compare);

 private:
  /// Returns whether the devices can access all of a layout of `rank`'s memory.
  [[nodiscard]] bool registered(const Layout& remote, int rank);
  [[nodiscard]] Answer serve_atomic(const Served& request);
  [[nodiscard]] Answer serve_accumulate(const Served& request);

  Accumulator& accumulator_;
  const std::size_t piece_bytes_;
  PendingOperations& pending_;
  Network* const network_;
  RpcClient& client_;
};

}  // namespace librma
