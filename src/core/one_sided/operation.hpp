#pragma once

#include <cstddef>
#include <optional>

#include "core/job/job.hpp"
#include "core/network/batch.hpp"
#include "core/one_sided/remote_access.hpp"
#include "util/status.hpp"

namespace rma {

/// How an operation's end is made known to whoever issued it.
struct Ending {
  enum class Kind : std::uint8_t {
    blocking,  ///< the call returns when it is over
    request,   ///< `*request` is to be waited for
    implicit   ///< the next fence waits for it
  };
  Kind kind = Kind::blocking;
  rma_request_t* request = nullptr;
};

/// The result, and the request where one was asked for, of an operation that was over when it was issued.
inline Status complete(const Ending& ending, Status status = {}) {
  if (ending.kind == Ending::Kind::request) {
    *ending.request = status.ok() ? kCompleteRequest : RMA_REQUEST_NULL;
  }
  return status;
}

/// Whether a put or get of all of `rank`'s [address, address + bytes) would find it: RMA_ERR_ADDRESS where
/// part of it is neither allocated nor registered, RMA_ERR_UNSUPPORTED where the network does not reach it,
/// RMA_ERR_PEER_LOST.
[[nodiscard]] Status check_reachable(const Job& job, RemoteAccess& remote_access, const void* address,
                                     std::size_t bytes, int rank);

/// One put or get on its way, of any number of contiguous parts to one rank, each by whatever path its memory
/// has. What is mapped is copied at once; other parts are on their way until end(). Used by one thread.
class Operation {
 public:
  Operation(Job& job, RemoteAccess& remote_access, int rank)
      : job_(job), remote_access_(remote_access), rank_(rank) {}
  ~Operation();
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  /// Moves one part. RMA_ERR_ADDRESS when the rank's side of it is neither allocated nor registered; the
  /// operation is then to be ended by being destroyed, which waits for the parts on their way.
  [[nodiscard]] Status put(void* dst, const void* src, std::size_t bytes);
  [[nodiscard]] Status get(void* dst, const void* src, std::size_t bytes);

  /// The operation of what goes to another host, for those who add parts to it. RMA_ERR_NO_MEMORY.
  [[nodiscard]] Result<rma_request_t> network_operation();

  /// Everything has been issued. `*ending.request` is kCompleteRequest when it is complete already.
  [[nodiscard]] Status end(const Ending& ending);

 private:
  /// The operation, opened for the first part that needs one. RMA_ERR_NO_MEMORY when too many are
  /// open.
  [[nodiscard]] Status open();
  [[nodiscard]] Batch& batch();
  /// Moves one part: to `remote` of the rank, or from there.
  [[nodiscard]] Status move(transport::Direction direction, std::byte* remote, std::byte* local,
                            std::size_t bytes);
  /// Moves a part of memory that is not mapped here, of a rank of this host.
  [[nodiscard]] Status move_foreign(transport::Direction direction, std::uintptr_t remote, std::byte* local,
                                    std::size_t bytes);

  Job& job_;
  RemoteAccess& remote_access_;
  const int rank_;
  rma_request_t request_ = RMA_REQUEST_NULL;
  std::optional<Batch> batch_;  ///< of a rank of another host
};

}  // namespace rma
