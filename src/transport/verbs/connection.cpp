#include "transport/verbs/connection.hpp"

#include <algorithm>
#include <cstring>
#include <random>

#include "util/try.hpp"

namespace librma::transport {
namespace {

constexpr std::uint8_t kHopLimit = 64;
/// The number of times that a device repeats a request: the maximum that verbs allows.
constexpr std::uint8_t kRetries = 7;
/// A device repeats a message for ever if the peer has no receive posted (7 means infinite). This does not
/// happen, because senders count credits.
constexpr std::uint8_t kReceiverRetries = 7;
constexpr std::uint8_t kReceiverTimer = 12;  // 0.64 ms
constexpr std::uint8_t kMostReads = 16;

std::uint32_t first_packet() {
  std::random_device device;
  return device() & 0xffffffU;
}

std::uint8_t reads_of(int device_limit) {
  return static_cast<std::uint8_t>(std::clamp<int>(device_limit, 1, kMostReads));
}

}  // namespace

ibv_ah_attr address_of(const Port& port, const Gid& gid, std::uint16_t lid) {
  ibv_ah_attr address = {};
  address.port_num = port.number;
  address.dlid = lid;
  if (port.ethernet) {
    address.is_global = 1;
    address.grh.sgid_index = port.gid_index;
    address.grh.hop_limit = kHopLimit;
    std::memcpy(address.grh.dgid.raw, gid.data(), gid.size());
  }
  return address;
}

Connection::Connection(int peer, const ConnectionParts& parts)
    : parts_(parts),
      data_(kQueues * static_cast<std::uint32_t>(peer) + kData, parts.data_options, parts.data_credits),
      messages_(kQueues * static_cast<std::uint32_t>(peer) + kMessages, parts.message_options,
                parts.lane_credits),
      transfers_(kQueues * static_cast<std::uint32_t>(peer) + kTransfers, parts.transfer_options,
                 parts.lane_credits) {}

Status Connection::create() {
  RMA_TRY(data_.create(parts_.domain, parts_.data_completions, parts_.data_receives, parts_.port));
  RMA_TRY(messages_.create(parts_.domain, parts_.lane_completions, parts_.message_buffers, parts_.port));
  RMA_TRY(transfers_.create(parts_.domain, parts_.lane_completions, nullptr, parts_.port));
  std::memcpy(local_.gid.data(), parts_.port.gid.raw, local_.gid.size());
  local_.lid = parts_.port.lid;
  local_.mtu = static_cast<std::uint8_t>(parts_.port.mtu);
  local_.reads_answered = reads_of(parts_.port.attributes.max_qp_rd_atom);
  local_.data_queue_pair = data_.handle()->qp_num;
  local_.message_queue_pair = messages_.handle()->qp_num;
  local_.transfer_queue_pair = transfers_.handle()->qp_num;
  local_.data_first_packet = first_packet();
  local_.message_first_packet = first_packet();
  local_.transfer_first_packet = first_packet();
  return {};
}

Status Connection::bind(const Endpoint& end) {
  if (end.mtu < IBV_MTU_256 || end.mtu > IBV_MTU_4096 || end.reads_answered == 0) {
    return {RMA_ERR_SYSTEM, "the peer's end of a connection makes no sense"};
  }
  buffers_.store(end.buffers, std::memory_order_release);
  gather_.store(end.gather, std::memory_order_release);
  RMA_TRY(bind_one(data_, end, end.data_queue_pair, end.data_first_packet, local_.data_first_packet));
  RMA_TRY(bind_one(messages_, end, end.message_queue_pair, end.message_first_packet,
                   local_.message_first_packet));
  return bind_one(transfers_, end, end.transfer_queue_pair, end.transfer_first_packet,
                  local_.transfer_first_packet);
}

Status Connection::bind_one(SendQueue& queue, const Endpoint& end, std::uint32_t remote_queue_pair,
                            std::uint32_t remote_packet, std::uint32_t local_packet) const {
  ibv_qp_attr receive = {};
  receive.qp_state = IBV_QPS_RTR;
  receive.ah_attr = address_of(parts_.port, end.gid, end.lid);
  receive.path_mtu = static_cast<ibv_mtu>(std::min(end.mtu, local_.mtu));
  receive.dest_qp_num = remote_queue_pair;
  receive.rq_psn = remote_packet;
  receive.max_dest_rd_atomic = local_.reads_answered;
  receive.min_rnr_timer = kReceiverTimer;
  constexpr int kReceiveMask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                               IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  if (const int error = ibv_modify_qp(queue.handle(), &receive, kReceiveMask); error != 0) {
    return system_failure(RMA_ERR_SYSTEM, "connecting a queue pair", error);
  }
  ibv_qp_attr send = {};
  send.qp_state = IBV_QPS_RTS;
  send.sq_psn = local_packet;
  send.timeout = parts_.acknowledge_timeout;
  send.retry_cnt = kRetries;
  send.rnr_retry = kReceiverRetries;
  send.max_rd_atomic = std::min(reads_of(parts_.port.attributes.max_qp_init_rd_atom), end.reads_answered);
  constexpr int kSendMask = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                            IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
  if (const int error = ibv_modify_qp(queue.handle(), &send, kSendMask); error != 0) {
    return system_failure(RMA_ERR_SYSTEM, "opening a queue pair for sending", error);
  }
  return {};
}

}  // namespace librma::transport
