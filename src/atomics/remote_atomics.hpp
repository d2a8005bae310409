#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "atomics/accumulate.hpp"
#include "core/completion/flights.hpp"
#include "core/network/network.hpp"
#include "helper_thread/layout.hpp"
#include "helper_thread/rpc_client.hpp"
#include "helper_thread/rpc_server.hpp"

namespace rma {

/// Atomics and accumulates that the target's helper executes, by its processor and under its locks; and the
/// serving of others' to this process's memory.
class RemoteAtomics {
 public:
  /// Registers handlers with `server`. Accumulates are cut at `piece_bytes`. The arguments outlive this.
  RemoteAtomics(Accumulator& accumulator, std::size_t piece_bytes, Flights& flights, Network& network,
                RpcClient& client, RpcServer& server);

  /// One (valid) operation on an aligned word of 4 or 8 bytes; returns the value before. RMA_ERR_ADDRESS,
  /// RMA_ERR_PEER_LOST, RMA_ERR_UNSUPPORTED when the rank has no memory for messages.
  [[nodiscard]] Result<std::uint64_t> atomic(rma_atomic_op_t op, std::size_t width, std::uintptr_t target,
                                             std::uint64_t operand, std::uint64_t compare, int rank);

  /// remote[i] += scale * local[i] for all elements of two layouts of equal size, in whole elements per
  /// segment; `local` may be reused when it returns. Into registered memory it is over then or at the next
  /// fence, and what comes after it to that rank takes effect after it; into other memory it is over when it
  /// returns: whether there is such memory only the rank knows. RMA_ERR_ADDRESS names the first segment that
  /// was refused.
  [[nodiscard]] Status accumulate(const std::shared_ptr<const Layout>& remote,
                                  std::shared_ptr<const Layout> local, rma_type_t type, const void* scale,
                                  int rank);

  /// One operation on a word of this process's own, which no device reaches; returns the value before.
  [[nodiscard]] std::uint64_t beside_devices(rma_atomic_op_t op, std::uintptr_t target, std::uint64_t operand,
                                             std::uint64_t compare);

 private:
  /// Whether a device could reach all of a layout of `rank`'s memory.
  [[nodiscard]] bool registered(const Layout& remote, int rank);
  [[nodiscard]] Answer serve_atomic(const Served& request);
  [[nodiscard]] Answer serve_accumulate(const Served& request);

  Accumulator& accumulator_;
  const std::size_t piece_bytes_;
  Flights& flights_;
  Network& network_;
  RpcClient& client_;
};

}  // namespace rma
