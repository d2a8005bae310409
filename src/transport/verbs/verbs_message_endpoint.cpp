#include "transport/verbs/verbs_message_endpoint.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "util/log.hpp"
#include "util/try_assign.hpp"

namespace librma::transport {
namespace {

// These are one less than powers of two. Some devices keep one slot free and round up to a power of two, and
// would otherwise need twice the memory.
constexpr std::uint32_t kMessages = 31;
constexpr std::uint32_t kTransfers = 15;
constexpr std::uint32_t kMostGather = 32;  ///< pieces of a transfer; each costs memory in every slot
                                           ///< of the queue
constexpr std::uint32_t kMessageGather = 2;
/// Marks the ids of receives. The id of a request never has this bit, because a queue's number is below 2^31.
constexpr std::uint64_t kReceive = std::uint64_t{1} << 63U;

}  // namespace

rma_status_t status_of(ibv_wc_status status) {
  switch (status) {
    case IBV_WC_SUCCESS:
      return RMA_SUCCESS;
    case IBV_WC_REM_ACCESS_ERR:
    case IBV_WC_REM_INV_REQ_ERR:
      return RMA_ERR_ADDRESS;
    case IBV_WC_LOC_PROT_ERR:
    case IBV_WC_LOC_LEN_ERR:
    case IBV_WC_LOC_QP_OP_ERR:
      return RMA_ERR_SYSTEM;
    default:
      return RMA_ERR_PEER_LOST;
  }
}

Result<EventChannel> make_channel(ibv_context* context) {
  EventChannel channel(ibv_create_comp_channel(context));
  if (channel == nullptr) return system_failure(RMA_ERR_NO_MEMORY, "making a completion channel", errno);
  // Several threads take events off the channel. None of them may block for an event that another has taken.
  if (fcntl(channel->fd, F_SETFL, O_NONBLOCK) != 0) return system_failure(RMA_ERR_SYSTEM, "fcntl", errno);
  return channel;
}

void rearm(const EventChannel& channel, ibv_cq* queue, bool solicited_only) {
  ibv_cq* which = nullptr;
  void* context = nullptr;
  while (ibv_get_cq_event(channel.get(), &which, &context) == 0) ibv_ack_cq_events(which, 1);
  static_cast<void>(ibv_req_notify_cq(queue, solicited_only ? 1 : 0));
}

EndedRequest end_request(const VerbsMessageEndpoint::Connections& connections, const std::string& name,
                         const ibv_wc& work) {
  const RequestId id = RequestId::decode(work.wr_id);
  const int peer = static_cast<int>(id.queue / Connection::kQueues);
  Connection& connection = *connections(peer);
  SendQueue& queue = connection.queue(id.queue % Connection::kQueues);
  const bool good = work.status == IBV_WC_SUCCESS;
  if (!good && !queue.failed()) {
    log(LogLevel::info, "{}: the connection to rank {} failed: {}", name, peer,
        ibv_wc_status_str(work.status));
    connection.fail();
  }
  const SendQueue::Ended over = queue.retire(id.number, good);
  return {.completion = {.cookie = over.cookie, .peer = peer, .status = status_of(work.status), .bytes = 0},
          .report = over.report,
          .queue = id.queue % Connection::kQueues,
          .requests = over.requests};
}

Status VerbsMessageEndpoint::create(ibv_context* context, ibv_pd* domain, const ibv_device_attr& device,
                                    const Options& options) {
  RMA_TRY_ASSIGN(channel, make_channel(context));
  channel_ = std::move(channel);
  const std::uint32_t buffers =
      std::min(std::max(options.buffers, 1U), static_cast<std::uint32_t>(device.max_srq_wr));
  const std::uint32_t entries =
      std::min(options.completions + buffers, static_cast<std::uint32_t>(device.max_cqe));
  if (entries <= buffers) return {RMA_ERR_NO_MEMORY, "the device's completion queues are too short"};
  completions_.reset(ibv_create_cq(context, static_cast<int>(entries), nullptr, channel_.get(), 0));
  if (completions_ == nullptr) {
    return system_failure(RMA_ERR_NO_MEMORY, "making a completion queue", errno);
  }
  ibv_srq_init_attr receives = {};
  receives.attr.max_sge = 1;
  receives.attr.max_wr = buffers;
  buffers_.reset(ibv_create_srq(domain, &receives));
  if (buffers_ == nullptr) {
    return system_failure(RMA_ERR_NO_MEMORY, "making a shared receive queue", errno);
  }
  credits_ = std::make_unique<Credits>(entries - buffers);
  const auto depth = static_cast<std::uint32_t>(device.max_qp_wr);
  message_options_ = {.depth = std::min(kMessages, depth),
                      .gather = kMessageGather,
                      .inline_bytes = options.inline_bytes,
                      .scatters = 0};
  transfer_options_ = {.depth = std::min(kTransfers, depth),
                       .gather = std::min(kMostGather, static_cast<std::uint32_t>(device.max_sge)),
                       .inline_bytes = 0,
                       .scatters = std::min(kTransfers, depth)};
  limits_ = {.gather = transfer_options_.gather,
             .max_inline = options.inline_bytes,
             .messages = message_options_.depth,
             .transfers = transfer_options_.depth,
             .scatters = transfer_options_.scatters,
             .max_message = options.max_message};
  return {};
}

void VerbsMessageEndpoint::describe(ConnectionParts& parts) const {
  parts.lane_completions = completions_.get();
  parts.message_buffers = buffers_.get();
  parts.message_options = message_options_;
  parts.transfer_options = transfer_options_;
}

void VerbsMessageEndpoint::admit(int peer, Endpoint& end) {
  {
    const std::lock_guard guard(owners_lock_);
    const std::uint32_t first = Connection::kQueues * static_cast<std::uint32_t>(peer);
    owners_[end.message_queue_pair] = first + Connection::kMessages;
    owners_[end.transfer_queue_pair] = first + Connection::kTransfers;
  }
  end.buffers = static_cast<std::uint16_t>(source_ ? source_(peer) : 0);
  end.gather = static_cast<std::uint16_t>(limits_.gather);
}

rma_status_t VerbsMessageEndpoint::post_message(int peer, std::span<const Local> pieces, Cookie cookie,
                                                PostFlags flags) {
  if (pieces.size() > kMessageGather) return RMA_ERR_ARGUMENT;
  Connection* const connection = connections_(peer);
  return connection != nullptr ? connection->messages().post_send(pieces, cookie, flags) : RMA_ERR_PEER_LOST;
}

rma_status_t VerbsMessageEndpoint::post_message_write(int peer, Remote to, Local piece, Cookie cookie,
                                                      PostFlags flags) {
  Connection* const connection = connections_(peer);
  if (connection == nullptr) return RMA_ERR_PEER_LOST;
  const Work work = {
      .direction = Direction::write, .remote = to, .pieces = {&piece, 1}, .cookie = cookie, .flags = flags};
  std::size_t posted = 0;
  return connection->messages().post({&work, 1}, &posted);
}

rma_status_t VerbsMessageEndpoint::post_buffer(Local buffer, Cookie cookie) {
  ibv_sge piece = {.addr = reinterpret_cast<std::uintptr_t>(buffer.address),
                   .length = static_cast<std::uint32_t>(buffer.bytes),
                   .lkey = static_cast<std::uint32_t>(buffer.key)};
  ibv_recv_wr request = {.wr_id = cookie | kReceive, .next = nullptr, .sg_list = &piece, .num_sge = 1};
  ibv_recv_wr* refused = nullptr;
  const int error = ibv_post_srq_recv(buffers_.get(), &request, &refused);
  if (error == 0) return RMA_SUCCESS;
  return error == ENOMEM ? RMA_ERR_STATE : RMA_ERR_SYSTEM;
}

std::uint32_t VerbsMessageEndpoint::buffers_of(int peer) {
  const Connection* const connection = connections_(peer);
  return connection != nullptr ? connection->buffers() : 0;
}

std::uint32_t VerbsMessageEndpoint::gather_of(int peer) {
  const Connection* const connection = connections_(peer);
  return connection != nullptr ? connection->gather() : 0;
}

template <typename Post>
rma_status_t VerbsMessageEndpoint::move(int peer, const Post& post) {
  Connection* const connection = connections_(peer);
  if (connection == nullptr) return RMA_ERR_PEER_LOST;
  expect_event();
  const rma_status_t status = post(connection->transfers());
  if (status != RMA_SUCCESS) moving_.fetch_sub(1, std::memory_order_relaxed);
  return status;
}

rma_status_t VerbsMessageEndpoint::post_transfer(int peer, const Work& work) {
  if (work.pieces.size() > transfer_options_.gather) return RMA_ERR_ARGUMENT;
  return move(peer, [&](SendQueue& transfers) {
    std::size_t posted = 0;
    return transfers.post({&work, 1}, &posted);
  });
}

rma_status_t VerbsMessageEndpoint::post_gather(int peer, std::span<const Local> pieces, Cookie cookie,
                                               PostFlags flags) {
  if (pieces.size() > transfer_options_.gather) return RMA_ERR_ARGUMENT;
  flags.solicited = true;
  return move(peer, [&](SendQueue& transfers) { return transfers.post_send(pieces, cookie, flags); });
}

rma_status_t VerbsMessageEndpoint::post_scatter(int peer, std::span<const Local> pieces, Cookie cookie) {
  if (pieces.size() > transfer_options_.gather) return RMA_ERR_ARGUMENT;
  return move(peer, [&](SendQueue& transfers) { return transfers.post_scatter(pieces, cookie | kReceive); });
}

int VerbsMessageEndpoint::owner(std::uint32_t queue_pair, bool* scatter) {
  const std::lock_guard guard(owners_lock_);
  const auto found = owners_.find(queue_pair);
  if (found == owners_.end()) return -1;
  *scatter = found->second % Connection::kQueues == Connection::kTransfers;
  return static_cast<int>(found->second / Connection::kQueues);
}

std::size_t VerbsMessageEndpoint::poll(std::span<Completion> completions) {
  std::array<ibv_wc, 32> works;
  const auto most = static_cast<int>(std::min(works.size(), completions.size()));
  const int found = ibv_poll_cq(completions_.get(), most, works.data());
  std::size_t filled = 0;
  for (int i = 0; i < found; ++i) {
    const ibv_wc& work = works[static_cast<std::size_t>(i)];
    // The opcode of an error completion is not valid, so the id must tell the kind.
    if ((work.wr_id & kReceive) != 0) {
      bool scatter = false;
      const int peer = owner(work.qp_num, &scatter);
      if (scatter) {
        connections_(peer)->transfers().retire_scatter();
        moving_.fetch_sub(1, std::memory_order_relaxed);
      }
      completions[filled++] = {.cookie = work.wr_id & ~kReceive,
                               .peer = peer,
                               .status = status_of(work.status),
                               .bytes = work.byte_len};
      continue;
    }
    const EndedRequest ended = end_request(connections_, name_, work);
    if (ended.queue == Connection::kTransfers) {
      moving_.fetch_sub(static_cast<std::int64_t>(ended.requests), std::memory_order_relaxed);
    }
    if (ended.report) completions[filled++] = ended.completion;
  }
  return filled;
}

// Local completions are never solicited, so while something of this process is under way that a sleeper waits
// for, the queue is armed for all completions. Either arm() sees it in `moving_`, or its poster sees
// `solicited_only_`, and arms before it posts: both store first and then load, sequentially consistent
// (Dekker's algorithm).
bool VerbsMessageEndpoint::arm(Events events) {
  const std::lock_guard guard(arming_);
  const bool wants_all = events == Events::all;
  solicited_only_.store(!wants_all, std::memory_order_seq_cst);
  const bool all = wants_all || moving_.load(std::memory_order_seq_cst) != 0;
  if (all) solicited_only_.store(false, std::memory_order_relaxed);
  rearm(channel_, completions_.get(), !all);
  return true;
}

void VerbsMessageEndpoint::expect_event() {
  moving_.fetch_add(1, std::memory_order_seq_cst);
  if (!solicited_only_.load(std::memory_order_seq_cst)) return;
  const std::lock_guard guard(arming_);
  if (!solicited_only_.exchange(false, std::memory_order_relaxed)) return;
  static_cast<void>(ibv_req_notify_cq(completions_.get(), 0));
}

}  // namespace librma::transport
