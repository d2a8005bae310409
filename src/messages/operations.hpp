#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/network/keyed_reads.hpp"
#include "messages/envelope.hpp"
#include "messages/matcher.hpp"
#include "rma/messages.h"

namespace rma {

class MessageContext;

/// How an operation tells its issuer that it is over. Either the issuer has a request, and the operation's
/// slot is given back when it ends; or the issuer's call waits for `done`, and gives the slot back.
struct MessageEnd {
  rma_request_t request = RMA_REQUEST_NULL;
  rma_status_t status = RMA_SUCCESS;
  int failed_rank = -1;  ///< the rank that the failure is about
  /// Stored with release order, last. The waiting thread loads it with acquire order.
  std::atomic<bool> done = false;
};

/// A receive from its posting to its end.
struct ReceiveOperation : PostedReceive {
  explicit ReceiveOperation(std::uint64_t own_name) : name(own_name) {}

  const std::uint64_t name;
  MessageContext* context = nullptr;
  std::byte* buffer = nullptr;
  std::size_t capacity = 0;
  rma_message_info_t* info = nullptr;  ///< may be null
  MessageEnd end;

  // From the match on:
  int peer = -1;          ///< the source
  std::size_t bytes = 0;  ///< size of the message
  /// The receive waits for fragments, and has a claim on its end: whoever clears the flag ends it.
  bool fragmented = false;
  std::size_t wanted = 0;  ///< bytes that come in fragments
  std::size_t come = 0;    ///< bytes that have come
};

/// A send that was not over when it was issued.
struct SendOperation {
  explicit SendOperation(std::uint64_t own_name) : name(own_name) {}

  const std::uint64_t name;
  int peer = -1;
  Envelope envelope;
  const std::byte* data = nullptr;
  std::size_t bytes = 0;
  /// The operation can be ended by the peer, or because the peer is lost: whoever clears the flag, under the
  /// pool's lock, ends it.
  bool open = true;
  DeviceMemory memory;  ///< keeps the data registered while another host may read them
  MessageEnd end;

  // After the receiver has asked for fragments:
  std::uint64_t receiver = 0;  ///< the receiver's name for the operation
  std::size_t wanted = 0;
  std::size_t given = 0;
};

/// A message that arrived before its receive, with its data.
struct KeptMessage : UnexpectedMessage {
  MessageType type = MessageType::eager;
  MessageContext* context = nullptr;
  std::size_t bytes = 0;  ///< size of the message
  RendezvousHead rendezvous;
  RailKeys keys = {};                 ///< if rendezvous.form is keyed
  std::unique_ptr<std::byte[]> data;  // NOLINT(cppcoreguidelines-avoid-c-arrays): null without data
};

/// A message that a matched probe has taken out of the matching.
struct TakenMessage {
  explicit TakenMessage(std::uint64_t own_name) : name(own_name) {}

  const std::uint64_t name;
  std::unique_ptr<KeptMessage> kept;
};

}  // namespace rma
