#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "rma/messages.h"
#include "twosided_compat/datatypes/buffer.hpp"

// Messages from and into buffers that are not contiguous. librma moves them as strided or vector layouts
// (rma/messages.h), without a packed copy. Only a layout whose list of contiguous parts would be long
// (kMostPartsOfMessage) is packed, into memory of this library.

namespace librma::mpi {

/// The longest lists of contiguous parts that one call of librma gets. Each entry takes 40 bytes, here and in
/// librma. A message has one list, and data in more parts are packed. A transfer of a window is divided among
/// calls without a copy, so its lists are shorter.
inline constexpr MPI_Count kMostPartsOfMessage = MPI_Count{1} << 16U;
inline constexpr std::size_t kMostPartsOfTransfer = std::size_t{1} << 14U;

/// The mode of a send (MPI 4.1, section 3.4). A ready send is a standard one here.
enum class Mode : std::uint8_t { kStandard, kSynchronous };

/// Where a message goes or comes from, in librma's terms.
struct MessagePeer {
  int rank;  ///< a world rank or RMA_ANY_SOURCE
  int tag;
  std::uint32_t context;
};

/// Memory in which data are packed while an operation goes on. Null: they are not.
using PackMemory = std::unique_ptr<std::byte[]>;

/// Starts a send. `memory` must live until `pending` has ended.
[[nodiscard]] rma_status_t send_noncontiguous(Mode mode, const Buffer& buffer, const MessagePeer& to,
                                              PackMemory& memory, rma_request_t& pending);
/// Starts a receive. If it fills `memory`, the caller unpacks that when `pending` has ended, as
/// unpack_received() does.
[[nodiscard]] rma_status_t receive_noncontiguous(const Buffer& buffer, const MessagePeer& from,
                                                 rma_message_info_t* info, PackMemory& memory,
                                                 rma_request_t& pending);
/// Does the same for a message that a matched probe has found, into a buffer of any kind. `*message` becomes
/// null.
[[nodiscard]] rma_status_t receive_found(const Buffer& buffer, rma_message_t* message,
                                         rma_message_info_t* info, PackMemory& memory,
                                         rma_request_t& pending);
/// Moves the data of a receive that has ended to their places.
void unpack_received(const Buffer& buffer, const rma_message_info_t& info, const PackMemory& memory);

[[nodiscard]] rma_status_t send_noncontiguous_and_wait(Mode mode, const Buffer& buffer,
                                                       const MessagePeer& to);
[[nodiscard]] rma_status_t receive_noncontiguous_and_wait(const Buffer& buffer, const MessagePeer& from,
                                                          rma_message_info_t* info);

/// Send and receive a buffer of any kind, and wait.
[[nodiscard]] inline rma_status_t send_and_wait(Mode mode, const Buffer& buffer, const MessagePeer& to) {
  if (!buffer.is_contiguous()) [[unlikely]]
    return send_noncontiguous_and_wait(mode, buffer, to);
  const auto send = mode == Mode::kSynchronous ? rma_ssend : rma_send;
  return send(buffer.data, buffer.bytes, to.rank, to.tag, to.context);
}
[[nodiscard]] inline rma_status_t receive_and_wait(const Buffer& buffer, const MessagePeer& from,
                                                   rma_message_info_t* info) {
  if (!buffer.is_contiguous()) [[unlikely]]
    return receive_noncontiguous_and_wait(buffer, from, info);
  return rma_recv(buffer.data, buffer.bytes, from.rank, from.tag, from.context, info);
}

}  // namespace librma::mpi
