#include "atomics/atomic.hpp"

#include "core/operation.hpp"

namespace rma {

template <typename Word>
Status atomic_foreign(Accumulator& accumulator, rma_atomic_op_t op, Word* target, Word operand, Word compare,
                      Word* old, int rank) {
  Job& job = accumulator.job();
  const Path path = job.resolve(target, sizeof(Word), rank);
  if (path.kind == Path::Kind::none) return Job::unreachable(target, sizeof(Word), rank);
  Word before = 0;
  {
    LockCursor cursor(accumulator.locks(rank), job.wait_policy());
    cursor.hold(reinterpret_cast<std::uintptr_t>(target), sizeof(Word));
    if (path.here != nullptr) {
      before = apply_atomic(op, reinterpret_cast<Word*>(path.here), operand, compare);
    } else {
      Operation read(job, accumulator.device(), rank);
      if (Status status = read.get(&before, target, sizeof(Word)); !status.ok()) return status;
      if (Status status = read.end({}); !status.ok()) return status;
      const Word after = atomic_result(op, before, operand, compare);
      if (after != before) {
        Operation write(job, accumulator.device(), rank);
        if (Status status = write.put(target, &after, sizeof(Word)); !status.ok()) return status;
        if (Status status = write.end({}); !status.ok()) return status;
      }
    }
  }
  if (op != RMA_FETCH) job.doorbell(rank).ring();
  if (old != nullptr) *old = before;
  return {};
}

template Status atomic_foreign(Accumulator&, rma_atomic_op_t, std::uint32_t*, std::uint32_t, std::uint32_t,
                               std::uint32_t*, int);
template Status atomic_foreign(Accumulator&, rma_atomic_op_t, std::uint64_t*, std::uint64_t, std::uint64_t,
                               std::uint64_t*, int);

}  // namespace rma
