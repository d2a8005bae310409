#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rma/rma.h"
#include "util/settings.hpp"
#include "util/status.hpp"
#include "util/system/rank_calls.hpp"

namespace librma {

/// The ranks that have started this process's world, and the number under which the two worlds meet.
struct Parents {
  std::vector<int> ranks;  ///< empty in the world of the command line
  std::uint32_t number = 0;
};

/// Ranks that meet, which may be of several worlds.
struct Assembly {
  std::span<const int> ranks;  ///< this one among them
  std::uint32_t number = 0;    ///< one that no others use who meet meanwhile
};

/// This process's place in its job, and the exchange of the first data between processes that do not know
/// each other yet. The launcher carries each process's *card*, which contains its transport addresses, to the
/// processes that ask for it.
///
/// Nothing here is for the data path. Only one thread at a time may call these functions; any thread
/// may call abort().
class Bootstrap {
 public:
  Bootstrap(const Bootstrap&) = delete;
  Bootstrap& operator=(const Bootstrap&) = delete;
  /// Leaves the job. A process that exits while its Bootstrap is still open counts as failed.
  virtual ~Bootstrap() = default;

  /// Returns the world rank of this process, 0 to size() - 1.
  [[nodiscard]] int rank() const noexcept { return info_.rank; }
  /// Returns the number of processes that the job has or may have: its seats. Ranks are below this.
  [[nodiscard]] int size() const noexcept { return info_.size; }
  /// Returns the first rank of this process's world, and how many it has: the processes that begin together.
  /// Without seats that are free at the start these are all processes of the job.
  [[nodiscard]] int world_first() const noexcept { return info_.world_first; }
  [[nodiscard]] int world_size() const noexcept { return info_.world_size; }
  /// Returns who has started this world.
  [[nodiscard]] const Parents& parents() const noexcept { return info_.parents; }
  /// Returns the number of this process's program, 0 if the job has only one.
  [[nodiscard]] int program() const noexcept { return info_.program; }
  /// Returns the ranks of the processes of this world on this host with which this one can share memory,
  /// ascending, including itself.
  [[nodiscard]] const std::vector<int>& local_ranks() const noexcept { return info_.local_ranks; }
  /// Returns the same with the ranks of other worlds that may come, for tables that have room for all.
  [[nodiscard]] const std::vector<int>& local_seats() const noexcept {
    return info_.local_seats.empty() ? info_.local_ranks : info_.local_seats;
  }
  /// Returns how many of them have started, as far as this process knows: its own world and earlier ones.
  [[nodiscard]] std::size_t local_started() const {
    const std::vector<int>& seats = local_seats();
    return static_cast<std::size_t>(
        std::ranges::count_if(seats, [&](int rank) { return rank < world_first() + world_size(); }));
  }
  /// Returns the directory in which these processes meet by the files of sockets, because they are in several
  /// network namespaces; empty if they are in one, or the launcher does not tell.
  [[nodiscard]] const std::string& meeting_directory() const noexcept { return info_.meeting_directory; }
  /// Returns why ranks of this host are not among local_ranks(); empty if all are.
  [[nodiscard]] const std::string& apart() const noexcept { return info_.apart; }
  /// Returns a name of the job that no other job on these hosts has.
  [[nodiscard]] const std::string& job_id() const noexcept { return info_.job_id; }

  /// Returns what the user should know about the way in which this process has found its job, or an empty
  /// text.
  [[nodiscard]] const std::string& remark() const noexcept { return info_.remark; }

  /// Publishes `card`. After the next fence(), card_of(rank()) returns it in every process. Local; called
  /// once per Bootstrap.
  virtual Status publish(std::span<const std::byte> card) = 0;

  /// Makes all published cards readable. Collective over the world.
  virtual Status fence() = 0;

  /// Says what fence() does meanwhile, again and again: for a process without a thread that could do it. A
  /// bootstrap of the program's own does nothing meanwhile.
  void drive_while_meeting(std::function<void()> drive) { drive_ = std::move(drive); }

  /// Returns the card that `rank` published before the last fence(). Local: it fetches only this card.
  /// RMA_ERR_RANK if there is no such rank, RMA_ERR_LAUNCH if the launcher does not have the card.
  virtual Result<std::vector<std::byte>> card_of(int rank) = 0;

  /// Gives `card` to the launcher, unless it is empty, and waits until all ranks of an assembly have called
  /// this. Returns the cards of those that are `wanted`. Thread-safe. RMA_ERR_PEER_LOST if one of them has
  /// ended or left the job, RMA_ERR_UNSUPPORTED if the launcher cannot do it.
  virtual Result<std::vector<std::vector<std::byte>>> convene(const Assembly& assembly,
                                                              std::span<const std::byte> card,
                                                              std::span<const int> wanted);
  /// The parts of a call (RankWords), and of its answer.
  struct LauncherQuestion {
    RankCall call;
    std::int32_t number = 0;
    std::span<const std::byte> body = {};
    std::int32_t detail = 0;
  };
  struct LauncherAnswer {
    RankWords words;
    std::vector<std::byte> body;
  };
  /// Asks the launcher (RankCall::spawn and those behind it), and waits for its answer. Thread-safe.
  /// RMA_ERR_ARGUMENT with the launcher's reason if it denies, RMA_ERR_UNSUPPORTED if it cannot do it.
  virtual Result<LauncherAnswer> ask(const LauncherQuestion& question);

  /// Writes `text` to stderr and ends all processes of the job. The launcher exits with `exit_code`.
  [[noreturn]] virtual void abort(int exit_code, std::string_view text) = 0;

 protected:
  struct JobInfo {
    int rank = 0;
    int size = 1;
    int program = 0;
    std::vector<int> local_ranks;
    std::string job_id;
    int world_first = 0;
    int world_size = 0;                 ///< 0: all of them
    std::vector<int> local_seats = {};  ///< empty: the same as local_ranks
    Parents parents = {};
    std::string remark = {};
    std::string meeting_directory = {};
    std::string apart = {};
  };
  explicit Bootstrap(JobInfo info) : info_(std::move(info)) {
    if (info_.world_size == 0) info_.world_size = info_.size;
  }
  JobInfo& info() noexcept { return info_; }
  /// A fence waits so many milliseconds, -1 for any number, and then calls drive().
  [[nodiscard]] int pause(int otherwise) const { return drive_ ? 1 : otherwise; }
  void drive() const {
    if (drive_) drive_();
  }

 private:
  JobInfo info_;
  std::function<void()> drive_;
};

/// Finds this process's job by `given`, if that is not null. Otherwise it finds the job by rmarun's socket or
/// by PMIx, if a launcher offers it (PMIX_NAMESPACE and PMIX_RANK are in the environment). Otherwise the
/// process becomes a job of one, and so does a process whose rank another one has claimed (rank_claim.hpp).
/// @param incarnation  how often this process has joined its job before; the same on all ranks, so that the
///        cards of one round are never confused with those of another.
/// @param singleton  whether a process without PMIx becomes a job of one even if a launcher without PMIx has
///        started several.
/// @return RMA_ERR_LAUNCH if the environment names a launcher that does not work.
Result<std::unique_ptr<Bootstrap>> open_bootstrap(int incarnation, const rma_bootstrap_t* given = nullptr,
                                                  SingletonSetting singleton = SingletonSetting::automatic);

}  // namespace librma
