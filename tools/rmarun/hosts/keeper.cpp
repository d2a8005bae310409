#include "rmarun/hosts/keeper.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "rmarun/deadlines.hpp"
#include "rmarun/ending.hpp"
#include "rmarun/exit_codes.hpp"
#include "rmarun/hosts/connections.hpp"
#include "rmarun/hosts/description.hpp"
#include "rmarun/hosts/frames.hpp"
#include "rmarun/hosts/group_watch.hpp"
#include "rmarun/hosts/host_list.hpp"
#include "rmarun/hosts/meeting_words.hpp"
#include "rmarun/hosts/rank_start.hpp"
#include "rmarun/hosts/remote_waits.hpp"
#include "rmarun/signals.hpp"
#include "rmarun/waits.hpp"
#include "util/system/interruptions.hpp"

namespace rmarun {
namespace {

using KeeperClock = std::chrono::steady_clock;

/// The time that a rank has to end by itself after SIGTERM. Engines kill their processes after a second or
/// more.
constexpr auto kRankGrace = std::chrono::milliseconds(500);
/// How long the keeper of a rank that SIGTERM ended waits for a SIGTERM of its own, which shows that the
/// engine ended both: Slurm signals the processes of a step one by one (proctrack/linuxproc,
/// proctrack/cgroup). It is shorter than kVerdictGrace (hosts_job.cpp).
constexpr auto kRequestGrace = std::chrono::milliseconds(200);
/// So much output at most waits for the engine. Then the rank's pipes fill, and the rank waits.
constexpr std::size_t kMostQueued = std::size_t{256} << 10;
/// How often the first keeper of a host looks whether the host is cut off.
constexpr auto kLookPeriodOfKeeper = std::chrono::seconds(1);
/// How long after the rank's start the keeper first looks whether the rank waits for others to join the job,
/// and the longest time between two looks. That time doubles from look to look.
constexpr auto kFirstLookAtMeeting = std::chrono::seconds(1);
constexpr auto kLookPeriodAtMeeting = std::chrono::seconds(4);
/// How long the end of the keeper waits for an engine that takes no output.
constexpr auto kLastWords = std::chrono::seconds(5);

class Keeper {
 public:
  Keeper(Description description, int rank, FindCores find_cores, Descriptor signals)
      : description_(std::move(description)),
        rank_(rank),
        find_cores_(find_cores),
        writer_(description_.carriage, rank),
        signals_(std::move(signals)) {}

  int run() {
    auto started = start_described_rank(description_, rank_, find_cores_, waits_);
    const auto* const obstacle = std::get_if<Obstacle>(&started);
    if (obstacle != nullptr) {
      say(fmt::format("fail {} {}", obstacle->exit_code, obstacle->why));
      ended_ = obstacle->exit_code;
    } else {
      keep(std::move(std::get<StartedRank>(started)));
    }
    while (!children_gone_) {
      turn();
      reap();
    }
    for (std::size_t stream = 0; stream < pipes_.size(); ++stream) {
      while (pipes_[stream].open() && carry(stream)) {
      }
    }
    if (ended_ == kExitSignal + SIGTERM) wait_for_request();
    if (obstacle == nullptr) say(fmt::format("{} {} {}", how_, asked_ ? 1 : 0, meets() ? 1 : 0));
    give_up_ = KeeperClock::now() + kLastWords;
    while (!queue_.empty() && !engine_gone_ && KeeperClock::now() < *give_up_) turn();
    return ended_.value_or(kExitFailure);
  }

 private:
  void say(std::string_view words) { queue_ += writer_.words(words); }

  void keep(StartedRank started) {
    rank_process_ = {.pid = started.pid, .running = true};
    pipes_ = std::move(started.pipes);
    children_gone_ = false;
    if (!started.remark.empty()) say("note " + started.remark);
    say(fmt::format("start {} {}", started.pid, own_host_name()));
    meeting_look_ = KeeperClock::now() + kFirstLookAtMeeting;
    if (local_rank(description_, rank_) != 0) return;
    next_look_ = KeeperClock::now();
    for (const Connection& each : connections_of(daemon_)) say("link 0 " + each.here);
  }

  /// Waits for the next event and handles it.
  void turn() {
    std::vector<pollfd> polls = {
        {signals_.get(), POLLIN, 0},
        {description_.descriptor, static_cast<short>(queue_.empty() ? 0 : POLLOUT), 0}};
    for (const Descriptor& pipe : pipes_) {
      const bool wanted = pipe.open() && queue_.size() < kMostQueued;
      polls.push_back({wanted ? pipe.get() : -1, POLLIN, 0});
    }
    if (engine_gone_) polls[1].fd = -1;
    const int ready =
        ::poll(polls.data(), polls.size(),
               poll_timeout_until(earliest({ending_.next_look(), give_up_, next_look_, meeting_look_})));
    if (ready > 0) {
      if (polls[0].revents != 0) take_signals();
      if (polls[1].revents != 0) write_some((polls[1].revents & (POLLERR | POLLHUP)) != 0);
      for (std::size_t stream = 0; stream < pipes_.size(); ++stream) {
        if (polls[stream + 2].revents != 0) carry(stream);
      }
    }
    look_at_daemon();
    look_at_meeting();
    if (ending_.due()) ending_.kill();
  }

  void take_signals() {
    while (const auto taken = next_signal(signals_)) {
      const int signal = *taken;
      if (signal == kAskingSignal) answer();
      // The rank has got it too, as a member of the group.
      if (signal == kAskingSignal || signal == SIGCHLD || signal == kExplainingSignal || is_passed_on(signal))
        continue;
      end_rank();
    }
  }

  /// Tells rmarun what the rank waits for.
  void answer() {
    const WaitRecords records = waits_.read(static_cast<std::size_t>(rank_));
    say(words_of({++questions_, state_of(rank_process_), time_of_waits(), records}));
  }

  [[nodiscard]] bool meets() const { return in_first_meeting(waits_.read(static_cast<std::size_t>(rank_))); }

  /// Tells rmarun whether the rank waits for others to join the job: again and again while it does, and once
  /// when it does so no more.
  void look_at_meeting() {
    if (!meeting_look_ || KeeperClock::now() < *meeting_look_) return;
    meeting_look_ = KeeperClock::now() + meeting_period_;
    meeting_period_ = std::min<KeeperClock::duration>(2 * meeting_period_, kLookPeriodAtMeeting);
    const bool met = std::exchange(met_, meets());
    if (met || met_) say(meeting_words(met_));
  }

  /// Ends the daemon once its host is cut off. It would wait a quarter of an hour for answers to what it has
  /// sent, and the ranks with it. The first rank of each host looks.
  void look_at_daemon() {
    if (!next_look_ || KeeperClock::now() < *next_look_) return;
    next_look_ = KeeperClock::now() + kLookPeriodOfKeeper;
    const auto connections = connections_of(daemon_);
    if (::getppid() != daemon_ ||
        std::ranges::none_of(connections, [](const Connection& c) { return c.silent; }))
      return;
    ::kill(daemon_, SIGKILL);
    end_rank();
  }

  /// Learns whether the engine asked the rank to end: the rank may have got the signal before the keeper.
  void wait_for_request() {
    give_up_ = KeeperClock::now() + kRequestGrace;
    while (!asked_ && KeeperClock::now() < *give_up_) turn();
  }

  void end_rank() {
    asked_ = true;
    if (!children_gone_) ending_.ask_all(kRankGrace);
  }

  void write_some(bool broken) {
    const ssize_t count =
        librma::uninterrupted([&] { return ::write(description_.descriptor, queue_.data(), queue_.size()); });
    if (count > 0) queue_.erase(0, static_cast<std::size_t>(count));
    if (count < 0 && errno == EAGAIN && !broken) return;
    if (count > 0 && !broken) return;
    engine_gone_ = true;
    queue_.clear();
    end_rank();
  }

  /// Reads once from the rank. Returns false if there is nothing to read now, or if the stream has ended.
  bool carry(std::size_t stream) {
    std::array<char, std::size_t{16} << 10> piece;
    const std::string_view bytes = read_once(pipes_[stream], piece);
    if (!engine_gone_ && !bytes.empty())
      queue_ += writer_.output(stream == 0 ? Outlet::kOut : Outlet::kErr, bytes);
    return !bytes.empty();
  }

  void reap() {
    int status = 0;
    pid_t pid = 0;
    while ((pid = ::waitpid(-1, &status, WNOHANG)) > 0) {
      if (pid != rank_process_.pid) continue;
      rank_process_.running = false;
      // If an engine signals the whole group, the system hands the signal to all members before one of them
      // can be reaped. So that request is here by now.
      take_signals();
      const bool killed = WIFSIGNALED(status);
      ended_ = killed ? kExitSignal + WTERMSIG(status) : WEXITSTATUS(status);
      how_ = killed ? fmt::format("signal {} {}", WTERMSIG(status), WCOREDUMP(status) ? 1 : 0)
                    : fmt::format("exit {}", WEXITSTATUS(status));
      ending_.ask_all(kRankGrace);  // what the rank has left behind
    }
    children_gone_ = pid < 0;
  }

  const Description description_;
  const int rank_;
  const FindCores find_cores_;
  FrameWriter writer_;
  Descriptor signals_;
  Rank rank_process_;
  Waits waits_;
  std::uint32_t questions_ = 0;  ///< about the rank's waits
  std::array<Descriptor, 2> pipes_;
  std::string queue_;  ///< frames that the engine has not taken yet
  std::string how_;    ///< the rank's end, in the keeper's words
  std::optional<int> ended_;
  Ending ending_;
  Deadline give_up_;
  Deadline next_look_;     ///< at the daemon's connections
  Deadline meeting_look_;  ///< whether the rank waits for others to join
  KeeperClock::duration meeting_period_ = kFirstLookAtMeeting;
  bool met_ = false;  ///< it did at the last look
  const pid_t daemon_ = ::getppid();
  bool asked_ = false;        ///< the engine has asked the rank to end
  bool engine_gone_ = false;  ///< nobody takes output any more
  bool children_gone_ = true;
};

}  // namespace

int run_keeper(FindCores find_cores) {
  auto signals = open_signals(kAskingSignal);
  ::signal(SIGCHLD, SIG_DFL);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() == 1) return kExitFailure;  // the daemon ended before the line above
  const GroupWatch watch;
  ::prctl(PR_SET_NAME, "rma-keeper");
  auto description = unpacked();
  const char* const number = std::getenv("PMIX_RANK");
  int rank = -1;
  if (number != nullptr) std::from_chars(number, number + std::strlen(number), rank);
  if (!description.ok() || rank < 0 || !signals.ok()) {
    fmt::print(stderr, "rmarun: {}\n",
               !description.ok() ? description.status().text()
               : !signals.ok()   ? signals.status().text()
                                 : "--rank needs PMIX_RANK");
    return kExitFailure;
  }
  const int out = description.value().descriptor;
  ::fcntl(out, F_SETFL, ::fcntl(out, F_GETFL) | O_NONBLOCK);
  return Keeper(std::move(description).value(), rank, find_cores, std::move(signals).value()).run();
}

}  // namespace rmarun
