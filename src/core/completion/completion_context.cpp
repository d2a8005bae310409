#include "core/completion/completion_context.hpp"

namespace librma {
namespace {

/// The flag in a target's word `under_way` that says that issued() was called since the last flush. It shares
/// one word with the count. So a fence clears the flag and counts its flush in one step, and no other fence
/// can find the flag clear and the count 0 in between. The proof stands at fence().
constexpr std::uint32_t kUnreported = 1U << 31U;
std::uint32_t outstanding(std::uint32_t under_way) { return under_way & ~kUnreported; }

}  // namespace

CompletionContext::CompletionContext(int ranks, ProgressEngine& engine)
    : engine_(engine), targets_(static_cast<std::size_t>(ranks)) {
  // Makes room for every rank, so that begin() lists a rank without allocating memory.
  unfenced_.reserve(targets_.size());
  fencing_.reserve(targets_.size());
}

void CompletionContext::begin(int rank) {
  target_of(rank).under_way.fetch_add(1, std::memory_order_seq_cst);
  note_unfenced(rank);
}

void CompletionContext::end(int rank) { end_one(target_of(rank)); }

void CompletionContext::end_one(Target& target) {
  // Comes after the operation was closed, and releases, so a fence that reads 0 sees the operation's failure.
  // This is also the full barrier that woken_by_change() asks for.
  target.under_way.fetch_sub(1, std::memory_order_seq_cst);
  engine_.woken_by_change();
}

void CompletionContext::issued(int rank) {
  // Reads first, so that a stream of puts does not keep writing to a cache line that fences read.
  std::atomic<std::uint32_t>& under_way = target_of(rank).under_way;
  if ((under_way.load(std::memory_order_seq_cst) & kUnreported) == 0) {
    under_way.fetch_or(kUnreported, std::memory_order_seq_cst);
  }
  // Does so also if another thread has set the flag: that thread may not have listed the rank yet.
  note_unfenced(rank);
}

void CompletionContext::failed(int rank, rma_status_t status) {
  if (status == RMA_SUCCESS) return;
  rma_status_t none = RMA_SUCCESS;  // keeps the first failure
  target_of(rank).failure.compare_exchange_strong(none, status, std::memory_order_seq_cst);
  note_unfenced(rank);  // a fence may have returned already, because nothing was outstanding
}

// Why a fence does not return before the calling thread's own puts are complete, even if other threads fence
// the same rank at the same time.
//
// Signaled puts: begin() counts them before they are posted, and the fence returns only when the count is 0.
//
// Unsignaled puts: let P be such a put of the calling thread. The thread posts P and then calls issued(),
// which sets kUnreported or finds it set. Let U be the value of `under_way`, with the flag set, that issued()
// wrote or read. The fence comes later in the same thread, so the value that it reads is U or comes later in
// the word's modification order (coherence). There are two cases.
// - The fence reads a value with the flag set. Then it clears the flag and calls flush(). The same thread
//   posted P before, so the flush is posted after P.
// - The fence reads a value without the flag. Then another fence G has cleared the flag, in a step that comes
//   after U in the modification order. By the same step G has raised the count, and it lowers the count only
//   after its flush is counted. So the count is not 0 before G's flush has ended. The flush was posted after
//   P, for this reason: all postings to the rank's queue pair are critical sections of its lock. If G had
//   posted its flush before P was posted, G's step would happen before P was posted, and hence before
//   issued(). Then issued() could not have seen U, a value from before that step.
// In both cases a count of 0 says that a flush has ended that was posted after P. The postings to a rank
// complete in order, so P is complete. The results that end() recorded are visible: end() releases, the loads
// here acquire, and all steps in between are read-modify-writes.
CompletionContext::Failure CompletionContext::fence(int rank) {
  Target& target = target_of(rank);
  std::uint32_t seen = target.under_way.load(std::memory_order_seq_cst);  // seq_cst: see note_unfenced()
  while ((seen & kUnreported) != 0) {
    // A failed exchange has loaded `seen` anew.
    if (target.under_way.compare_exchange_weak(seen, outstanding(seen) + 1, std::memory_order_seq_cst)) {
      engine_.flush(rank, *this);
      end_one(target);  // the flush is counted by itself now
      break;
    }
  }
  if (seen != 0) {
    engine_.wait_until(rank,
                       [&] { return outstanding(target.under_way.load(std::memory_order_seq_cst)) == 0; });
  }
  // Reads before it exchanges: an exchange would cost every fence as much as all the rest of it.
  if (target.failure.load(std::memory_order_seq_cst) == RMA_SUCCESS) return {};
  return {.code = target.failure.exchange(RMA_SUCCESS, std::memory_order_seq_cst), .rank = rank};
}

void CompletionContext::note_unfenced(int rank) {
  // Why fence_all() misses no rank. The caller first writes or reads `under_way`, or records a failure, and
  // then reads `unfenced`. fence_all() first clears `unfenced`, and then its fence() reads `under_way` and
  // the failure. All of these are sequentially consistent, so they have one order. Suppose that the caller
  // finds `unfenced` set. Then one of two things happens. Either nobody clears it before the caller's own
  // next fence_all(), which then finds the rank in the list. Or another thread's fence_all() clears it later
  // than the caller's read; that one sees and waits for everything that the caller has issued, and the
  // caller's own fence_all() waits until that one has ended.
  std::atomic<bool>& listed = target_of(rank).unfenced;
  if (listed.load(std::memory_order_seq_cst)) return;
  const std::lock_guard guard(unfenced_lock_);
  if (listed.load(std::memory_order_relaxed)) return;
  unfenced_.push_back(rank);
  any_unfenced_.store(true, std::memory_order_relaxed);
  listed.store(true, std::memory_order_seq_cst);  // last: a thread that reads it also sees any_unfenced_
}

CompletionContext::Failure CompletionContext::fence_all() {
  // Only the end of a fence_all() clears any_unfenced_, so no thread returns here while another one still
  // waits.
  if (!any_unfenced_.load(std::memory_order_acquire)) return {};  // pairs with the store below
  const std::lock_guard one_at_a_time(fence_all_lock_);
  fencing_.clear();
  {
    const std::lock_guard guard(unfenced_lock_);
    fencing_.swap(unfenced_);
    for (const int rank : fencing_) target_of(rank).unfenced.store(false, std::memory_order_seq_cst);
  }
  Failure first;
  for (const int rank : fencing_) {
    const Failure failure = fence(rank);
    if (first.code == RMA_SUCCESS) first = failure;
  }
  const std::lock_guard guard(unfenced_lock_);
  if (unfenced_.empty()) any_unfenced_.store(false, std::memory_order_release);
  return first;
}

}  // namespace librma
