#include "collectives/rdma/job_allgather_port.hpp"

#include <sched.h>

#include <array>
#include <cstring>
#include <utility>

#include "atomics/atomic.hpp"
#include "atomics/notify.hpp"
#include "core/network/ordered_writes.hpp"
#include "util/status.hpp"
#include "util/text.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"
#include "util/waiting/wait.hpp"

namespace librma {
namespace {

/// A write has two pieces of data at most, and a word.
constexpr std::size_t kMostPieces = 3;

}  // namespace

JobAllgatherPort::JobAllgatherPort(Accumulator& accumulator, Messages& messages,
                                   std::shared_ptr<ScheduleChannel> channel)
    : accumulator_(accumulator), messages_(messages), channel_(std::move(channel)) {}

JobAllgatherPort::~JobAllgatherPort() {
  if (block_ == nullptr || keeps_block_) return;
  block_memory_ = {};  // before its memory is given back
  static_cast<void>(job().memory().allocator().free(MemoryKind::internal, block_).ok());
}

Result<JobAllgatherPort::BlockCard> JobAllgatherPort::open(std::span<const int> partners) {
  cards_.resize(static_cast<std::size_t>(members()));
  RMA_TRY_ASSIGN(memory, job().memory().allocator().allocate(MemoryKind::internal, sizeof(AllgatherBlock),
                                                             alignof(AllgatherBlock)));
  block_ = new (memory) AllgatherBlock();  // all zero
  BlockCard card = {.address = reinterpret_cast<std::uint64_t>(memory), .usable = 1};
  if (network() != nullptr) {
    RMA_TRY_ASSIGN(prepared,
                   network()->keyed_transfers().prepare(memory, sizeof(AllgatherBlock), /*keep=*/false));
    block_memory_ = std::move(prepared);
    card.keys = block_memory_.remote;
  }
  for (const int partner : partners) {
    const int rank = channel_->rank_of(partner);
    RMA_TRY(messages_.connect(rank));
    if (job().mapped(rank)) continue;
    if (network() == nullptr) return Status(RMA_ERR_UNSUPPORTED, "there is no network");
    RMA_TRY(network()->ordered_writes().connect(rank));
  }
  return card;
}

void JobAllgatherPort::open_result(std::byte* result, std::size_t bytes) {
  result_ = {result, bytes};
  result_registered_ = false;
  if (network() == nullptr) return;
  auto prepared = network()->keyed_transfers().prepare(result, bytes, /*keep=*/true);
  if (!prepared.ok()) return;
  result_memory_ = std::move(prepared).value();
  result_registered_ = true;
}

ResultCard JobAllgatherPort::card(int member) {
  // A member of this host copies to a result that is in the heap, and gets messages for any other.
  const bool mapped = job().mapped(channel_->rank_of(member));
  const bool reachable =
      mapped ? job().direct(result_.data(), result_.size(), job().rank()) != nullptr : result_registered_;
  return {.address = reinterpret_cast<std::uint64_t>(result_.data()),
          .keys = result_memory_.remote,
          .usable = reachable ? 1U : 0U};
}

void JobAllgatherPort::close_result() {
  result_ = {};
  result_memory_ = {};
}

Status JobAllgatherPort::write_block(int member, std::span<const Piece> pieces, const Word& word,
                                     rma_request_t* request) {
  const BlockCard& theirs = card_of(member);
  return write(member, theirs.address, theirs.keys, pieces, &block_memory_, word, request);
}

Status JobAllgatherPort::write_result(int member, const ResultCard& card, std::span<const Piece> pieces,
                                      const Word& word, rma_request_t* request) {
  return write(member, card.address, card.keys, pieces, result_registered_ ? &result_memory_ : nullptr, word,
               request);
}

Status JobAllgatherPort::write(int member, std::uint64_t address, const RailKeys& keys,
                               std::span<const Piece> pieces, const DeviceMemory* local, const Word& word,
                               rma_request_t* request) {
  *request = RMA_REQUEST_NULL;
  const int rank = channel_->rank_of(member);
  if (job().mapped(rank)) return copy(member, address, pieces, word);
  std::array<KeyedWrite, kMostPieces> writes;
  std::size_t used = 0;
  for (const Piece& piece : pieces) {
    // A write only reads its local memory.
    writes[used++] = {.local = const_cast<std::byte*>(piece.from),
                      .registered = local != nullptr,
                      .local_keys = local != nullptr ? local->local : RailKeys(),
                      .remote = address + piece.to,
                      .remote_keys = keys,
                      .bytes = piece.bytes};
  }
  const BlockCard& theirs = card_of(member);
  auto* const source = const_cast<std::uint64_t*>(word.from);
  writes[used++] = {.local = reinterpret_cast<std::byte*>(source),
                    .local_keys = block_memory_.local,
                    .remote = theirs.address + word.to,
                    .remote_keys = theirs.keys,
                    .bytes = sizeof *source};
  const rma_request_t operation = pending().open(rank);
  if (operation == RMA_REQUEST_NULL) return PendingOperations::too_many();
  Status posted = network()->ordered_writes().write(rank, std::span(writes).first(used), operation);
  if (!posted.ok()) {
    static_cast<void>(pending().finish(operation).ok());
    return noted(std::move(posted), rank);
  }
  pending().detach(operation);
  *request = operation;
  return {};
}

Status JobAllgatherPort::copy(int member, std::uint64_t address, std::span<const Piece> pieces,
                              const Word& word) {
  const int rank = channel_->rank_of(member);
  const auto here = [&](std::uint64_t base, std::size_t offset, std::size_t bytes) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of another process
    return job().direct(reinterpret_cast<const void*>(base + offset), bytes, rank);
  };
  std::byte* const flag = here(card_of(member).address, word.to, sizeof *word.from);
  for (const Piece& piece : pieces) {
    std::byte* const to = here(address, piece.to, piece.bytes);
    if (to == nullptr || flag == nullptr) {
      return {RMA_ERR_STATE, text("memory that rank {} offers for an allgather is not in its heap", rank)};
    }
    std::memcpy(to, piece.from, piece.bytes);
  }
  notify(job(), flag, *word.from, rank);
  return {};
}

Status JobAllgatherPort::send(int member, std::span<const std::byte> data, rma_request_t* request) {
  return noted(
      channel_->post(
          {.kind = PlanStep::Kind::send, .member = member, .from = data.data(), .bytes = data.size()},
          TeamCarrier::kRdmaTag, request),
      channel_->rank_of(member));
}

Status JobAllgatherPort::receive(int member, std::span<std::byte> data, rma_request_t* request) {
  return noted(
      channel_->post(
          {.kind = PlanStep::Kind::receive, .member = member, .to = data.data(), .bytes = data.size()},
          TeamCarrier::kRdmaTag, request),
      channel_->rank_of(member));
}

Status JobAllgatherPort::finish(rma_request_t& request) {
  const rma_request_t ending = std::exchange(request, RMA_REQUEST_NULL);
  if (ending == RMA_REQUEST_NULL || ending == kCompleteRequest) return {};
  messages_.wait_for(ending);
  const int rank = pending().rank(ending);  // of a message: known since its end
  return noted(pending().wait(ending), rank);
}

Status JobAllgatherPort::noted(Status status, int rank) {
  if (status.code() == RMA_ERR_PEER_LOST && suspect_ == ScheduleChannel::kNobody && rank != job().rank())
    suspect_ = rank;
  return status;
}

Status JobAllgatherPort::wait(int member, const std::uint64_t& word, std::uint64_t value) {
  const auto arrived = [&] { return read_word(&word) >= value; };
  const WaitPolicy& policy = job().wait_policy();
  for (std::uint64_t i = 0; i < policy.spins; ++i) {
    if (arrived()) return {};
    pause_and_drive(policy, i);
  }
  if (arrived()) return {};
  if (channel_->failed()) return failure();
  // A receive that no message ends tells this thread that the member has ended.
  rma_request_t never = RMA_REQUEST_NULL;
  Status status;
  const auto posted = [&] {
    status = unless_exhausted([&] {
      return channel_->post({.kind = PlanStep::Kind::receive, .member = member}, TeamCarrier::kNeverTag,
                            &never);
    });
    return status.code() != RMA_ERR_NO_MEMORY;
  };
  const WaitPolicy sleeps = {.spins = 0, .yields = policy.yields, .progress = policy.progress};
  Doorbell& doorbell = job().doorbell(job().rank());
  // Without memory for the receive the call need not fail, because the member writes the word all the same.
  // The thread waits, and tries to post the receive after each kMortalNap.
  const auto over = [&] { return arrived() || channel_->failed(); };
  if (!posted() && wait_unless(doorbell, sleeps, over, posted) && never == RMA_REQUEST_NULL) {
    return arrived() ? Status() : failure();
  }
  if (!status.ok()) return arrived() ? Status() : noted(std::move(status), channel_->rank_of(member));
  wait_until(
      doorbell, sleeps, [&] { return over() || pending().complete(never); }, Waker::sometimes);
  channel_->cancel(never);
  status = finish(never);
  if (arrived()) return {};  // also if the member has ended since
  return channel_->failed() ? failure() : std::move(status);
}

AllgatherBlock::Gate JobAllgatherPort::withdraw(int member, std::size_t gate) {
  const int rank = channel_->rank_of(member);
  if (job().ended(rank)) return AllgatherBlock::kWithdrawn;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of another process
  auto* const word = reinterpret_cast<std::uint32_t*>(card_of(member).address + gate);
  std::uint32_t before = AllgatherBlock::kIdle;
  const Status done = atomic_update<std::uint32_t>(
      accumulator_, RMA_COMPARE_SWAP, word, AllgatherBlock::kWithdrawn, AllgatherBlock::kIdle, &before, rank);
  if (!done.ok()) return AllgatherBlock::kWithdrawn;
  if (before == AllgatherBlock::kWriting) {
    pending().engine().progress();
    sched_yield();
  }
  return static_cast<AllgatherBlock::Gate>(before);
}

}  // namespace librma
