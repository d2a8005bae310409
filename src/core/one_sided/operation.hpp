#pragma once

#include <cstddef>
#include <optional>

#include "core/job/job.hpp"
#include "core/network/batch.hpp"
#include "core/one_sided/remote_access.hpp"
#include "util/status.hpp"

namespace rma {

/// Says how the issuer of an operation learns that it is complete.
struct Ending {
  enum class Kind : std::uint8_t {
    blocking,  ///< the call returns when the operation is complete
    request,   ///< the issuer waits for `*request`
    implicit   ///< the next fence waits for it
  };
  Kind kind = Kind::blocking;
  rma_request_t* request = nullptr;
};

/// Returns `status` for an operation that was complete when it was issued, and stores the request if the
/// issuer wants one.
inline Status complete(const Ending& ending, Status status = {}) {
  if (ending.kind == Ending::Kind::request) {
    *ending.request = status.ok() ? kCompleteRequest : RMA_REQUEST_NULL;
  }
  return status;
}

/// Checks that a put or get can access all of [address, address + bytes) of `rank`. RMA_ERR_ADDRESS if part
/// of it is neither in the heap nor registered, RMA_ERR_UNSUPPORTED if the network does not reach it,
/// RMA_ERR_PEER_LOST.
[[nodiscard]] Status check_reachable(const Job& job, RemoteAccess& remote_access, const void* address,
                                     std::size_t bytes, int rank);

/// One put or get that consists of any number of contiguous parts to one rank. Each part takes the path to
/// its memory. Parts of mapped memory are copied at once; the others are under way until end(). Used by one
/// thread.
class Operation {
 public:
  Operation(Job& job, RemoteAccess& remote_access, int rank)
      : job_(job), remote_access_(remote_access), rank_(rank) {}
  ~Operation();
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  /// Moves one part. RMA_ERR_ADDRESS if the rank's memory is neither in its heap nor registered. After a
  /// failure the caller destroys the operation, which waits for the parts that are under way.
  [[nodiscard]] Status put(void* dst, const void* src, std::size_t bytes);
  [[nodiscard]] Status get(void* dst, const void* src, std::size_t bytes);

  /// Returns the pending operation of the parts to another host, so that a protocol can add parts of its own.
  /// RMA_ERR_NO_MEMORY.
  [[nodiscard]] Result<rma_request_t> network_operation();

  /// Ends the issuing of parts. `*ending.request` is kCompleteRequest if the operation is complete already.
  [[nodiscard]] Status end(const Ending& ending);

 private:
  /// Opens the pending operation, unless it is open. RMA_ERR_NO_MEMORY if too many are open.
  [[nodiscard]] Status open();
  [[nodiscard]] Batch& batch();
  /// Moves one part to `remote` of the rank, or from there.
  [[nodiscard]] Status move(transport::Direction direction, std::byte* remote, std::byte* local,
                            std::size_t bytes);
  /// Moves a part of memory that is not mapped here, of a rank of this host.
  [[nodiscard]] Status move_foreign(transport::Direction direction, std::uintptr_t remote, std::byte* local,
                                    std::size_t bytes);

  Job& job_;
  RemoteAccess& remote_access_;
  const int rank_;
  rma_request_t request_ = RMA_REQUEST_NULL;
  std::optional<Batch> batch_;  ///< work requests to a rank of another host
};

}  // namespace rma
