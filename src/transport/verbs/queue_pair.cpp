#include "transport/verbs/queue_pair.hpp"

#include <algorithm>
#include <cerrno>

#include "util/try.hpp"

namespace librma::transport {
namespace {

constexpr std::size_t kChain = 16;   ///< the maximum number of requests in one call to the device
constexpr std::size_t kPieces = 64;  ///< the maximum number of pieces of all these requests
/// After depth / kSignalShare unsignaled requests in a row, one asks for a completion. Its slots are then
/// known to be free long before the queue is full.
constexpr std::uint32_t kSignalShare = 4;

ibv_sge piece_of(const Local& local) {
  return {.addr = reinterpret_cast<std::uintptr_t>(local.address),
          .length = static_cast<std::uint32_t>(local.bytes),
          .lkey = static_cast<std::uint32_t>(local.key)};
}

}  // namespace

Status SendQueue::create(ibv_pd* domain, ibv_cq* completions, ibv_srq* receives, const Port& port) {
  ibv_qp_init_attr wanted = {};
  wanted.send_cq = completions;
  wanted.recv_cq = completions;
  wanted.srq = receives;
  wanted.cap.max_send_wr = options_.depth;
  wanted.cap.max_send_sge = options_.gather;
  wanted.cap.max_inline_data = options_.inline_bytes;
  if (receives == nullptr) {
    wanted.cap.max_recv_wr = options_.scatters;
    wanted.cap.max_recv_sge = options_.gather;
  }
  wanted.qp_type = IBV_QPT_RC;
  queue_pair_.reset(ibv_create_qp(domain, &wanted));
  if (queue_pair_ == nullptr) return system_failure(RMA_ERR_NO_MEMORY, "making a queue pair", errno);
  ibv_qp_attr attributes = {};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = port.number;
  attributes.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
  constexpr int kMask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
  if (const int error = ibv_modify_qp(queue_pair_.get(), &attributes, kMask); error != 0) {
    return system_failure(RMA_ERR_SYSTEM, "preparing a queue pair", error);
  }
  return {};
}

void SendQueue::prepare(ibv_send_wr& request, std::uint32_t number, Cookie cookie, PostFlags flags) {
  ring_[number % ring_.size()] = {.cookie = cookie, .report = !flags.unsignaled};
  request.wr_id = RequestId{.queue = number_, .number = number}.encode();
  ++unsignaled_;
  if (!flags.unsignaled || unsignaled_ >= options_.depth / kSignalShare) {
    request.send_flags |= IBV_SEND_SIGNALED;
    unsignaled_ = 0;
  }
  if (flags.inline_data) request.send_flags |= IBV_SEND_INLINE;
  if (flags.solicited) request.send_flags |= IBV_SEND_SOLICITED;
}

rma_status_t SendQueue::submit(ibv_send_wr* first, std::uint32_t count, std::size_t* posted) {
  ibv_send_wr* refused = nullptr;
  const int error = ibv_post_send(queue_pair_.get(), first, &refused);
  std::uint32_t taken = count;
  if (error != 0) {
    taken = 0;
    for (const ibv_send_wr* request = first; request != refused; request = request->next) ++taken;
    credits_.give(count - taken);
  }
  posted_ += taken;
  *posted += taken;
  if (error == 0) return RMA_SUCCESS;
  // If a device refuses a request within its own limits, it is out of memory, or gone.
  if (error != ENOMEM) fail();
  return error == ENOMEM ? RMA_ERR_STATE : RMA_ERR_PEER_LOST;
}

rma_status_t SendQueue::post(std::span<const Work> work, std::size_t* posted) {
  std::array<ibv_send_wr, kChain> chain;
  std::array<ibv_sge, kPieces> pieces;
  *posted = 0;
  const std::lock_guard guard(lock_);
  while (!work.empty()) {
    if (failed()) return RMA_ERR_PEER_LOST;
    std::size_t count = 0;
    std::size_t used = 0;
    const std::size_t most = std::min<std::size_t>({work.size(), kChain, room()});
    for (; count < most && used + work[count].pieces.size() <= kPieces; ++count) {
      const Work& this_work = work[count];
      ibv_send_wr& request = chain[count];
      request = {};
      request.sg_list = &pieces[used];
      request.num_sge = static_cast<int>(this_work.pieces.size());
      for (const Local& local : this_work.pieces) pieces[used++] = piece_of(local);
      request.opcode = this_work.direction == Direction::write ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ;
      request.wr.rdma.remote_addr = this_work.remote.address;
      request.wr.rdma.rkey = static_cast<std::uint32_t>(this_work.remote.key);
      request.next = &chain[count + 1 < kChain ? count + 1 : 0];
    }
    if (count == 0 || !credits_.take(static_cast<std::uint32_t>(count))) return RMA_ERR_STATE;
    for (std::size_t i = 0; i < count; ++i) {
      prepare(chain[i], posted_ + static_cast<std::uint32_t>(i), work[i].cookie, work[i].flags);
    }
    chain[count - 1].next = nullptr;
    RMA_TRY(submit(chain.data(), static_cast<std::uint32_t>(count), posted));
    work = work.subspan(count);
  }
  return RMA_SUCCESS;
}

rma_status_t SendQueue::submit_one(ibv_send_wr& request, Cookie cookie, PostFlags flags) {
  const std::lock_guard guard(lock_);
  if (failed()) return RMA_ERR_PEER_LOST;
  if (room() == 0 || !credits_.take(1)) return RMA_ERR_STATE;
  prepare(request, posted_, cookie, flags);
  std::size_t posted = 0;
  return submit(&request, 1, &posted);
}

rma_status_t SendQueue::post_atomic(rma_atomic_op_t op, Remote target, std::uint64_t operand,
                                    std::uint64_t compare, Local old, Cookie cookie) {
  ibv_sge piece = piece_of(old);
  ibv_send_wr request = {};
  request.sg_list = &piece;
  request.num_sge = 1;
  request.opcode = op == RMA_FETCH_ADD ? IBV_WR_ATOMIC_FETCH_AND_ADD : IBV_WR_ATOMIC_CMP_AND_SWP;
  request.wr.atomic.remote_addr = target.address;
  request.wr.atomic.rkey = static_cast<std::uint32_t>(target.key);
  request.wr.atomic.compare_add = op == RMA_FETCH_ADD ? operand : compare;
  request.wr.atomic.swap = operand;
  return submit_one(request, cookie, {});
}

rma_status_t SendQueue::post_send(std::span<const Local> locals, Cookie cookie, PostFlags flags) {
  std::array<ibv_sge, kPieces> pieces;
  std::size_t used = 0;
  for (const Local& local : locals) pieces[used++] = piece_of(local);
  ibv_send_wr request = {};
  request.sg_list = pieces.data();
  request.num_sge = static_cast<int>(used);
  request.opcode = IBV_WR_SEND;
  return submit_one(request, cookie, flags);
}

rma_status_t SendQueue::post_scatter(std::span<const Local> locals, std::uint64_t id) {
  std::array<ibv_sge, kPieces> pieces;
  std::size_t used = 0;
  for (const Local& local : locals) pieces[used++] = piece_of(local);
  ibv_recv_wr request = {
      .wr_id = id, .next = nullptr, .sg_list = pieces.data(), .num_sge = static_cast<int>(used)};
  ibv_recv_wr* refused = nullptr;
  const std::lock_guard guard(lock_);
  if (failed()) return RMA_ERR_PEER_LOST;
  if (scatters_ == options_.scatters || !credits_.take(1)) return RMA_ERR_STATE;
  const int error = ibv_post_recv(queue_pair_.get(), &request, &refused);
  if (error == 0) {
    ++scatters_;
    return RMA_SUCCESS;
  }
  credits_.give(1);
  if (error != ENOMEM) fail();
  return error == ENOMEM ? RMA_ERR_STATE : RMA_ERR_PEER_LOST;
}

void SendQueue::retire_scatter() {
  const std::lock_guard guard(lock_);
  --scatters_;
  credits_.give(1);
}

SendQueue::Ended SendQueue::retire(std::uint32_t number, bool good) {
  const std::lock_guard guard(lock_);
  const Slot slot = ring_[number % ring_.size()];
  const std::uint32_t over = number + 1 - retired_;
  retired_ = number + 1;
  credits_.give(over);
  // The poster does not wait for an unsignaled request that succeeded. It must learn of one that failed.
  return {.cookie = slot.cookie, .report = slot.report || !good, .requests = over};
}

void SendQueue::fail() {
  if (failed_.exchange(true, std::memory_order_acq_rel)) return;
  ibv_qp_attr attributes = {};
  attributes.qp_state = IBV_QPS_ERR;
  // This fails only if there is no connection yet. Nothing is posted then.
  static_cast<void>(ibv_modify_qp(queue_pair_.get(), &attributes, IBV_QP_STATE));
}

}  // namespace librma::transport
