#include "twosided_compat/datatypes/noncontiguous.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "rma/rma.h"
#include "util/try.hpp"

namespace librma::mpi {
namespace {

/// The arguments of rma_send_strided.
struct StridedLayout {
  std::byte* start = nullptr;
  std::array<std::ptrdiff_t, RMA_MAX_LEVELS> strides = {};
  std::array<std::size_t, RMA_MAX_LEVELS + 1> counts = {};
  int levels = 0;
};

/// Returns the layout of a map at `base`, or no value if it has none that librma can describe by strides.
std::optional<StridedLayout> strided_layout(const TypeMap& map, std::byte* base) {
  const std::optional<TypeMap::Grid> grid = map.grid();
  if (!grid || grid->dimensions.size() > RMA_MAX_LEVELS) return std::nullopt;
  StridedLayout layout;
  layout.start = reinterpret_cast<std::byte*>(bits(base) + static_cast<std::uintptr_t>(grid->start));
  layout.counts[0] = static_cast<std::size_t>(grid->bytes);
  for (const TypeMap::Dimension& dimension : grid->dimensions) {
    const auto level = static_cast<std::size_t>(layout.levels++);
    layout.strides[level] = dimension.stride;
    layout.counts[level + 1] = static_cast<std::size_t>(dimension.count);
  }
  return layout;
}

/// Returns the contiguous parts of a buffer. Neighbours are one part.
std::vector<iovec> vector_layout(const Buffer& buffer) {
  std::vector<iovec> segments;
  buffer.visit(buffer.bytes, [&](std::byte* at, std::size_t bytes) {
    if (!segments.empty()) {
      iovec& last = segments.back();
      if (static_cast<std::byte*>(last.iov_base) + last.iov_len == at) {
        last.iov_len += bytes;
        return;
      }
    }
    segments.push_back({.iov_base = at, .iov_len = bytes});
  });
  return segments;
}

/// A buffer as librma sends and receives it, with the arrays that `data` points to.
struct Described {
  std::optional<StridedLayout> strides;
  std::vector<iovec> segments;
  rma_data_t data = {};
};

/// Describes a buffer. If its list of parts would be long, `memory` is made to stand for it.
void describe(const Buffer& buffer, PackMemory& memory, Described& described) {
  if (buffer.is_contiguous()) {
    described.data = rma_contiguous_data(buffer.data, buffer.bytes);
    return;
  }
  const TypeMap map = buffer.type->map_of(buffer.count);
  described.strides = strided_layout(map, buffer.data);
  if (described.strides) {
    const StridedLayout& layout = *described.strides;
    described.data =
        rma_strided_data(layout.start, layout.strides.data(), layout.counts.data(), layout.levels);
  } else if (map.blocks() <= kMostPartsOfMessage) {
    described.segments = vector_layout(buffer);
    described.data = rma_vector_data(described.segments.data(), described.segments.size());
  } else {
    memory = std::make_unique_for_overwrite<std::byte[]>(buffer.bytes);
    described.data = rma_contiguous_data(memory.get(), buffer.bytes);
  }
}

}  // namespace

rma_status_t send_noncontiguous(Mode mode, const Buffer& buffer, const MessagePeer& to, PackMemory& memory,
                                rma_request_t& pending) {
  Described described;
  memory.reset();
  describe(buffer, memory, described);
  if (memory != nullptr) pack(buffer, memory.get());
  return rma_send_data(&described.data, to.rank, to.tag, to.context,
                       RMA_MESSAGE_STARTS | (mode == Mode::kSynchronous ? RMA_SEND_SYNCHRONOUS : 0),
                       &pending);
}

rma_status_t receive_noncontiguous(const Buffer& buffer, const MessagePeer& from, rma_message_info_t* info,
                                   PackMemory& memory, rma_request_t& pending) {
  Described described;
  describe(buffer, memory, described);
  return rma_recv_data(&described.data, from.rank, from.tag, from.context, info, RMA_MESSAGE_STARTS,
                       &pending);
}

rma_status_t receive_found(const Buffer& buffer, rma_message_t* message, rma_message_info_t* info,
                           PackMemory& memory, rma_request_t& pending) {
  Described described;
  describe(buffer, memory, described);
  return rma_mrecv_data(&described.data, message, info, RMA_MESSAGE_STARTS, &pending);
}

void unpack_received(const Buffer& buffer, const rma_message_info_t& info, const PackMemory& memory) {
  if (memory != nullptr) unpack(memory.get(), std::min(info.bytes, buffer.bytes), buffer);
}

rma_status_t send_noncontiguous_and_wait(Mode mode, const Buffer& buffer, const MessagePeer& to) {
  PackMemory memory;
  rma_request_t pending = RMA_REQUEST_NULL;
  const rma_status_t started = send_noncontiguous(mode, buffer, to, memory, pending);
  return started == RMA_SUCCESS ? rma_wait(&pending) : started;
}

rma_status_t receive_noncontiguous_and_wait(const Buffer& buffer, const MessagePeer& from,
                                            rma_message_info_t* info) {
  PackMemory memory;
  rma_request_t pending = RMA_REQUEST_NULL;
  rma_message_info_t own = {};
  rma_message_info_t* const filled = info != nullptr ? info : &own;
  RMA_TRY(receive_noncontiguous(buffer, from, filled, memory, pending));
  const rma_status_t received = rma_wait(&pending);
  if (received == RMA_SUCCESS || received == RMA_ERR_TRUNCATED) unpack_received(buffer, *filled, memory);
  return received;
}

}  // namespace librma::mpi
