#include "messages/rendezvous/shared_copy.hpp"

#include <algorithm>
#include <utility>

#include "util/clock.hpp"
#include "util/round.hpp"
#include "util/statistics.hpp"
#include "util/take_head.hpp"

namespace librma {
namespace {

// Shorter pieces than the first number would cost more in system calls than they gain, and longer ones than
// the second gain nothing: each process waits for the other's last piece.
constexpr std::size_t kShortestPiece = std::size_t{32} << 10U;
constexpr std::size_t kLongestPiece = std::size_t{128} << 10U;
static_assert(2 * kShortestPiece <= SharingTrials::kLeast);
constexpr std::size_t kPieces = 4;
/// A sender that sleeps is woken for messages of at least this size. Copying shorter ones takes no longer
/// than waking.
constexpr std::size_t kWorthWaking = std::size_t{256} << 10U;
constexpr std::size_t kPage = ShareHead::kPage;

std::size_t piece_of(std::size_t bytes) {
  // Beyond 2^15 pieces the pieces grow, so that their number fits.
  const std::size_t least = std::max(kShortestPiece, bytes >> 15U);
  return round_up(std::max(std::min(bytes / kPieces, kLongestPiece), least), kPage);
}

}  // namespace

bool SharedCopy::receive(ReceiveOperation& receive, std::uint64_t sender, std::uintptr_t from) {
  const int rank = receive.peer;
  const std::size_t bytes = receive.wanted();
  if (bytes < std::max(options_.least, SharingTrials::kLeast) || !options_.polls ||
      (bytes < kWorthWaking && outbox_.sleeps(rank))) {
    return false;
  }
  Inbox::Ring* const ring = inbox_.of(rank);
  // Acquire: pairs with the release below. One message at a time uses the claims.
  if (ring == nullptr || ring->sharing.exchange(true, std::memory_order_acquire)) return false;
  const bool both_send = outbox_.sends_to(rank);
  if (both_send) ring->help.copy_alone();
  if (both_send || !ring->trials.shares(bytes, monotonic_nanoseconds()) || !ring->help.asks()) {
    ring->sharing.store(false, std::memory_order_release);
    return false;
  }
  const std::size_t piece = piece_of(bytes);
  const ShareHead request = {.sender = sender,
                             .receiver = receive.name,
                             .address = reinterpret_cast<std::uintptr_t>(receive.data.address),
                             .bytes = bytes,
                             .transfer = ++ring->transfers,
                             .pages = static_cast<std::uint32_t>(piece / kPage)};
  static_cast<void>(operations_.receives().with(request.receiver, [&](ReceiveOperation& operation) {
    operation.pieces_left = request.pieces();
    operation.sender = sender;
    return true;
  }));
  ring->receiver.claims().open(request.transfer);
  outbox_.control(rank, MessageType::share, request);
  rma_status_t status = RMA_SUCCESS;
  const std::uint32_t read = read_pieces(receive, request, from, ring->receiver.claims(), &status);
  ring->help.asked(read < request.pieces());
  ring->sharing.store(false, std::memory_order_release);
  bool over = false;
  static_cast<void>(operations_.receives().with(request.receiver, [&](ReceiveOperation& operation) {
    // A sender that claims to have written what this process has read never ends the receive, until it is
    // lost.
    over = read == operation.pieces_left;
    operation.pieces_left -= std::min(read, operation.pieces_left);
    operation.shared = !over;
    if (status != RMA_SUCCESS) operation.shared_status = status;
    status = operation.shared_status;
    return true;
  }));
  count(read == request.pieces() ? Counter::receive_cma : Counter::receive_shared);
  if (over) {
    answers_.finish(receive, sender, status);
  } else if (outbox_.lost(rank)) {
    lose(rank);
  }
  return true;
}

std::uint32_t SharedCopy::read_pieces(const ReceiveOperation& receive, const ShareHead& request,
                                      std::uintptr_t from, PieceClaims& claims, rma_status_t* status) {
  std::uint32_t read = 0;
  while (read < request.pieces()) {
    const auto piece = claims.take(request.transfer, request.pieces(), PieceClaims::End::front);
    if (!piece) break;
    ++read;
    const auto [begin, bytes] = request.piece(*piece);
    if (*status == RMA_SUCCESS) {
      *status = memory_.read(receive.peer, from + begin, {receive.data.address + begin, bytes});
    }
  }
  return read;
}

void SharedCopy::help(int rank, const ShareHead& request) {
  if (!remote_access_.permitted(rank)) return;
  const std::byte* data = nullptr;
  static_cast<void>(outbox_.with_send(rank, request.sender, [&](SendOperation& send) {
    if (!send.awaits_answer() || send.sharing || !send.data.contiguous() || request.bytes > send.data.bytes) {
      return false;
    }
    send.sharing = true;  // so lose() leaves it to this thread
    data = send.data.address;
    return true;
  }));
  if (data == nullptr) return;
  PieceClaims* const claims = outbox_.claims(rank);
  HelpedHead helped = {.receiver = request.receiver, .pieces = 0, .status = RMA_SUCCESS};
  while (helped.pieces < request.pieces()) {
    const auto piece = claims->take(request.transfer, request.pieces(), PieceClaims::End::back);
    if (!piece) break;
    ++helped.pieces;
    const auto [begin, bytes] = request.piece(*piece);
    if (helped.status == RMA_SUCCESS) {
      helped.status =
          memory_.write(rank, static_cast<std::uintptr_t>(request.address) + begin, {data + begin, bytes});
    }
  }
  if (helped.pieces != 0) outbox_.control(rank, MessageType::helped, helped);
  // lose() may have left the send to this thread.
  const auto left = outbox_.take_send(rank, request.sender, [&](SendOperation& send) {
    send.sharing = false;
    return outbox_.lost(rank);
  });
  if (left) operations_.end(*left, RMA_ERR_PEER_LOST);
}

bool SharedCopy::take_in_helped(const Arrival& arrival) {
  std::span<const std::byte> body = arrival.body;
  const auto head = take_head<HelpedHead>(body);
  if (!head || head->status < RMA_SUCCESS || head->status > RMA_ERR_CANCELED) return false;
  ReceiveOperation* complete = nullptr;
  const bool honest = operations_.receives().with(head->receiver, [&](ReceiveOperation& receive) {
    if (receive.peer != arrival.source || head->pieces == 0 || head->pieces > receive.pieces_left)
      return false;
    receive.pieces_left -= static_cast<std::uint32_t>(head->pieces);
    if (head->status != RMA_SUCCESS) receive.shared_status = static_cast<rma_status_t>(head->status);
    if (receive.pieces_left == 0 && std::exchange(receive.shared, false)) complete = &receive;
    return true;
  });
  if (complete != nullptr) answers_.finish(*complete, complete->sender, complete->shared_status);
  return honest;
}

void SharedCopy::lose(int rank) {
  operations_.receives().each(
      [&](ReceiveOperation& receive) { return receive.peer == rank && std::exchange(receive.shared, false); },
      [&](ReceiveOperation& receive) { operations_.end(receive, RMA_ERR_PEER_LOST); });
}

}  // namespace librma
