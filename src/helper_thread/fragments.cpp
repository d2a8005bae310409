#include "helper_thread/fragments.hpp"
#include "util/try.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <vector>

namespace rma {
namespace {

/// Returns how many bytes from `at` on fit into `room` together with the encoded layout of their place.
std::size_t fitting(const Layout& layout, std::size_t at, std::size_t most, std::size_t unit,
                    std::size_t room, bool with_data) {
  std::size_t bytes = std::min(most / unit * unit, layout.bytes() - at);
  while (true) {
    const std::size_t needed = layout.encoded_bytes(at, bytes) + (with_data ? bytes : 0);
    if (needed <= room || bytes <= unit) return bytes;
    // Scales down in proportion: a part that does not fit has many entries, of much the same size.
    bytes = std::max(unit, static_cast<std::size_t>(static_cast<double>(bytes) * static_cast<double>(room) /
                                                    static_cast<double>(needed)) /
                               unit * unit);
  }
}

std::byte* pointer(std::uintptr_t address) {
  return reinterpret_cast<std::byte*>(address);  // NOLINT(performance-no-int-to-ptr): of this process
}

/// Counts the fragments under way, for transfers that send them one by one.
struct Window {
  std::atomic<std::size_t> open = 0;
};

}  // namespace

void pack(const Layout& layout, std::size_t from, std::span<std::byte> data) {
  std::byte* to = data.data();
  layout.visit(from, data.size(), [&](std::uintptr_t address, std::size_t bytes) {
    std::memcpy(to, pointer(address), bytes);
    to += bytes;
    return true;
  });
}

void unpack(const Layout& layout, std::size_t from, std::span<const std::byte> data) {
  const std::byte* source = data.data();
  layout.visit(from, data.size(), [&](std::uintptr_t address, std::size_t bytes) {
    std::memcpy(pointer(address), source, bytes);
    source += bytes;
    return true;
  });
}

Status ask_in_fragments(RpcClient& asking, PendingOperations& pending, const FragmentedTransfer& transfer) {
  const bool get = transfer.kind == RequestKind::get;
  const std::size_t total = transfer.remote->bytes();
  const std::size_t most =
      std::min(transfer.most, get && !asking.has_buffers() ? asking.most_in_reply() : asking.buffer_bytes());
  const auto window = std::make_shared<Window>();
  std::vector<std::byte> small;
  for (std::size_t at = 0; at < total;) {
    const std::size_t room = asking.buffer_bytes() - transfer.prefix.size();
    const std::size_t bytes = fitting(*transfer.remote, at, most, transfer.unit, room, !get);
    const std::size_t head = transfer.prefix.size() + transfer.remote->encoded_bytes(at, bytes);
    const std::size_t body = head + (get ? 0 : bytes);
    Request request = {.rank = transfer.rank, .kind = transfer.kind, .operation = transfer.operation};
    if (body > asking.most_in_message() || (get && bytes > asking.most_in_reply())) {
      request.buffer = asking.take_buffer(transfer.rank);
    }
    std::span<std::byte> room_for_body(request.buffer, body);
    if (body > asking.most_in_message()) {
      request.buffered_bytes = body;
    } else {
      small.resize(body);
      room_for_body = small;
      request.head = small;
    }
    std::copy(transfer.prefix.begin(), transfer.prefix.end(), room_for_body.begin());
    transfer.remote->encode(at, bytes, room_for_body.subspan(transfer.prefix.size()));
    if (!get) pack(*transfer.local, at, room_for_body.subspan(head, bytes));
    request.reply_room = get ? bytes : transfer.refusal_room;
    window->open.fetch_add(1, std::memory_order_relaxed);
    request.answered = [local = get ? transfer.local : nullptr, at, bytes, window,
                        refused = transfer.refused](rma_status_t status, std::span<const std::byte> data) {
      if (refused && status != RMA_SUCCESS) refused(data);
      if (local != nullptr && status == RMA_SUCCESS) {
        if (data.size() != bytes) status = RMA_ERR_SIZE;
        if (status == RMA_SUCCESS) unpack(*local, at, data);
      }
      // Release: pairs with the acquire below. A thread that sees the fragment's end also sees its data.
      window->open.fetch_sub(1, std::memory_order_release);
      return status;
    };
    RMA_TRY(asking.ask(std::move(request)));
    at += bytes;
    if (transfer.one_by_one && at < total) {
      pending.engine().wait_until(transfer.rank,
                                  [&] { return window->open.load(std::memory_order_acquire) == 0; });
    }
  }
  return {};
}

}  // namespace rma
