#include <fmt/format.h>
#include <pmix.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <optional>
#include <string>

#include "bootstrap/backends.hpp"
#include "bootstrap/pmix_session.hpp"
#include "util/try_assign.hpp"
#include "util/waiting/long_wait.hpp"

namespace librma {
namespace {

/// Counts as a user of the PMIx connection as long as it lives.
class Membership {
 public:
  Membership() = default;
  Membership(Membership&& other) noexcept : counted_(std::exchange(other.counted_, false)) {}
  Membership& operator=(Membership&&) = delete;
  ~Membership() {
    if (counted_) PmixSession::leave();
  }

 private:
  bool counted_ = true;
};

/// Frees a value that PMIx_Get allocated.
struct ValueDeleter {
  void operator()(pmix_value_t* value) const { PMIX_VALUE_RELEASE(value); }
};
using Value = std::unique_ptr<pmix_value_t, ValueDeleter>;

Result<Value> get(const pmix_proc_t& whose, const char* key) {
  pmix_value_t* value = nullptr;
  if (const auto code = PMIx_Get(&whose, key, nullptr, 0, &value); code != PMIX_SUCCESS) {
    return pmix_failure(fmt::format("PMIx_Get of {}", key), code);
  }
  return Value(value);
}

pmix_proc_t proc_of(const pmix_proc_t& any_of_job, pmix_rank_t rank) {
  pmix_proc_t proc = any_of_job;
  proc.rank = rank;
  return proc;
}

Result<int> job_size(const pmix_proc_t& job) {
  RMA_TRY_ASSIGN(value, get(job, PMIX_JOB_SIZE));
  const pmix_value_t& size = *value;
  constexpr auto kMost = static_cast<uint32_t>(std::numeric_limits<int>::max());
  if (size.type != PMIX_UINT32 || size.data.uint32 == 0 || size.data.uint32 > kMost) {
    return Status(RMA_ERR_LAUNCH, "the launcher's PMIx server gives no usable job size");
  }
  return static_cast<int>(size.data.uint32);
}

/// Returns the number of this process's program. Launchers that start one program need not have it.
int program_of(const pmix_proc_t& self) {
  pmix_info_t local;
  const bool truth = true;
  PMIx_Info_load(&local, PMIX_OPTIONAL, &truth, PMIX_BOOL);  // it does not ask the server
  pmix_value_t* value = nullptr;
  if (PMIx_Get(&self, PMIX_APPNUM, &local, 1, &value) != PMIX_SUCCESS) return 0;
  const Value number(value);
  constexpr auto kMost = static_cast<uint32_t>(std::numeric_limits<int>::max());
  return number->type == PMIX_UINT32 && number->data.uint32 <= kMost ? static_cast<int>(number->data.uint32)
                                                                     : 0;
}

/// Parses a list such as "0,1,5". Returns no value for any other text.
std::optional<std::vector<int>> parse_ranks(std::string_view text) {
  std::vector<int> ranks;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    int rank = 0;
    const auto [stop, error] = std::from_chars(at, end, rank);
    if (error != std::errc() || (stop != end && *stop != ',')) return std::nullopt;
    ranks.push_back(rank);
    at = stop == end ? end : stop + 1;
  }
  return ranks;
}

Result<std::vector<int>> ranks_of_this_host(const pmix_proc_t& job, int self) {
  RMA_TRY_ASSIGN(value, get(job, PMIX_LOCAL_PEERS));
  const pmix_value_t& peers = *value;
  std::optional<std::vector<int>> ranks;
  if (peers.type == PMIX_STRING && peers.data.string != nullptr) ranks = parse_ranks(peers.data.string);
  if (!ranks || std::find(ranks->begin(), ranks->end(), self) == ranks->end()) {
    return Status(RMA_ERR_LAUNCH,
                  "the launcher's PMIx server gives no usable list of the ranks on this host");
  }
  std::sort(ranks->begin(), ranks->end());
  return *std::move(ranks);
}

/// A fence that is under way.
struct Meeting {
  std::mutex mutex;
  std::condition_variable changed;
  bool over = false;
  pmix_status_t code = PMIX_SUCCESS;

  /// Called by a thread of PMIx.
  static void end(pmix_status_t code, void* meeting) {
    auto& ended = *static_cast<Meeting*>(meeting);
    const std::lock_guard guard(ended.mutex);
    ended.code = code;
    ended.over = true;
    ended.changed.notify_one();  // under the lock, because the meeting is gone soon after it
  }
};

class PmixBootstrap final : public Bootstrap {
 public:
  PmixBootstrap(JobInfo info, Membership membership, const pmix_proc_t& self, int incarnation)
      : Bootstrap(std::move(info)),
        membership_(std::move(membership)),
        self_(self),
        key_(fmt::format("rma.card.{}", incarnation)) {
    show_waits_of(rank(), job_id());
  }
  ~PmixBootstrap() override { show_no_waits(); }
  PmixBootstrap(const PmixBootstrap&) = delete;
  PmixBootstrap& operator=(const PmixBootstrap&) = delete;

  Status publish(std::span<const std::byte> card) override {
    pmix_value_t value;
    value.type = PMIX_BYTE_OBJECT;
    // PMIx_Put copies the bytes; its interface only lacks the const.
    value.data.bo.bytes = const_cast<char*>(reinterpret_cast<const char*>(card.data()));
    value.data.bo.size = card.size();
    if (const auto code = PMIx_Put(PMIX_GLOBAL, key_.c_str(), &value); code != PMIX_SUCCESS) {
      return pmix_failure("PMIx_Put", code);
    }
    if (const auto code = PMIx_Commit(); code != PMIX_SUCCESS) return pmix_failure("PMIx_Commit", code);
    return {};
  }

  Status fence() override {
    // The call is made without PMIX_COLLECT_DATA. So a fence carries the same amount of data however large
    // the job is, and PMIx_Get later fetches the cards of those peers that this process communicates with.
    const pmix_proc_t everyone = proc_of(self_, PMIX_RANK_WILDCARD);
    Meeting meeting;
    const auto begun = PMIx_Fence_nb(&everyone, 1, nullptr, 0, &Meeting::end, &meeting);
    const pmix_status_t code = begun == PMIX_SUCCESS ? wait_for(meeting) : begun;
    if (code != PMIX_SUCCESS && code != PMIX_OPERATION_SUCCEEDED) return pmix_failure("PMIx_Fence", code);
    return {};
  }

  Result<std::vector<std::byte>> card_of(int rank) override {
    if (rank < 0 || rank >= size()) {
      return Status(RMA_ERR_RANK, fmt::format("no rank {} in a job of {}", rank, size()));
    }
    auto value = get(proc_of(self_, static_cast<pmix_rank_t>(rank)), key_.c_str());
    if (!value.ok()) return std::move(value).status().within(fmt::format("the card of rank {}", rank));
    if (value.value()->type != PMIX_BYTE_OBJECT) {
      return Status(RMA_ERR_LAUNCH, fmt::format("the card of rank {} is no byte object", rank));
    }
    const pmix_byte_object_t& bytes = value.value()->data.bo;
    const auto* const first = reinterpret_cast<const std::byte*>(bytes.bytes);
    return std::vector<std::byte>(first, first + bytes.size);
  }

  [[noreturn]] void abort(int exit_code, std::string_view text) override {
    print_last_words(text);
    PMIx_Abort(exit_code, std::string(text).c_str(), nullptr, 0);
    std::_Exit(exit_code);
  }

 private:
  pmix_status_t wait_for(Meeting& meeting) {
    const auto describe = [this](WaitNote& note) {
      note.call = "the meeting of all ranks";
      note.about = "all ranks";
      note.meeting = fences_ << 32U | std::uint32_t{1};
      note.exact = true;
      for (int other = 0; other < size(); ++other) {
        if (other != rank()) note.ranks.push_back(other);
      }
    };
    ++fences_;
    DescribedWait waiting(describe);
    std::unique_lock lock(meeting.mutex);
    while (!meeting.over) {
      meeting.changed.wait_for(lock, std::chrono::milliseconds(pause(kLongWait / 1'000'000)));
      if (meeting.over) break;
      lock.unlock();
      drive();
      lock.lock();
      waiting.slept();
    }
    return meeting.code;
  }

  Membership membership_;
  pmix_proc_t self_;
  std::string key_;
  std::uint64_t fences_ = 0;
};

}  // namespace

Result<std::unique_ptr<Bootstrap>> open_pmix_bootstrap(int incarnation) {
  RMA_TRY_ASSIGN(self, PmixSession::join());
  Membership membership;

  const pmix_proc_t job = proc_of(self, PMIX_RANK_WILDCARD);
  const int rank = static_cast<int>(self.rank);
  RMA_TRY_ASSIGN(size, job_size(job));
  RMA_TRY_ASSIGN(local_ranks, ranks_of_this_host(job, rank));

  Bootstrap* const opened = new PmixBootstrap({.rank = rank,
                                               .size = size,
                                               .program = program_of(self),
                                               .local_ranks = std::move(local_ranks),
                                               .job_id = self.nspace},
                                              std::move(membership), self, incarnation);
  return std::unique_ptr<Bootstrap>(opened);
}

}  // namespace librma
