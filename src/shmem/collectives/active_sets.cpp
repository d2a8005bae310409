#include "shmem/collectives/active_sets.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <tuple>
#include <vector>

#include "shmem/job/job.hpp"

namespace librma::shmem {
namespace {

using Set = std::tuple<int, int, int>;  // start, log_stride, size

std::mutex sets_lock;  // guards `teams_of_sets`
std::map<Set, rma_team_t> teams_of_sets;

std::vector<int> members_of(Call call, int start, int log_stride, int size) {
  constexpr int kMostLog = 30;
  const long stride = log_stride >= 0 && log_stride <= kMostLog ? 1L << log_stride : 0;
  if (start < 0 || stride == 0 || size < 1 || start + stride * (size - 1) >= static_cast<long>(job.n_pes)) {
    die(call,
        fmt::format("the job has no active set of {} PEs from PE {} on with a stride of 2 to the power of {}",
                    size, start, log_stride));
  }
  std::vector<int> members(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < members.size(); ++i) {
    members[i] = static_cast<int>(start + stride * static_cast<long>(i));
  }
  return members;
}

void warn_once(Call call, int start, int log_stride, int size) {
  static std::atomic<bool> warned = false;
  if (warned.exchange(true, std::memory_order_relaxed)) return;
  std::fputs(
      fmt::format(
          "PE {}: {}: this PE is not one of the active set of {} PEs from PE {} on with a stride of 2 to "
          "the power of {}: the call does nothing here (only the first such call is reported)\n",
          job.me, call, size, start, log_stride)
          .c_str(),
      stderr);
}

}  // namespace

rma_team_t team_of_set(Call call, int start, int log_stride, int size) {
  require_initialized(call);
  if (start == 0 && log_stride == 0 && size == static_cast<int>(job.n_pes)) return rma_team_world();
  const std::lock_guard guard(sets_lock);
  rma_team_t& team = teams_of_sets[{start, log_stride, size}];
  if (team == nullptr) {
    const std::vector<int> members = members_of(call, start, log_stride, size);
    if (std::find(members.begin(), members.end(), job.me) == members.end()) {
      warn_once(call, start, log_stride, size);
      return nullptr;
    }
    require(rma_team_create(members.data(), size, &team), call);
  }
  return team;
}

void forget_active_sets() {
  const std::lock_guard guard(sets_lock);
  teams_of_sets.clear();
}

void barrier(Call call, int start, int log_stride, int size, long* /*work*/) {
  on_set(call, start, log_stride, size, [&](rma_team_t team) { require(rma_barrier(team), call); });
}

void sync(Call call, int start, int log_stride, int size, long* work) {
  barrier(call, start, log_stride, size, work);
}

}  // namespace librma::shmem
