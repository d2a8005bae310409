#include "atomics/atomic.hpp"

#include "atomics/remote_atomics.hpp"
#include "core/network/word_operations.hpp"
#include "util/text.hpp"
#include "util/try.hpp"

namespace librma {

template <typename Word>
Status atomic_foreign(Accumulator& accumulator, rma_atomic_op_t op, Word* target, Word operand, Word compare,
                      Word* old, int rank, const Ending& ending) {
  Job& job = accumulator.job();
  const Path path = job.resolve(target, sizeof(Word), rank);
  RemoteAtomics* const remote = accumulator.remote();
  const bool refused = path.kind == Path::Kind::foreign && path.here == nullptr && remote != nullptr &&
                       !accumulator.remote_access().permitted(rank);
  if (path.kind == Path::Kind::network || refused) {
    if (remote != nullptr) {
      return remote->atomic(op, target, operand, compare, old, rank, ending);
    }
    return {RMA_ERR_UNSUPPORTED,
            text("rank {} is on another host, and this process has no helper to reach it by: raise the "
                 "limit of locked memory (ulimit -l)",
                 rank)};
  }
  if (path.kind == Path::Kind::none) return unreachable(target, sizeof(Word), rank);
  Word before = 0;
  {
    LockCursor cursor(accumulator.locks(rank), accumulator.lock_user());
    cursor.hold(reinterpret_cast<std::uintptr_t>(target), sizeof(Word));
    if (path.here != nullptr) {
      before = apply_atomic(op, reinterpret_cast<Word*>(path.here), operand, compare);
    } else {
      Operation read(job, accumulator.remote_access(), rank);
      RMA_TRY(read.get(&before, target, sizeof(Word)));
      if (Status status = read.end({}); !status.ok()) return status;
      const Word after = atomic_result(op, before, operand, compare);
      if (after != before) {
        Operation write(job, accumulator.remote_access(), rank);
        RMA_TRY(write.put(target, &after, sizeof(Word)));
        if (Status status = write.end({}); !status.ok()) return status;
      }
    }
  }
  if (op != RMA_FETCH) job.doorbell(rank).wake();
  if (old != nullptr) *old = before;
  return complete(ending);
}

template Status atomic_foreign(Accumulator&, rma_atomic_op_t, std::uint32_t*, std::uint32_t, std::uint32_t,
                               std::uint32_t*, int, const Ending&);
template Status atomic_foreign(Accumulator&, rma_atomic_op_t, std::uint64_t*, std::uint64_t, std::uint64_t,
                               std::uint64_t*, int, const Ending&);

Status atomic_by_device(Accumulator& accumulator, rma_atomic_op_t op, std::uint64_t* target,
                        std::uint64_t operand, std::uint64_t compare, std::uint64_t* old, int rank,
                        const Ending& ending) {
  Network& network = *accumulator.remote_access().network();
  // A device executes these in one step. A waiter of this host has to be woken after the end.
  const bool one_step = op == RMA_FETCH_ADD || op == RMA_COMPARE_SWAP || op == RMA_FETCH;
  if (ending.kind != Ending::Kind::blocking && one_step && !accumulator.job().mapped(rank)) {
    const bool reads = op == RMA_FETCH;
    auto started = network.words().start_atomic(reads ? RMA_FETCH_ADD : op, target, reads ? 0 : operand,
                                                compare, old, rank);
    if (started.ok()) return end_issuing(accumulator.remote_access().pending(), started.value(), ending);
    if (started.status().code() != RMA_ERR_UNSUPPORTED) return std::move(started).status();
  }
  auto before = Result<std::uint64_t>(0);
  switch (op) {
    case RMA_COMPARE_SWAP:
      before = network.words().atomic(RMA_COMPARE_SWAP, target, operand, compare, rank);
      break;
    case RMA_FETCH_ADD:
      before = network.words().atomic(RMA_FETCH_ADD, target, operand, 0, rank);
      break;
    default:
      before = network.words().atomic(RMA_FETCH_ADD, target, 0, 0, rank);
      while (before.ok() && op != RMA_FETCH) {
        // Devices have no other operations. So the result is computed here, and stored if the word has
        // not changed since.
        const std::uint64_t expected = before.value();
        const std::uint64_t after = atomic_result(op, expected, operand, compare);
        before = network.words().atomic(RMA_COMPARE_SWAP, target, after, expected, rank);
        if (before.ok() && before.value() == expected) break;
      }
  }
  if (before.status().code() == RMA_ERR_UNSUPPORTED && accumulator.remote() != nullptr) {
    // The word is not registered, so no device changes it, and its owner's processor may
    // execute the operation.
    const auto address = reinterpret_cast<std::uintptr_t>(target);
    RemoteAtomics& remote = *accumulator.remote();
    if (rank == accumulator.job().rank() && accumulator.job().memory().given_out(address, sizeof *target)) {
      before = remote.beside_devices(op, address, operand, compare);
    } else {
      return remote.atomic(op, target, operand, compare, old, rank, ending);
    }
  }
  if (!before.ok()) return std::move(before).status();
  if (old != nullptr) *old = before.value();
  if (op != RMA_FETCH && accumulator.job().mapped(rank)) accumulator.job().doorbell(rank).wake();
  return complete(ending);
}

Status atomic_by_device(Accumulator& accumulator, rma_atomic_op_t op, std::uint32_t* target,
                        std::uint32_t operand, std::uint32_t compare, std::uint32_t* old, int rank,
                        const Ending& ending) {
  // No device executes 4-byte atomics, so the processor's are atomic with respect to all others.
  std::byte* const here = accumulator.job().direct(target, sizeof *target, rank);
  if (here == nullptr) return atomic_foreign(accumulator, op, target, operand, compare, old, rank, ending);
  const std::uint32_t before = apply_atomic(op, reinterpret_cast<std::uint32_t*>(here), operand, compare);
  if (op != RMA_FETCH) accumulator.job().doorbell(rank).wake_ordered();
  if (old != nullptr) *old = before;
  return complete(ending);
}

}  // namespace librma
