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

/// A transfer between two layouts of equal size, through the helper of the rank that one of them is of.
struct FragmentedTransfer {
  RequestKind kind = RequestKind::put;  ///< put, get or accumulate
  int rank = -1;
  std::shared_ptr<const Layout> remote;
  std::shared_ptr<const Layout> local;
  rma_request_t operation = RMA_REQUEST_NULL;
  std::span<const std::byte> prefix = {};  ///< of every fragment, in front of all else; short
  std::size_t unit = 1;                    ///< fragments are multiples of so many bytes
  std::size_t most = 0;                    ///< bytes of one fragment, as far as buffers are so large
  bool one_by_one = false;                 ///< the next fragment is asked for when the one before is over
  std::size_t refusal_room = 0;            ///< bytes with which a refusal may say more; not of a get
  std::function<void(std::span<const std::byte>)> refused = {};  ///< told them before the operation ends
};

/// Cuts it into fragments, each a request of its own, and asks for them. Data that goes there is packed as it
/// is asked; data that comes is unpacked as it arrives, before the operation ends. Returns when everything
/// has been asked for.
[[nodiscard]] Status ask_in_fragments(RpcClient& asking, PendingOperations& pending,
                                      const FragmentedTransfer& transfer);

/// Copies bytes [from, from + data.size()) of a layout of this process's memory to `data`, and back.
void pack(const Layout& layout, std::size_t from, std::span<std::byte> data);
void unpack(const Layout& layout, std::size_t from, std::span<const std::byte> data);

}  // namespace rma
