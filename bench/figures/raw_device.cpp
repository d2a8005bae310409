#include "figures/raw_device.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace rma::bench {

void require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "raw-verbs: %s: %s\n", what, std::strerror(errno));
  std::exit(EXIT_FAILURE);  // NOLINT(concurrency-mt-unsafe): there are no other threads at such times
}

Wire::Wire(const std::string& host, int port) {
  addrinfo hints = {};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = host.empty() ? AI_PASSIVE : 0;
  addrinfo* found = nullptr;
  const std::string service = std::to_string(port);
  const int code = getaddrinfo(host.empty() ? nullptr : host.c_str(), service.c_str(), &hints, &found);
  require(code == 0 && found != nullptr, "cannot find the other host");
  const int on = 1;
  if (host.empty()) {
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    require(listener >= 0 && setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
                bind(listener, found->ai_addr, found->ai_addrlen) == 0 && listen(listener, 1) == 0,
            "cannot listen");
    socket_ = accept(listener, nullptr, nullptr);
    require(socket_ >= 0, "cannot accept");
    close(listener);
  } else {
    constexpr int kTries = 600;
    bool connected = false;
    for (int i = 0; i < kTries && !connected; ++i) {
      socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      require(socket_ >= 0, "no socket");
      connected = ::connect(socket_, found->ai_addr, found->ai_addrlen) == 0;
      if (!connected) {
        close(socket_);
        usleep(100'000);
      }
    }
    require(connected, "cannot connect to the other side");
  }
  freeaddrinfo(found);
  setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

Wire::~Wire() { close(socket_); }

void Wire::send(const void* data, std::size_t bytes) const {
  require(::send(socket_, data, bytes, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes),
          "the other side is gone");
}

void Wire::receive(void* data, std::size_t bytes) const {
  require(::recv(socket_, data, bytes, MSG_WAITALL) == static_cast<ssize_t>(bytes), "the other side is gone");
}

void Wire::meet() const {
  char sign = 0;
  send(&sign, 1);
  receive(&sign, 1);
}

void RawDevice::open(const std::string& name) {
  int count = 0;
  ibv_device** const devices = ibv_get_device_list(&count);
  require(devices != nullptr, "no RDMA devices");
  for (int i = 0; i < count; ++i) {
    if (name == ibv_get_device_name(devices[i])) context_ = ibv_open_device(devices[i]);
  }
  ibv_free_device_list(devices);
  require(context_ != nullptr, "cannot open the device");
}

void RawDevice::find_gid() {
  require(ibv_query_port(context_, 1, &port_) == 0, "cannot query the port");
  for (int i = 0; i < port_.gid_tbl_len; ++i) {
    if (ibv_query_gid_ex(context_, 1, static_cast<std::uint32_t>(i), &gid_, 0) != 0) continue;
    if (port_.link_layer != IBV_LINK_LAYER_ETHERNET) return;
    in6_addr address = {};
    std::memcpy(&address, gid_.gid.raw, sizeof address);
    if (gid_.gid_type == IBV_GID_TYPE_ROCE_V2 && IN6_IS_ADDR_V4MAPPED(&address)) return;
  }
  errno = ENOENT;
  require(false, "no RoCE v2 address");
}

void RawDevice::make_queue_pair() {
  ibv_qp_init_attr wanted = {};
  wanted.send_cq = completions_;
  wanted.recv_cq = completions_;
  wanted.cap.max_send_wr = shape_.sends;
  wanted.cap.max_recv_wr = shape_.receives;
  wanted.cap.max_send_sge = shape_.pieces;
  wanted.cap.max_recv_sge = shape_.pieces;
  wanted.qp_type = IBV_QPT_RC;
  queue_pair_ = ibv_create_qp(domain_, &wanted);
  require(queue_pair_ != nullptr, "cannot create a queue pair");
}

RawDevice::RawDevice(const std::string& name, const Wire& wire, std::size_t bytes, const Shape& shape)
    : shape_(shape) {
  open(name);
  find_gid();
  domain_ = ibv_alloc_pd(context_);
  events_ = ibv_create_comp_channel(context_);
  require(domain_ != nullptr && events_ != nullptr, "cannot prepare the device");
  const auto entries = static_cast<int>(shape.sends + shape.receives);
  completions_ = ibv_create_cq(context_, entries, nullptr, events_, 0);
  require(completions_ != nullptr, "cannot create a completion queue");
  constexpr std::size_t kPage = 4096;
  memory_ = static_cast<std::byte*>(::operator new (bytes, std::align_val_t{kPage}));
  std::memset(memory_, 0, bytes);
  region_ = ibv_reg_mr(domain_, memory_, bytes,
                       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
  require(region_ != nullptr, "cannot register memory");
  make_queue_pair();
  const Card mine = {.queue_pair = queue_pair_->qp_num,
                     .key = region_->rkey,
                     .address = reinterpret_cast<std::uintptr_t>(memory_),
                     .gid = gid_.gid};
  wire.send(&mine, sizeof mine);
  wire.receive(&peer_, sizeof peer_);
  connect(peer_);
  wire.meet();
}

void RawDevice::connect(const Card& peer) {
  ibv_qp_attr change = {};
  change.qp_state = IBV_QPS_INIT;
  change.port_num = 1;
  change.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  require(ibv_modify_qp(queue_pair_, &change,
                        IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0,
          "queue pair to INIT");
  change = {};
  change.qp_state = IBV_QPS_RTR;
  change.path_mtu = port_.active_mtu;
  change.dest_qp_num = peer.queue_pair;
  change.max_dest_rd_atomic = 16;
  change.min_rnr_timer = 12;
  change.ah_attr.is_global = 1;
  change.ah_attr.grh.dgid = peer.gid;
  change.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(gid_.gid_index);
  change.ah_attr.grh.hop_limit = 64;
  change.ah_attr.port_num = 1;
  require(ibv_modify_qp(queue_pair_, &change,
                        IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                            IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0,
          "queue pair to RTR");
  change = {};
  change.qp_state = IBV_QPS_RTS;
  change.timeout = 18;  // the same as for the library's connections
  change.retry_cnt = 7;
  change.rnr_retry = 7;
  change.max_rd_atomic = 16;
  require(ibv_modify_qp(queue_pair_, &change,
                        IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                            IBV_QP_MAX_QP_RD_ATOMIC) == 0,
          "queue pair to RTS");
}

RawDevice::~RawDevice() {
  ibv_destroy_qp(queue_pair_);
  ibv_dereg_mr(region_);
  ibv_destroy_cq(completions_);
  ibv_destroy_comp_channel(events_);
  ibv_dealloc_pd(domain_);
  ibv_close_device(context_);
  constexpr std::size_t kPage = 4096;
  ::operator delete (memory_, std::align_val_t{kPage});
}

ibv_sge RawDevice::piece(std::size_t offset, std::size_t bytes) const {
  return {.addr = reinterpret_cast<std::uintptr_t>(memory_ + offset),
          .length = static_cast<std::uint32_t>(bytes),
          .lkey = region_->lkey};
}

void RawDevice::start(bool put, std::size_t offset, std::size_t bytes) const {
  ibv_sge here = piece(offset, bytes);
  ibv_send_wr request = {};
  request.sg_list = &here;
  request.num_sge = 1;
  request.opcode = put ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ;
  request.send_flags = IBV_SEND_SIGNALED;
  request.wr.rdma.remote_addr = peer_.address + offset;
  request.wr.rdma.rkey = peer_.key;
  ibv_send_wr* refused = nullptr;
  require(ibv_post_send(queue_pair_, &request, &refused) == 0, "cannot post a request");
}

void RawDevice::gather(std::span<ibv_sge> pieces) const {
  ibv_send_wr request = {};
  request.sg_list = pieces.data();
  request.num_sge = static_cast<int>(pieces.size());
  request.opcode = IBV_WR_SEND;
  request.send_flags = IBV_SEND_SIGNALED;
  ibv_send_wr* refused = nullptr;
  require(ibv_post_send(queue_pair_, &request, &refused) == 0, "cannot post a gather");
}

void RawDevice::scatter(std::span<ibv_sge> pieces) const {
  ibv_recv_wr request = {};
  request.sg_list = pieces.data();
  request.num_sge = static_cast<int>(pieces.size());
  ibv_recv_wr* refused = nullptr;
  require(ibv_post_recv(queue_pair_, &request, &refused) == 0, "cannot post a scatter");
}

void RawDevice::sleep() const {
  ibv_cq* queue = nullptr;
  void* unused = nullptr;
  require(ibv_get_cq_event(events_, &queue, &unused) == 0, "cannot wait for a completion");
  ibv_ack_cq_events(queue, 1);
}

void RawDevice::finish() const {
  ibv_wc completion = {};
  bool armed = false;
  while (true) {
    const int found = ibv_poll_cq(completions_, 1, &completion);
    require(found >= 0, "cannot poll");
    if (found == 1) break;
    if (!shape_.asleep) continue;
    // A completion between the poll and the arming raises no event, so the queue is polled once more.
    if (armed) sleep();
    if (!armed) require(ibv_req_notify_cq(completions_, 0) == 0, "cannot ask for an event");
    armed = !armed;
  }
  require(completion.status == IBV_WC_SUCCESS, ibv_wc_status_str(completion.status));
}

void RawDevice::drain() const {
  ibv_wc completion = {};
  while (ibv_poll_cq(completions_, 1, &completion) == 1) {
    require(completion.status == IBV_WC_SUCCESS, ibv_wc_status_str(completion.status));
  }
}

}  // namespace rma::bench
