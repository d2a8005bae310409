#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "core/one_sided/layout.hpp"
#include "helper_thread/rpc_client.hpp"
#include "util/status.hpp"

namespace librma {

/// A transfer between two layouts of equal size. The helper of rank `rank` accesses `remote`.
struct FragmentedTransfer {
  RequestKind kind = RequestKind::put;  ///< put, get or accumulate
  int rank = -1;
  std::shared_ptr<const Layout> remote;
  std::shared_ptr<const Layout> local;
  rma_request_t operation = RMA_REQUEST_NULL;
  std::span<const std::byte> prefix = {};  ///< a few bytes that begin every fragment
  std::size_t unit = 1;                    ///< the size of a fragment is a multiple of this
  std::size_t most = 0;                    ///< most bytes of one fragment; a buffer's size is the other limit
  bool one_by_one = false;                 ///< each fragment waits for the end of the one before
  std::size_t refusal_room = 0;            ///< most bytes of details in a refusal; unused by a get
  std::function<void(std::span<const std::byte>)> refused = {};  ///< gets them before the operation ends
};

/// Sends the transfer in fragments, each a request of its own. Packs outgoing data when it sends the request.
/// Unpacks incoming data when it arrives, before the operation ends. Returns when all requests are sent.
[[nodiscard]] Status ask_in_fragments(RpcClient& asking, PendingOperations& pending,
                                      const FragmentedTransfer& transfer);

/// Copies bytes [from, from + data.size()) of a layout of this process's memory to `data` (pack) or from it
/// (unpack).
void pack(const Layout& layout, std::size_t from, std::span<std::byte> data);
void unpack(const Layout& layout, std::size_t from, std::span<const std::byte> data);

}  // namespace librma
