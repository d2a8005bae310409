#include "malloc/window_backing.hpp"

#include <algorithm>
#include <iterator>
#include <new>

namespace librma {

Status WindowBacking::back(std::size_t offset, std::size_t bytes) {
  if (kept_.empty()) return window_.back(offset, bytes);
  const Range wanted = {offset, offset + bytes};
  const std::vector<Range> reused = reuse(wanted);
  std::size_t done = wanted.begin;  // everything below is backed
  for (const Range& there : reused) {
    if (there.begin > done && !window_.back(done, there.begin - done).ok()) break;
    done = there.end;
  }
  if (reused.empty() || done == reused.back().end) {
    if (done == wanted.end || window_.back(done, wanted.end - done).ok()) return {};
  }
  // The system or the limit had no room. There may be room once nothing is kept, so release everything
  // and try again.
  if (done > wanted.begin) window_.release(wanted.begin, done - wanted.begin);
  for (const Range& there : reused) {
    if (there.begin >= done) window_.release(there.begin, there.end - there.begin);
  }
  while (!kept_.empty()) drop(kept_.begin());
  return window_.back(offset, bytes);
}

// The system's pages are zeros, so kept memory goes back to it first.
Status WindowBacking::back_zeroed(std::size_t offset, std::size_t bytes) {
  for (const Range& there : reuse({offset, offset + bytes})) {
    window_.release(there.begin, there.end - there.begin);
  }
  return back(offset, bytes);
}

void WindowBacking::release(std::size_t offset, std::size_t bytes) {
  // The pool hands out low addresses first, so it is least likely to ask for the highest. Those are dropped
  // first, and the end of a block that is larger than what may be kept.
  if (bytes > keep_) {
    const std::size_t kept = keep_ / granule() * granule();
    window_.release(offset + kept, bytes - kept);
    bytes = kept;
  }
  while (kept_bytes_ + bytes > keep_) drop(std::prev(kept_.end()));
  keep(offset, offset + bytes);
}

std::vector<WindowBacking::Range> WindowBacking::reuse(Range wanted) {
  std::vector<Range> reused;
  auto next = kept_.upper_bound(wanted.begin);
  if (next != kept_.begin() && std::prev(next)->second > wanted.begin) --next;
  // This allocates before any range is taken out. After it only keep() allocates, and keep() can do without.
  reused.reserve(static_cast<std::size_t>(std::distance(next, kept_.lower_bound(wanted.end))));
  while (next != kept_.end() && next->first < wanted.end) {
    const Range there = {next->first, next->second};
    const Range used = {std::max(there.begin, wanted.begin), std::min(there.end, wanted.end)};
    next = kept_.erase(next);
    kept_bytes_ -= there.end - there.begin;
    keep(there.begin, used.begin);
    keep(used.end, there.end);
    reused.push_back(used);
  }
  return reused;
}

void WindowBacking::keep(std::size_t begin, std::size_t end) noexcept {
  if (begin == end) return;
  try {
    kept_.emplace(begin, end);
  } catch (const std::bad_alloc&) {
    return window_.release(begin, end - begin);
  }
  kept_bytes_ += end - begin;
}

void WindowBacking::drop(Ranges::iterator kept) {
  window_.release(kept->first, kept->second - kept->first);
  kept_bytes_ -= kept->second - kept->first;
  kept_.erase(kept);
}

}  // namespace librma
