#include "transport/ofi/ofi_driver.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "util/log.hpp"

namespace librma::transport {

Status OfiDriver::open(const Objects& objects, HandshakeEnded handshake_ended) {
  objects_ = objects;
  handshake_ended_ = std::move(handshake_ended);
  call_ = Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  return call_.open() ? Status() : system_failure(RMA_ERR_SYSTEM, "eventfd", errno);
}

void OfiDriver::poll() {
  const Sleeper sleeper = sleeper_.load(std::memory_order_relaxed);
  if (sleeper == Sleeper::none) {
    polls_.store(polls_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  } else {
    sleeper_.store(sleeper == Sleeper::about ? Sleeper::asleep : Sleeper::none, std::memory_order_seq_cst);
  }
  drive();
  // The service thread does this otherwise.
  if (watched_.load(std::memory_order_acquire) &&
      service_.load(std::memory_order_relaxed) == Service::relies) {
    written_();
  }
}

void OfiDriver::call_service() {
  const std::uint64_t signals = 1;
  // The write fails only if the counter is full. The descriptor is readable then.
  [[maybe_unused]] const ssize_t written = write(call_.get(), &signals, sizeof signals);
}

void OfiDriver::drive() {
  {
    const std::unique_lock guard(queue_lock_, std::try_to_lock);
    if (!guard.owns_lock()) return;
    const auto table = memory_.keep_table();
    if (!table.owns_lock()) return;
    Entries entries;
    while (take_in(entries, fi_cq_read(objects_.queue, entries.data(), entries.size()))) {
    }
    end_failed();
    drives_.store(drives_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  if (!napping() || confirm_due_.load(std::memory_order_relaxed)) {
    confirm_due_.store(false, std::memory_order_relaxed);
    confirm_waiting();
  }
}

bool OfiDriver::take_in(const Entries& entries, ssize_t read) {
  if (read > 0 || read == -FI_EAVAIL) signaled_ = true;
  if (read == -FI_EAVAIL) {
    read_error();
    return true;
  }
  for (std::size_t i = 0; read > 0 && i < static_cast<std::size_t>(read); ++i) {
    // 1.17 reports operations without a context, which are its own.
    if (entries[i].op_context != nullptr) end(*static_cast<OfiOperation*>(entries[i].op_context), entries[i]);
  }
  // The last messages of a peer that has ended are taken in before the failures of sends to it.
  return read == static_cast<ssize_t>(entries.size()) || (read > 0 && failed_ != nullptr);
}

void OfiDriver::read_error() {
  fi_cq_err_entry error = {};
  if (fi_cq_readerr(objects_.queue, &error, 0) != 1 || error.op_context == nullptr) return;
  auto* const operation = static_cast<OfiOperation*>(error.op_context);
  const OfiPurpose ended = operation->purpose;
  if (ended.kind == OfiKind::buffer) {
    // A connection has ended in the middle of a message, or the message was too long: nobody's loss.
    operations_.give(operation);
    post_again(ended);
    return;
  }
  if (ended.peer != nullptr) {
    if (!ended.peer->failed.load(std::memory_order_relaxed)) {
      log(LogLevel::info, "{}: the connection to rank {} failed: {}", name_, ended.peer->rank,
          fabric_failure(RMA_ERR_PEER_LOST, "libfabric", error.err).text());
    }
    operation->next = std::exchange(failed_, operation);
    return;
  }
  operations_.give(operation);
  handshake_ended_(ended.memory, 0);
}

void OfiDriver::end_failed() {
  while (failed_ != nullptr) {
    OfiOperation* const operation = std::exchange(failed_, failed_->next);
    const OfiPurpose ended = operation->purpose;
    fail(*ended.peer);  // before uncount(), which completes what rides on this operation
    uncount(ended);
    operations_.give(operation);
  }
}

void OfiDriver::end(OfiOperation& operation, const fi_cq_msg_entry& entry) {
  const OfiPurpose ended = operation.purpose;
  if (ended.peer == nullptr) {
    operations_.give(&operation);
    end_receive(ended, entry);
    return;
  }
  const bool told = operations_.give(&operation);
  if (!told && ended.report) {
    lane_of(ended.kind)
        .push({.cookie = ended.cookie,
               .peer = ended.peer->rank,
               .status = RMA_SUCCESS,
               .bytes = static_cast<std::uint32_t>(entry.len)},
              ended.kind != OfiKind::message);
  } else if (!told) {
    lane_of(ended.kind).expect_no_more();
  }
  uncount(ended);
}

void OfiDriver::end_receive(const OfiPurpose& ended, const fi_cq_msg_entry& entry) {
  if (ended.kind != OfiKind::buffer) {
    return handshake_ended_(ended.memory, ended.kind == OfiKind::hello_awaited ? entry.len : 0);
  }
  std::uint64_t mark = 0;
  const bool marked = entry.len >= sizeof mark;
  const std::size_t bytes = marked ? entry.len - sizeof mark : 0;
  if (marked) std::memcpy(&mark, ended.memory.address + bytes, sizeof mark);
  OfiPeer* const sender = marked ? sender_(mark & ~kSolicited) : nullptr;
  if (sender == nullptr) return post_again(ended);  // a stranger's
  lanes_.messages.push({.cookie = ended.cookie,
                        .peer = sender->rank,
                        .status = RMA_SUCCESS,
                        .bytes = static_cast<std::uint32_t>(bytes)},
                       (mark & kSolicited) != 0);
}

long OfiDriver::post_buffer(const Local& buffer, Cookie cookie) {
  if (!lanes_.messages.expect()) return -FI_ENOMEM;
  const OfiPurpose wanted = {
      .kind = OfiKind::buffer, .report = true, .peer = nullptr, .cookie = cookie, .memory = buffer};
  const long error = post_free(wanted, [&](void* context) {
    return fi_recv(objects_.endpoint, buffer.address, buffer.bytes, memory_.descriptor(buffer.key),
                   FI_ADDR_UNSPEC, context);
  });
  if (error != 0) lanes_.messages.expect_no_more();
  return error;
}

void OfiDriver::post_again(const OfiPurpose& ended) {
  lanes_.messages.expect_no_more();
  // It takes the place and the operation that the buffer had before.
  static_cast<void>(post_buffer(ended.memory, ended.cookie));
}

OfiOperation* OfiDriver::take(OfiPurpose& purpose) {
  OfiLane& lane = lane_of(purpose.kind);
  if (!lane.expect()) return nullptr;
  if (purpose.kind == OfiKind::data) {
    const auto number = purpose.peer->order.add();
    if (!number) {
      lane.expect_no_more();
      return nullptr;
    }
    purpose.number = *number;
  }
  OfiOperation* const operation = operations_.take(purpose);
  if (operation != nullptr) return operation;
  lane.expect_no_more();
  if (purpose.kind == OfiKind::data) end_in_order(purpose);
  return nullptr;
}

rma_status_t OfiDriver::refuse(const OfiPurpose& purpose) {
  OfiPeer& peer = *purpose.peer;
  peer.count(purpose.kind).fetch_sub(1, std::memory_order_relaxed);
  if (purpose.confirms) end_confirmation(peer);
  return peer.failed.load(std::memory_order_relaxed) ? RMA_ERR_PEER_LOST : RMA_ERR_STATE;
}

rma_status_t OfiDriver::withdraw(const OfiPurpose& purpose, OfiOperation* operation, long error) {
  OfiPeer& peer = *purpose.peer;
  const bool again = error == -FI_EAGAIN && !refused_for_long(peer);
  if (!again) {
    log(LogLevel::info, "{}: rank {}: {}", name_, peer.rank,
        fabric_failure(RMA_ERR_PEER_LOST, "posting", error).text());
    fail(peer);
  }
  uncount(purpose);
  // If the peer was given up meanwhile, the operation has been reported, and the poster hears of it once.
  if (operations_.give(operation)) return RMA_SUCCESS;
  lane_of(purpose.kind).expect_no_more();
  return again ? RMA_ERR_STATE : RMA_ERR_PEER_LOST;
}

bool OfiDriver::refused_for_long(OfiPeer& peer) const {
  const std::int64_t now = std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
  std::int64_t since = 0;
  if (peer.refused_since.compare_exchange_strong(since, now, std::memory_order_relaxed)) return false;
  return now - since > objects_.timeout / std::chrono::nanoseconds(1);
}

void OfiDriver::confirm(OfiPeer& peer) {
  if (peer.failed.load(std::memory_order_relaxed) || !peer.unconfirmed.load(std::memory_order_seq_cst) ||
      peer.confirming.exchange(true, std::memory_order_seq_cst)) {
    return;
  }
  // Messages that are counted here are posted already, so the write below follows them.
  peer.unconfirmed.store(false, std::memory_order_seq_cst);
  peer.count(OfiKind::message).fetch_add(1, std::memory_order_relaxed);
  OfiPurpose purpose = {.kind = OfiKind::message,
                        .report = false,
                        .peer = &peer,
                        .cookie = 0,
                        .memory = {},
                        .number = 0,
                        .confirms = true};
  OfiOperation* const operation = take(purpose);
  if (operation == nullptr) {
    peer.unconfirmed.store(true, std::memory_order_seq_cst);  // so refuse() puts the peer on the list
    static_cast<void>(refuse(purpose));
    return;
  }
  const fi_rma_iov target = {.addr = memory_.place(peer.empty), .len = 0, .key = peer.empty.key};
  // The providers sockets and ofi_rxd read msg_iov[0] even if iov_count is 0.
  const iovec no_piece = {};
  void* no_descriptor = nullptr;
  const fi_msg_rma message = {.msg_iov = &no_piece,
                              .desc = &no_descriptor,
                              .iov_count = 0,
                              .addr = peer.address,
                              .rma_iov = &target,
                              .rma_iov_count = 1,
                              .context = &operation->context,
                              .data = 0};
  const long error = fi_writemsg(objects_.endpoint, &message, FI_COMPLETION | FI_DELIVERY_COMPLETE);
  if (error == 0) return peer.refused_since.store(0, std::memory_order_relaxed);
  peer.unconfirmed.store(true, std::memory_order_seq_cst);  // as above
  static_cast<void>(withdraw(purpose, operation, error));
}

void OfiDriver::add_unconfirmed(OfiPeer& peer) {
  peer.unconfirmed.store(true, std::memory_order_seq_cst);  // pairs with the load in end_confirmation()
  if (napping()) {
    confirm_later(peer);
    // Pairs with the store in prepare() and rely().
    if (service_.load(std::memory_order_seq_cst) == Service::naps) return;
  }
  confirm(peer);
}

void OfiDriver::confirm_later(OfiPeer& peer) {
  // Pairs with the store in confirm_waiting(), which looks for unconfirmed messages after it.
  if (peer.awaits_confirmation.exchange(true, std::memory_order_seq_cst)) return;
  peer.next_to_confirm = to_confirm_.load(std::memory_order_relaxed);
  // Releases next_to_confirm to the thread that takes the list. Pairs with the load in prepare(), too.
  while (!to_confirm_.compare_exchange_weak(peer.next_to_confirm, &peer, std::memory_order_seq_cst,
                                            std::memory_order_relaxed)) {
  }
}

void OfiDriver::confirm_waiting() {
  if (to_confirm_.load(std::memory_order_relaxed) == nullptr) return;
  // Acquire pairs with the exchange in confirm_later().
  OfiPeer* next = to_confirm_.exchange(nullptr, std::memory_order_acquire);
  while (next != nullptr) {
    OfiPeer& peer = *std::exchange(next, next->next_to_confirm);
    // From here on another thread may put the peer on the list.
    peer.awaits_confirmation.store(false, std::memory_order_seq_cst);
    confirm(peer);
  }
}

void OfiDriver::end_confirmation(OfiPeer& peer) {
  peer.confirming.store(false, std::memory_order_seq_cst);
  // Either this sees the message that add_unconfirmed() counts, or that sees that no confirmation is under
  // way.
  if (peer.unconfirmed.load(std::memory_order_seq_cst)) confirm_later(peer);
}

void OfiDriver::uncount(const OfiPurpose& purpose) {
  OfiPeer& peer = *purpose.peer;
  peer.count(purpose.kind).fetch_sub(1, std::memory_order_relaxed);
  if (purpose.confirms) end_confirmation(peer);
  if (purpose.kind == OfiKind::data) end_in_order(purpose);
}

void OfiDriver::end_in_order(const OfiPurpose& purpose) {
  OfiPeer& peer = *purpose.peer;
  peer.order.end(purpose.number, [&](Cookie cookie) {
    lanes_.data.push({.cookie = cookie, .peer = peer.rank, .status = RMA_SUCCESS, .bytes = 0}, true);
  });
}

bool OfiDriver::ride(OfiPeer& peer, Cookie cookie) {
  if (!lanes_.data.expect()) return false;
  if (peer.order.ride(cookie)) return true;
  lanes_.data.expect_no_more();
  return false;
}

void OfiDriver::fail(OfiPeer& peer) {
  const auto lost = [&](OfiLane& lane, Cookie cookie) {
    lane.push({.cookie = cookie, .peer = peer.rank, .status = RMA_ERR_PEER_LOST, .bytes = 0}, true);
  };
  operations_.fail(peer, [&](OfiOperation& operation) {
    if (operation.purpose.kind == OfiKind::scatter) {
      static_cast<void>(fi_cancel(&objects_.endpoint->fid, &operation.context));
    }
    lost(lane_of(operation.purpose.kind), operation.purpose.cookie);
  });
  peer.order.fail([&](Cookie cookie) { lost(lanes_.data, cookie); });
}

}  // namespace librma::transport
