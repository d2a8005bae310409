#pragma once

#include <cstdint>

#include "core/completion/pending_operations.hpp"
#include "core/network/bounce_copy.hpp"
#include "core/network/completions.hpp"
#include "core/network/connection_manager.hpp"
#include "core/network/inline_put.hpp"
#include "core/network/posting.hpp"
#include "core/network/remote_keys.hpp"
#include "core/network/request_order.hpp"
#include "fabric/rails.hpp"
#include "util/status.hpp"

namespace librma {

/// Operations on single words of 8 bytes: flags behind data, and the devices' atomics. Thread-safe.
class WordOperations {
 public:
  /// All of these outlive this object.
  WordOperations(PendingOperations& pending, Rails& rails, RequestOrder& requests,
                 ConnectionManager& connections, RemoteKeys& keys, Completions& completions, Posting& posting,
                 InlinePut& inline_put, BounceCopy& bounce);

  /// Stores `value` to the aligned `flag` of `rank` after everything that this thread has put there.
  [[nodiscard]] Status put_flag(std::uint64_t* flag, std::uint64_t value, int rank);
  /// Executes RMA_FETCH_ADD or RMA_COMPARE_SWAP on an aligned word of 8 bytes, by the rank's device. Returns
  /// the value before.
  [[nodiscard]] Result<std::uint64_t> atomic(rma_atomic_op_t op, std::uint64_t* target, std::uint64_t operand,
                                             std::uint64_t compare, int rank);
  /// Starts such an operation. Stores the value before into `*old` at its end, unless `old` is null. Returns
  /// the operation, whose issuer's part is pending.
  [[nodiscard]] Result<rma_request_t> start_atomic(rma_atomic_op_t op, std::uint64_t* target,
                                                   std::uint64_t operand, std::uint64_t compare,
                                                   std::uint64_t* old, int rank);

 private:
  PendingOperations& pending_;
  Rails& rails_;
  RequestOrder& requests_;
  ConnectionManager& connections_;
  RemoteKeys& keys_;
  Completions& completions_;
  Posting& posting_;
  InlinePut& inline_put_;
  BounceCopy& bounce_;
};

}  // namespace librma
