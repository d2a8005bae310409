#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/job/job.hpp"
#include "core/network/posting.hpp"
#include "core/one_sided/remote_access.hpp"
#include "util/status.hpp"

namespace librma {

/// The way in which the issuer of an operation learns of its end.
struct Ending {
  enum class Kind : std::uint8_t {
    blocking,  ///< the call returns when the operation is over
    request,   ///< the issuer waits for `*request`
    implicit   ///< the next fence waits for it
  };
  Kind kind = Kind::blocking;
  rma_request_t* request = nullptr;
};

/// Returns `status` as the result of an operation that was over when it was issued, and stores its request if
/// the issuer has asked for one.
inline Status complete(const Ending& ending, Status status = {}) {
  if (ending.kind == Ending::Kind::request) {
    *ending.request = status.ok() ? kCompleteRequest : RMA_REQUEST_NULL;
  }
  return status;
}

/// Ends the issuer's part of an operation whose parts are all issued.
[[nodiscard]] Status end_issuing(PendingOperations& pending, rma_request_t operation, const Ending& ending);

/// Returns whether a put or get finds all of `rank`'s [address, address + bytes). RMA_ERR_ADDRESS if part of
/// it is neither allocated nor registered, RMA_ERR_UNSUPPORTED if the network does not reach it,
/// RMA_ERR_PEER_LOST.
[[nodiscard]] Status check_reachable(const Job& job, RemoteAccess& remote_access, const void* address,
                                     std::size_t bytes, int rank);

/// A put or get of any number of contiguous parts to one rank. Each part takes the path to its memory. Mapped
/// memory is copied at once; other parts may be under way until end(). One thread uses an operation.
class Operation {
 public:
  Operation(Job& job, RemoteAccess& remote_access, int rank)
      : job_(job), remote_access_(remote_access), rank_(rank) {}
  ~Operation();
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  /// Leaves a put (`direction` is write) or get of a few bytes, which only a fence waits for, to the fence.
  /// So it travels together with others. Returns false, and has done nothing, if the rank's side is not
  /// memory of the program in another process of this host, or is too long.
  [[nodiscard]] static bool defer(Job& job, RemoteAccess& remote_access, transport::Direction direction,
                                  int rank, std::byte* remote, std::byte* local, std::size_t bytes);

  /// Moves one part. RMA_ERR_ADDRESS if the rank's side of it is neither allocated nor registered. The caller
  /// then destroys the operation, which waits for the parts under way.
  [[nodiscard]] Status put(void* dst, const void* src, std::size_t bytes);
  [[nodiscard]] Status get(void* dst, const void* src, std::size_t bytes);

  /// Returns the operation of the parts that go to another host, so that the caller can add parts.
  /// RMA_ERR_NO_MEMORY.
  [[nodiscard]] Result<rma_request_t> network_operation();
  /// Does the same for parts that stay on this host.
  [[nodiscard]] Result<rma_request_t> host_operation();

  /// Ends the issuing, when all parts are issued. Sets `*ending.request` to kCompleteRequest if the operation
  /// is complete already.
  [[nodiscard]] Status end(const Ending& ending);

 private:
  /// Opens the operation for the first part that needs one. RMA_ERR_NO_MEMORY if too many are open.
  [[nodiscard]] Status open();
  [[nodiscard]] Batch& batch();
  /// Moves one part to `remote` of the rank, or from there.
  [[nodiscard]] Status move(transport::Direction direction, std::byte* remote, std::byte* local,
                            std::size_t bytes);
  /// Moves a part of memory of a rank of this host that is not mapped here. Those of its bytes that lie in
  /// the rank's heap take the way to the heap.
  [[nodiscard]] Status move_foreign_parts(transport::Direction direction, std::byte* remote, std::byte* local,
                                          std::size_t bytes);
  [[nodiscard]] Status move_foreign(transport::Direction direction, std::uintptr_t remote, std::byte* local,
                                    std::size_t bytes);

  Job& job_;
  RemoteAccess& remote_access_;
  const int rank_;
  rma_request_t request_ = RMA_REQUEST_NULL;
  std::optional<Batch> batch_;  ///< used for a rank of another host
  ForeignBatch foreign_;        ///< used for a rank of this host
};

}  // namespace librma
