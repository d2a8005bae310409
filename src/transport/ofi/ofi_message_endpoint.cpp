#include "transport/ofi/ofi_message_endpoint.hpp"

#include <array>

namespace librma::transport {
namespace {

constexpr std::size_t kMessagePieces = 2;  ///< most pieces of a message

/// The pieces of an operation in libfabric's form.
struct FabricPieces {
  static constexpr std::size_t kMost = 16;

  FabricPieces(std::span<const Local> pieces, const OfiMemory& memory) {
    for (const Local& piece : pieces) add(piece, memory);
  }
  void add(const Local& piece, const OfiMemory& memory) {
    places[count] = {.iov_base = piece.address, .iov_len = piece.bytes};
    descriptors[count] = memory.descriptor(piece.key);
    bytes += piece.bytes;
    ++count;
  }

  std::array<iovec, kMost> places;
  std::array<void*, kMost> descriptors;
  std::size_t count = 0;
  std::size_t bytes = 0;
};

}  // namespace

rma_status_t OfiTransfers::post(OfiPeer& peer, OfiKind kind, const Work& work, std::uint32_t most) {
  FabricPieces pieces(work.pieces, memory_);
  const Remote remote = pieces.bytes == 0 ? peer.empty : work.remote;
  const fi_rma_iov target = {.addr = memory_.place(remote), .len = pieces.bytes, .key = remote.key};
  const bool writes = work.direction == Direction::write;
  std::uint64_t flags = FI_COMPLETION;
  if (writes) flags |= FI_DELIVERY_COMPLETE | (work.flags.inline_data ? FI_INJECT : 0);
  const OfiPurpose purpose = {
      .kind = kind, .report = !work.flags.unsignaled, .peer = &peer, .cookie = work.cookie, .memory = {}};
  return driver_.post(purpose, most, [&](void* context) {
    const fi_msg_rma message = {.msg_iov = pieces.places.data(),
                                .desc = pieces.descriptors.data(),
                                .iov_count = pieces.count,
                                .addr = peer.address,
                                .rma_iov = &target,
                                .rma_iov_count = 1,
                                .context = context,
                                .data = 0};
    return writes ? fi_writemsg(endpoint_, &message, flags) : fi_readmsg(endpoint_, &message, flags);
  });
}

void OfiMessageEndpoint::open(fid_ep* endpoint, const Limits& limits) {
  endpoint_ = endpoint;
  limits_ = limits;
  transfers_.open(endpoint);
}

rma_status_t OfiMessageEndpoint::post_message(int peer, std::span<const Local> pieces, Cookie cookie,
                                              PostFlags flags) {
  if (pieces.size() > kMessagePieces || pieces.size() >= limits_.gather) return RMA_ERR_ARGUMENT;
  OfiPeer* const to = peers_(peer);
  if (to == nullptr) return RMA_ERR_PEER_LOST;
  FabricPieces list(pieces, memory_);
  list.add(to->trailers[flags.solicited ? 1 : 0], memory_);
  const bool confirms = driver_.confirms_next(*to);
  const OfiPurpose purpose = {.kind = OfiKind::message,
                              .report = !flags.unsignaled,
                              .peer = to,
                              .cookie = cookie,
                              .memory = {},
                              .number = 0,
                              .confirms = confirms};
  const rma_status_t status = driver_.post(purpose, limits_.messages, [&](void* context) {
    const fi_msg message = {.msg_iov = list.places.data(),
                            .desc = list.descriptors.data(),
                            .iov_count = list.count,
                            .addr = to->address,
                            .context = context,
                            .data = 0};
    return fi_sendmsg(
        endpoint_, &message,
        FI_COMPLETION | (confirms ? FI_DELIVERY_COMPLETE : 0) | (flags.inline_data ? FI_INJECT : 0));
  });
  if (status == RMA_SUCCESS && !confirms) driver_.add_unconfirmed(*to);
  return status;
}

rma_status_t OfiMessageEndpoint::post_message_write(int peer, Remote to, Local piece, Cookie cookie,
                                                    PostFlags flags) {
  OfiPeer* const target = peers_(peer);
  if (target == nullptr) return RMA_ERR_PEER_LOST;
  const Work work = {
      .direction = Direction::write, .remote = to, .pieces = {&piece, 1}, .cookie = cookie, .flags = flags};
  return transfers_.post(*target, OfiKind::message, work, limits_.messages);
}

rma_status_t OfiMessageEndpoint::post_buffer(Local buffer, Cookie cookie) {
  const long error = driver_.post_buffer(buffer, cookie);
  if (error == 0) return RMA_SUCCESS;
  return error == -FI_EAGAIN ? RMA_ERR_STATE : RMA_ERR_SYSTEM;
}

std::uint32_t OfiMessageEndpoint::buffers_of(int peer) {
  const OfiPeer* const of = peers_(peer);
  return of != nullptr ? of->buffers : 0;
}

std::uint32_t OfiMessageEndpoint::gather_of(int peer) {
  const OfiPeer* const of = peers_(peer);
  return of != nullptr ? of->gather : 0;
}

rma_status_t OfiMessageEndpoint::post_transfer(int peer, const Work& work) {
  if (work.pieces.size() > limits_.gather) return RMA_ERR_ARGUMENT;
  OfiPeer* const target = peers_(peer);
  if (target == nullptr) return RMA_ERR_PEER_LOST;
  return transfers_.post(*target, OfiKind::transfer, work, limits_.transfers);
}

rma_status_t OfiMessageEndpoint::post_gather(int peer, std::span<const Local> pieces, Cookie cookie,
                                             PostFlags flags) {
  if (pieces.size() > limits_.gather) return RMA_ERR_ARGUMENT;
  OfiPeer* const to = peers_(peer);
  if (to == nullptr) return RMA_ERR_PEER_LOST;
  FabricPieces list(pieces, memory_);
  const OfiPurpose purpose = {
      .kind = OfiKind::transfer, .report = !flags.unsignaled, .peer = to, .cookie = cookie, .memory = {}};
  return driver_.post(purpose, limits_.transfers, [&](void* context) {
    const fi_msg_tagged message = {.msg_iov = list.places.data(),
                                   .desc = list.descriptors.data(),
                                   .iov_count = list.count,
                                   .addr = to->address,
                                   .tag = to->mark,
                                   .ignore = 0,
                                   .context = context,
                                   .data = 0};
    return fi_tsendmsg(endpoint_, &message, FI_COMPLETION | FI_DELIVERY_COMPLETE);
  });
}

rma_status_t OfiMessageEndpoint::post_scatter(int peer, std::span<const Local> pieces, Cookie cookie) {
  if (pieces.size() > limits_.gather) return RMA_ERR_ARGUMENT;
  OfiPeer* const from = peers_(peer);
  if (from == nullptr) return RMA_ERR_PEER_LOST;
  FabricPieces list(pieces, memory_);
  const OfiPurpose purpose = {
      .kind = OfiKind::scatter, .report = true, .peer = from, .cookie = cookie, .memory = {}};
  return driver_.post(purpose, limits_.scatters, [&](void* context) {
    const fi_msg_tagged message = {.msg_iov = list.places.data(),
                                   .desc = list.descriptors.data(),
                                   .iov_count = list.count,
                                   .addr = FI_ADDR_UNSPEC,
                                   .tag = mark_of(from->ticket, from->rank),
                                   .ignore = 0,
                                   .context = context,
                                   .data = 0};
    return fi_trecvmsg(endpoint_, &message, FI_COMPLETION);
  });
}

std::size_t OfiMessageEndpoint::poll(std::span<Completion> completions) {
  // A thread that waits polls the transfers just before, which drives the provider for both. To ask it is a
  // system call.
  if (seen_drives_.load(std::memory_order_relaxed) == driver_.drives()) driver_.drive();
  seen_drives_.store(driver_.drives(), std::memory_order_relaxed);
  return lane_.take(completions);
}

bool OfiMessageEndpoint::arm(Events events) { return lane_.arm(events); }

}  // namespace librma::transport
