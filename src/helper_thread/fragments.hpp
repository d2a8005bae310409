#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "helper_thread/layout.hpp"
#include "helper_thread/rpc_client.hpp"
#include "util/status.hpp"

namespace rma {

/// A transfer between two layouts of equal size, executed by the helper of the rank that owns the remote one.
struct FragmentedTransfer {
  RequestKind kind = RequestKind::put;  ///< put, get or accumulate
  int rank = -1;
  std::shared_ptr<const Layout> remote;
  std::shared_ptr<const Layout> local;
  rma_request_t operation = RMA_REQUEST_NULL;
  std::span<const std::byte> prefix = {};  ///< put in front of every fragment; short
  std::size_t unit = 1;                    ///< the size of each fragment is a multiple of this
  std::size_t most = 0;                    ///< the maximum size of a fragment; buffers may limit it further
  bool one_by_one = false;                 ///< request a fragment only after the one before is complete
  std::size_t refusal_room = 0;            ///< the maximum size of a refusal's body; 0 for a get
  std::function<void(std::span<const std::byte>)> refused =
      {};  ///< called with a refusal's body before the operation ends
};

/// Cuts a transfer into fragments and sends one request for each. The data of a put is packed into the
/// request. The data of a get is unpacked when it arrives, before the operation ends. Returns when all
/// requests are sent.
[[nodiscard]] Status ask_in_fragments(RpcClient& asking, PendingOperations& pending,
                                      const FragmentedTransfer& transfer);

/// Copy bytes [from, from + data.size()) of a layout of this process's memory to `data`, and back.
void pack(const Layout& layout, std::size_t from, std::span<std::byte> data);
void unpack(const Layout& layout, std::size_t from, std::span<const std::byte> data);

}  // namespace rma
