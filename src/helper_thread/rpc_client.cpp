#include "helper_thread/rpc_client.hpp"

#include <algorithm>
#include <cstring>

#include "core/network/request_order.hpp"
#include "util/log.hpp"
#include "util/statistics.hpp"
#include "util/text.hpp"
#include "util/try.hpp"
#include "util/undo.hpp"

namespace librma {

RpcClient::RpcClient(PendingOperations& pending, Network* network, Channel& channel, Rails& rails,
                     std::size_t buffer_bytes, std::size_t buffers)
    : pending_(pending),
      network_(network),
      channel_(channel),
      most_in_message_(channel.max_body() - sizeof(RequestHeader)),
      most_in_reply_(channel.max_body() - sizeof(ReplyHeader)),
      rails_(rails),
      pool_bytes_(buffer_bytes),
      pool_count_(buffers) {
  channel.on_message(kReplyMessage, [this](const Message& message) { return receive(message); });
  channel.on_message(kDoneMessage, [this](const Message& message) { return receive_done(message); });
  channel.on_loss([this](int rank) { lost(rank); });
  // With a network, makes the buffers now, before the limit of locked memory is used up. Within one host,
  // where requests are rare, the first use makes them.
  if (network != nullptr) static_cast<void>(pool());
}

BouncePool* RpcClient::pool() const {
  std::call_once(made_pool_, [this] {
    // Peers must reach the buffers: a rank of this host may not be allowed to access any other memory.
    auto made = BouncePool::create(rails_, pool_bytes_, pool_count_, BouncePool::Writers::peers);
    if (made.ok()) {
      pool_ = std::move(made).value();
    } else {
      log(LogLevel::warn, "no buffers for requests to other ranks' helpers, which will be small: {}",
          made.status().text());
    }
  });
  return pool_.get();
}

std::size_t RpcClient::buffer_bytes() const { return has_buffers() ? pool_bytes_ : most_in_message_; }

std::byte* RpcClient::take_buffer(int rank) {
  std::byte* buffer = pool()->take();
  if (buffer == nullptr) {
    pending_.engine().wait_until(
        rank, [&] { return (buffer = pool()->take()) != nullptr || pool()->usable() == 0; });
  }
  return buffer;
}

bool RpcClient::open(RpcRequest& request, std::uint64_t& token) {
  const std::lock_guard guard(lock_);
  std::size_t& opened = opened_[request.rank];
  if (opened == kMostOpenRequests) return false;
  open_requests_.make([&](OpenRequest& made) {
    token = made.name;
    made.request = std::move(request);
    made.request.head = {};  // the caller's memory, not used after the sending
    made.request.tail = {};
  });
  ++opened;
  return true;
}

bool RpcClient::take(std::uint64_t token, int rank, RpcRequest& request) {
  const bool taken = open_requests_.end(token, [&](OpenRequest& open) {
    if (open.request.rank != rank) return false;
    request = std::move(open.request);
    return true;
  });
  if (!taken) return false;
  const std::lock_guard guard(lock_);
  --opened_[rank];
  return true;
}

void RpcClient::close(RpcRequest& request, rma_status_t status, std::span<const std::byte> body) {
  if (request.answered) status = request.answered(status, body);
  if (request.buffer != nullptr && status == RMA_ERR_PEER_LOST) {
    pool()->give_lost(request.buffer);
  } else if (request.buffer != nullptr) {
    pool()->give(request.buffer);
  }
  if (request.operation != RMA_REQUEST_NULL) return pending_.end(request.rank, request.operation, status);
  if (network_ != nullptr) network_->requests().request_ended(request.rank);
  pending_.end(request.rank, *request.context, status);
}

Status RpcClient::unsent(rma_status_t status, int rank) const {
  if (status == RMA_ERR_UNSUPPORTED) {
    return {status, text("rank {} has no registered memory for messages: raise its limit of locked "
                         "memory (ulimit -l)",
                         rank)};
  }
  if (!channel_.local(rank)) return {status, network_->explain(status, rank)};
  return {status,
          text("rank {} of this host takes no requests, because it has ended or is leaving the job", rank)};
}

Status RpcClient::reach(int rank, std::size_t* rail) {
  if (!channel_.local(rank)) {
    RMA_TRY(network_->requests().reach(rank, rail));
  }
  if (const rma_status_t status = channel_.open(rank, rail); status != RMA_SUCCESS)
    return unsent(status, rank);
  if (network_ != nullptr) network_->requests().settle(rank);
  return {};
}

Status RpcClient::ask(RpcRequest request) {
  const int rank = request.rank;
  std::size_t rail = 0;
  Undo unasked([&] {
    if (request.buffer != nullptr) pool()->give(request.buffer);
  });
  RMA_TRY(reach(rank, &rail));
  count(Counter::helper_request);
  RequestHeader header = {.kind = request.kind};
  header.reply_room = static_cast<std::uint32_t>(request.reply_room);
  header.unacknowledged = request.operation == RMA_REQUEST_NULL ? 1 : 0;
  header.body_bytes = static_cast<std::uint32_t>(request.head.size() + request.tail.size());
  if (request.buffer != nullptr) {
    const auto address = reinterpret_cast<std::uintptr_t>(request.buffer);
    const transport::Key key = pool()->registered().remote_key(rail);
    if (request.buffered_bytes > 0) {
      header.body_address = address;
      header.body_key = key;
      header.body_bytes = static_cast<std::uint32_t>(request.buffered_bytes);
    }
    header.reply_address = address;
    header.reply_key = key;
  }
  const std::span<const std::byte> tail = request.tail;
  // Header and head in one piece, made before the request is open: an open request is sent or closed.
  std::vector<std::byte> front(sizeof header + request.head.size());
  std::copy(request.head.begin(), request.head.end(), front.begin() + sizeof header);
  const rma_request_t operation = request.operation;
  CompletionContext& context = pending_.contexts().current();
  request.context = &context;
  const auto opened = [&] { return open(request, header.token); };
  if (!opened()) pending_.engine().wait_until(rank, opened);
  unasked.dismiss();
  std::memcpy(front.data(), &header, sizeof header);
  if (operation != RMA_REQUEST_NULL) {
    pending_.begin(rank, operation);
  } else {
    pending_.begin(rank, context);
    if (network_ != nullptr) network_->requests().request_begins(rank);
  }
  rma_status_t status = channel_.try_send(rank, rail, kRequestMessage, front, tail);
  if (status == RMA_ERR_STATE) {
    pending_.engine().wait_until(rank, [&] {
      status = channel_.try_send(rank, rail, kRequestMessage, front, tail);
      return status != RMA_ERR_STATE;
    });
  }
  if (status == RMA_SUCCESS) return {};
  RpcRequest failed;
  // If the request is not open any more, lost() has ended it.
  if (take(header.token, rank, failed)) close(failed, status, {});
  return unsent(status, rank);
}

bool RpcClient::receive(const Message& message) {
  ReplyHeader header;
  if (message.body.size() < sizeof header) return false;
  std::memcpy(&header, message.body.data(), sizeof header);
  std::span<const std::byte> body = message.body.subspan(sizeof header);
  RpcRequest request;
  if (!take(header.token, message.peer, request)) return false;
  bool good =
      header.bytes <= request.reply_room && header.status >= RMA_SUCCESS && header.status <= RMA_ERR_CANCELED;
  if (header.written != 0) {
    good = good && request.buffer != nullptr && header.bytes <= pool()->bytes();
    if (good) body = {request.buffer, header.bytes};
  } else {
    good = good && header.bytes == body.size();
  }
  if (good) {
    close(request, static_cast<rma_status_t>(header.status), body);
  } else {
    close(request, RMA_ERR_PEER_LOST, {});
  }
  return good;
}

bool RpcClient::receive_done(const Message& message) {
  std::span<const std::byte> tokens = message.body;
  if (tokens.empty() || tokens.size() % sizeof(std::uint64_t) != 0) return false;
  for (; !tokens.empty(); tokens = tokens.subspan(sizeof(std::uint64_t))) {
    std::uint64_t token = 0;
    std::memcpy(&token, tokens.data(), sizeof token);
    RpcRequest request;
    if (!take(token, message.peer, request)) return false;
    const bool good = request.operation == RMA_REQUEST_NULL;
    close(request, good ? RMA_SUCCESS : RMA_ERR_PEER_LOST, {});
    if (!good) return false;
  }
  return true;
}

void RpcClient::lost(int rank) {
  std::vector<std::uint64_t> tokens;
  open_requests_.see_all([&](const OpenRequest& open) {
    if (open.request.rank == rank) tokens.push_back(open.name);
  });
  for (const std::uint64_t token : tokens) {
    RpcRequest request;
    if (take(token, rank, request)) close(request, RMA_ERR_PEER_LOST, {});
  }
}

}  // namespace librma
