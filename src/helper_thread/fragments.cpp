#include "helper_thread/fragments.hpp"
#include "util/try.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

namespace librma {
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

/// Copies `times` parts of `kBytes` bytes, or of `bytes` if that is 0. The strides may be negative, as
/// unsigned numbers.
template <std::size_t kBytes>
void copy_parts(std::byte* to, std::size_t to_stride, const std::byte* from, std::size_t from_stride,
                std::size_t bytes, std::size_t times) {
  for (; times > 0; --times, to += to_stride, from += from_stride) {
    std::memcpy(to, from, kBytes != 0 ? kBytes : bytes);
  }
}

/// Does the same. The usual small sizes are copied through registers.
void copy_run(std::byte* to, std::size_t to_stride, const std::byte* from, std::size_t from_stride,
              std::size_t bytes, std::size_t times) {
  switch (bytes) {
    case 4:
      return copy_parts<4>(to, to_stride, from, from_stride, bytes, times);
    case 8:
      return copy_parts<8>(to, to_stride, from, from_stride, bytes, times);
    case 16:
      return copy_parts<16>(to, to_stride, from, from_stride, bytes, times);
    default:
      return copy_parts<0>(to, to_stride, from, from_stride, bytes, times);
  }
}

/// Counts the fragments under way, for transfers that send them one by one.
struct Window {
  std::atomic<std::size_t> open = 0;
};

}  // namespace

void pack(const Layout& layout, std::size_t from, std::span<std::byte> data) {
  std::byte* to = data.data();
  layout.visit_runs(from, data.size(), [&](auto address, auto bytes, auto stride, auto times) {
    copy_run(to, bytes, pointer(address), stride, bytes, times);
    to += times * bytes;
    return true;
  });
}

void unpack(const Layout& layout, std::size_t from, std::span<const std::byte> data) {
  const std::byte* source = data.data();
  layout.visit_runs(from, data.size(), [&](auto address, auto bytes, auto stride, auto times) {
    copy_run(pointer(address), stride, source, bytes, bytes, times);
    source += times * bytes;
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
    RpcRequest request = {.rank = transfer.rank, .kind = transfer.kind, .operation = transfer.operation};
    request.reply_room = get ? bytes : transfer.refusal_room;
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
    const bool in_message = body <= asking.most_in_message();
    if (in_message) small.resize(body);
    // From here on nothing takes memory until ask(), which gives the buffer back if it fails.
    if (!in_message || (get && bytes > asking.most_in_reply())) {
      request.buffer = asking.take_buffer(transfer.rank);
      if (request.buffer == nullptr) {
        return {RMA_ERR_NO_MEMORY, "ranks that were lost may still write to all buffers for requests"};
      }
    }
    std::span<std::byte> room_for_body(request.buffer, body);
    if (in_message) {
      room_for_body = small;
      request.head = small;
    } else {
      request.buffered_bytes = body;
    }
    std::copy(transfer.prefix.begin(), transfer.prefix.end(), room_for_body.begin());
    transfer.remote->encode(at, bytes, room_for_body.subspan(transfer.prefix.size()));
    if (!get) pack(*transfer.local, at, room_for_body.subspan(head, bytes));
    window->open.fetch_add(1, std::memory_order_relaxed);
    RMA_TRY(asking.ask(std::move(request)));
    at += bytes;
    if (transfer.one_by_one && at < total) {
      pending.engine().wait_until(transfer.rank,
                                  [&] { return window->open.load(std::memory_order_acquire) == 0; });
    }
  }
  return {};
}

}  // namespace librma
