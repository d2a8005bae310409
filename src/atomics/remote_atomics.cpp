#include "atomics/remote_atomics.hpp"

#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "atomics/atomic.hpp"
#include "atomics/types.hpp"
#include "core/network/transfers.hpp"
#include "helper_thread/fragments.hpp"
#include "util/bytes_of.hpp"
#include "util/statistics.hpp"
#include "util/try.hpp"

namespace librma {
namespace {

/// The body of an atomic's request. This is a wire format. The answer is the value before, in 8 bytes.
struct AtomicRequest {
  std::uint32_t op = 0;
  std::uint32_t width = 0;
  std::uint64_t target = 0;
  std::uint64_t operand = 0;
  std::uint64_t compare = 0;
};
static_assert(sizeof(AtomicRequest) == 32);

/// The beginning of an accumulate's request. A part of a layout and the elements follow.
struct AccumulateRequest {
  std::uint32_t type = 0;
  std::uint32_t scaled = 0;  ///< 1: `scale` is used
  std::array<std::byte, 16> scale = {};
};
static_assert(sizeof(AccumulateRequest) == 24);

/// The answer to an accumulate that is refused with RMA_ERR_ADDRESS.
struct AccumulateRefusal {
  std::uint64_t address = 0;  ///< the first segment that is not accessible
};

Status unreachable_address(std::uintptr_t address, std::size_t bytes, int rank) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of another process, for a text
  return unreachable(reinterpret_cast<const void*>(address), bytes, rank);
}

template <typename Word>
Result<std::uint64_t> update(Accumulator& accumulator, const AtomicRequest& wanted) {
  Word before = 0;
  auto* const target = reinterpret_cast<Word*>(wanted.target);  // NOLINT(performance-no-int-to-ptr)
  Status status = atomic_update(accumulator, static_cast<rma_atomic_op_t>(wanted.op), target,
                                static_cast<Word>(wanted.operand), static_cast<Word>(wanted.compare), &before,
                                accumulator.job().rank());
  if (!status.ok()) return status;
  return std::uint64_t{before};
}

}  // namespace

RemoteAtomics::RemoteAtomics(Accumulator& accumulator, std::size_t piece_bytes, PendingOperations& pending,
                             Network* network, RpcClient& client, RpcServer& server)
    : accumulator_(accumulator),
      piece_bytes_(piece_bytes),
      pending_(pending),
      network_(network),
      client_(client) {
  server.serve(RequestKind::atomic, [this](const Served& request) { return serve_atomic(request); });
  server.serve(RequestKind::accumulate, [this](const Served& request) { return serve_accumulate(request); });
}

Answer RemoteAtomics::serve_atomic(const Served& request) {
  AtomicRequest wanted;
  if (request.body.size() != sizeof wanted || request.room.size() != sizeof(std::uint64_t)) {
    return {.status = RMA_ERR_ARGUMENT};
  }
  std::memcpy(&wanted, request.body.data(), sizeof wanted);
  const bool valid = valid_atomic(static_cast<rma_atomic_op_t>(wanted.op)) &&
                     (wanted.width == 4 || wanted.width == 8) && wanted.target % wanted.width == 0;
  if (!valid) return {.status = RMA_ERR_ARGUMENT};
  Job& job = accumulator_.job();
  if (!job.memory().given_out(wanted.target, wanted.width)) return {.status = RMA_ERR_ADDRESS};
  auto before = Result<std::uint64_t>(0);
  if (wanted.width == 4) {
    before = update<std::uint32_t>(accumulator_, wanted);
  } else if (!job.atomics_by_device()) {
    before = update<std::uint64_t>(accumulator_, wanted);
  } else {
    if (job.memory().registration_of(wanted.target, wanted.width)) return {.status = RMA_ERR_UNSUPPORTED};
    before = beside_devices(static_cast<rma_atomic_op_t>(wanted.op), wanted.target, wanted.operand,
                            wanted.compare);
  }
  if (!before.ok()) return {.status = before.status().code()};
  std::memcpy(request.room.data(), &before.value(), sizeof(std::uint64_t));
  return {.bytes = sizeof(std::uint64_t)};
}

std::uint64_t RemoteAtomics::beside_devices(rma_atomic_op_t op, std::uintptr_t target, std::uint64_t operand,
                                            std::uint64_t compare) {
  // The owner's processor executes all atomics on such a word, so they are atomic to each other.
  auto* const word = reinterpret_cast<std::uint64_t*>(target);  // NOLINT(performance-no-int-to-ptr)
  const std::uint64_t before = apply_atomic(op, word, operand, compare);
  Job& job = accumulator_.job();
  if (op != RMA_FETCH) job.doorbell(job.rank()).wake();
  return before;
}

Answer RemoteAtomics::serve_accumulate(const Served& request) {
  AccumulateRequest wanted;
  if (request.body.size() < sizeof wanted) return {.status = RMA_ERR_ARGUMENT};
  std::memcpy(&wanted, request.body.data(), sizeof wanted);
  std::span<const std::byte> body = request.body.subspan(sizeof wanted);
  const auto type = static_cast<rma_type_t>(wanted.type);
  const auto part = Layout::decode(body);
  if (!part || part->bytes != body.size() || !valid_type(type)) return {.status = RMA_ERR_ARGUMENT};
  const std::size_t size = type_size(type);
  const std::size_t alignment = type_alignment(type);
  rma_status_t status = RMA_SUCCESS;
  AccumulateRefusal refusal;
  part->visit([&](std::uintptr_t address, std::size_t bytes) {
    refusal.address = address;
    if (bytes % size != 0 || address % alignment != 0) status = RMA_ERR_ARGUMENT;
    if (status == RMA_SUCCESS && !accumulator_.job().memory().given_out(address, bytes))
      status = RMA_ERR_ADDRESS;
    return status == RMA_SUCCESS;
  });
  if (status == RMA_ERR_ADDRESS && request.room.size() == sizeof refusal) {
    std::memcpy(request.room.data(), &refusal, sizeof refusal);
    return {.status = status, .bytes = sizeof refusal};
  }
  if (status != RMA_SUCCESS) return {.status = status};
  Accumulation accumulation(accumulator_, type, wanted.scaled != 0 ? wanted.scale.data() : nullptr,
                            accumulator_.job().rank());
  const std::byte* from = body.data();
  part->visit([&](std::uintptr_t address, std::size_t bytes) {
    auto* const there = reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
    status = accumulation.add(there, from, bytes).code();
    from += bytes;
    return status == RMA_SUCCESS;
  });
  return {.status = status};
}

template <typename Word>
Status RemoteAtomics::atomic(rma_atomic_op_t op, const Word* target, Word operand, Word compare, Word* old,
                             int rank, const Ending& ending) {
  count(Counter::atomic_helper);
  const rma_request_t operation = pending_.open(rank);
  if (operation == RMA_REQUEST_NULL) return PendingOperations::too_many();
  const auto address = reinterpret_cast<std::uintptr_t>(target);
  const AtomicRequest wanted = {.op = static_cast<std::uint32_t>(op),
                                .width = sizeof(Word),
                                .target = address,
                                .operand = operand,
                                .compare = compare};
  Status asked =
      client_.ask({.rank = rank,
                   .kind = RequestKind::atomic,
                   .head = bytes_of(wanted),
                   .reply_room = sizeof(std::uint64_t),
                   .operation = operation,
                   .answered = [this, operation, address, old, rank](
                                   rma_status_t status, std::span<const std::byte> body) -> rma_status_t {
                     std::uint64_t before = 0;
                     if (status == RMA_ERR_ADDRESS) {
                       const Status refused = unreachable_address(address, sizeof(Word), rank);
                       pending_.explain(operation, std::string(refused.text()));
                     }
                     RMA_TRY(status);
                     if (body.size() != sizeof before) return RMA_ERR_SIZE;
                     std::memcpy(&before, body.data(), sizeof before);
                     if (old != nullptr) *old = static_cast<Word>(before);
                     return RMA_SUCCESS;
                   }});
  if (!asked.ok()) {
    static_cast<void>(pending_.finish(operation).ok());
    return asked;
  }
  return end_issuing(pending_, operation, ending);
}

template Status RemoteAtomics::atomic(rma_atomic_op_t, const std::uint32_t*, std::uint32_t, std::uint32_t,
                                      std::uint32_t*, int, const Ending&);
template Status RemoteAtomics::atomic(rma_atomic_op_t, const std::uint64_t*, std::uint64_t, std::uint64_t,
                                      std::uint64_t*, int, const Ending&);

bool RemoteAtomics::registered(const Layout& remote, int rank) {
  if (client_.local(rank) || network_ == nullptr) return false;
  return remote.visit(0, remote.bytes(), [&](std::uintptr_t address, std::size_t bytes) {
    return network_->transfers().registered(address, bytes, rank);
  });
}

Status RemoteAtomics::accumulate(const std::shared_ptr<const Layout>& remote,
                                 std::shared_ptr<const Layout> local, rma_type_t type, const void* scale,
                                 int rank) {
  count(Counter::accumulate_helper);
  AccumulateRequest wanted = {.type = static_cast<std::uint32_t>(type), .scaled = scale != nullptr ? 1U : 0U};
  if (scale != nullptr) std::memcpy(wanted.scale.data(), scale, type_size(type));
  FragmentedTransfer transfer = {.kind = RequestKind::accumulate,
                                 .rank = rank,
                                 .remote = remote,
                                 .local = std::move(local),
                                 .prefix = bytes_of(wanted),
                                 .unit = type_size(type),
                                 .most = piece_bytes_};
  if (registered(*remote, rank)) return ask_in_fragments(client_, pending_, transfer);
  transfer.operation = pending_.open(rank);
  if (transfer.operation == RMA_REQUEST_NULL) return PendingOperations::too_many();
  std::optional<AccumulateRefusal> refusal;
  transfer.refusal_room = sizeof(AccumulateRefusal);
  transfer.refused = [&refusal](std::span<const std::byte> told) {
    if (refusal || told.size() != sizeof *refusal) return;
    std::memcpy(&refusal.emplace(), told.data(), told.size());
  };
  Status asked = ask_in_fragments(client_, pending_, transfer);
  Status finished = pending_.finish(transfer.operation);
  if (!asked.ok()) return asked;
  if (finished.code() != RMA_ERR_ADDRESS) return finished;
  // The pieces of the requests need not begin or end where the segments do.
  Layout::Segment named = {.address = remote->extent().low, .bytes = remote->extent().bytes()};
  remote->visit(0, remote->bytes(), [&](std::uintptr_t address, std::size_t bytes) {
    if (!refusal || refusal->address - address >= bytes) return true;
    named = {.address = address, .bytes = bytes};
    return false;
  });
  return unreachable_address(named.address, named.bytes, rank);
}

}  // namespace librma
