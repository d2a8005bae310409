#include "transport/verbs/datagrams.hpp"

#include <cerrno>
#include <cstring>
#include <random>

#include "transport/verbs/connection.hpp"

namespace librma::transport {

Status Datagrams::open(ibv_context* context) {
  memory_.resize((kReceives + kSends) * kSlot);
  region_.reset(ibv_reg_mr(domain_, memory_.data(), memory_.size(), IBV_ACCESS_LOCAL_WRITE));
  if (region_ == nullptr) {
    return system_failure(RMA_ERR_NO_MEMORY, "registering the datagrams' buffers (see ulimit -l)", errno);
  }
  channel_.reset(ibv_create_comp_channel(context));
  if (channel_ == nullptr) return system_failure(RMA_ERR_NO_MEMORY, "making a completion channel", errno);
  received_.reset(ibv_create_cq(context, kReceives, nullptr, channel_.get(), 0));
  sent_.reset(ibv_create_cq(context, kSends, nullptr, nullptr, 0));
  if (received_ == nullptr || sent_ == nullptr) {
    return system_failure(RMA_ERR_NO_MEMORY, "making a completion queue", errno);
  }
  ibv_qp_init_attr wanted = {};
  wanted.send_cq = sent_.get();
  wanted.recv_cq = received_.get();
  wanted.cap.max_send_wr = kSends;
  wanted.cap.max_recv_wr = kReceives;
  wanted.cap.max_send_sge = 1;
  wanted.cap.max_recv_sge = 1;
  wanted.qp_type = IBV_QPT_UD;
  wanted.sq_sig_all = 1;
  queue_pair_.reset(ibv_create_qp(domain_, &wanted));
  if (queue_pair_ == nullptr) {
    return system_failure(RMA_ERR_NO_MEMORY, "making a datagram queue pair", errno);
  }
  std::random_device random;
  ibv_qp_attr attributes = {};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = port_.number;
  attributes.qkey = random() & 0x7fffffffU;  // the highest bit marks keys that only privileged
                                             // processes may set
  constexpr int kInit = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
  int error = ibv_modify_qp(queue_pair_.get(), &attributes, kInit);
  address_.queue_key = attributes.qkey;
  address_.queue_pair = queue_pair_->qp_num;
  address_.lid = port_.lid;
  std::memcpy(address_.gid.data(), port_.gid.raw, address_.gid.size());
  for (std::size_t i = 0; i < kReceives && error == 0; ++i) {
    if (!post_receive(i)) error = ENOMEM;
  }
  attributes = {};
  attributes.qp_state = IBV_QPS_RTR;
  if (error == 0) error = ibv_modify_qp(queue_pair_.get(), &attributes, IBV_QP_STATE);
  attributes.qp_state = IBV_QPS_RTS;
  if (error == 0) error = ibv_modify_qp(queue_pair_.get(), &attributes, IBV_QP_STATE | IBV_QP_SQ_PSN);
  if (error == 0) error = ibv_req_notify_cq(received_.get(), 0);
  if (error != 0) return system_failure(RMA_ERR_SYSTEM, "opening a datagram queue pair", error);
  for (std::size_t i = 0; i < kSends; ++i) free_sends_.push_back(kReceives + i);
  return {};
}

bool Datagrams::post_receive(std::size_t index) {
  ibv_sge piece = {
      .addr = reinterpret_cast<std::uintptr_t>(slot(index)), .length = kSlot, .lkey = region_->lkey};
  ibv_recv_wr request = {.wr_id = index, .next = nullptr, .sg_list = &piece, .num_sge = 1};
  ibv_recv_wr* refused = nullptr;
  return ibv_post_recv(queue_pair_.get(), &request, &refused) == 0;
}

void Datagrams::serve(const Receiver& receiver) {
  ibv_cq* which = nullptr;
  void* context = nullptr;
  if (ibv_get_cq_event(channel_.get(), &which, &context) != 0) return;
  ibv_ack_cq_events(which, 1);
  // The queue is armed before it is polled, so a datagram that arrives after the polling
  // raises another event.
  static_cast<void>(ibv_req_notify_cq(received_.get(), 0));
  ibv_wc completion = {};
  while (ibv_poll_cq(received_.get(), 1, &completion) > 0) {
    const std::size_t index = completion.wr_id;
    if (completion.status == IBV_WC_SUCCESS && completion.byte_len > kHeader &&
        completion.byte_len <= kSlot) {
      receiver({slot(index) + kHeader, completion.byte_len - kHeader});
    }
    static_cast<void>(post_receive(index));  // fails only if the queue pair is in its error state
  }
}

ibv_ah* Datagrams::handle_for(const DatagramAddress& to) {
  AddressHandle& handle = handles_[{to.gid, to.lid}];
  if (handle == nullptr) {
    ibv_ah_attr attributes = address_of(port_, to.gid, to.lid);
    handle.reset(ibv_create_ah(domain_, &attributes));
  }
  return handle.get();
}

void Datagrams::reap() {
  ibv_wc completion = {};
  while (ibv_poll_cq(sent_.get(), 1, &completion) > 0) free_sends_.push_back(completion.wr_id);
}

void Datagrams::send(const DatagramAddress& to, const Handshake& handshake) {
  const std::lock_guard guard(send_lock_);
  reap();
  ibv_ah* const handle = handle_for(to);
  if (free_sends_.empty() || handle == nullptr) return;
  const std::size_t index = free_sends_.back();
  std::memcpy(slot(index), &handshake, sizeof handshake);
  ibv_sge piece = {.addr = reinterpret_cast<std::uintptr_t>(slot(index)),
                   .length = sizeof handshake,
                   .lkey = region_->lkey};
  ibv_send_wr request = {};
  request.wr_id = index;
  request.sg_list = &piece;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  request.wr.ud.ah = handle;
  request.wr.ud.remote_qpn = to.queue_pair;
  request.wr.ud.remote_qkey = to.queue_key;
  ibv_send_wr* refused = nullptr;
  if (ibv_post_send(queue_pair_.get(), &request, &refused) == 0) free_sends_.pop_back();
}

}  // namespace librma::transport
