#include "rmarun/job.hpp"

#include <fmt/format.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigset_t is POSIX's
#include <sys/signalfd.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "rmarun/binding.hpp"
#include "rmarun/environment.hpp"
#include "rmarun/exit_codes.hpp"
#include "rmarun/forwarder.hpp"
#include "rmarun/guard.hpp"
#include "rmarun/pmix_server.hpp"
#include "rmarun/processes.hpp"
#include "rmarun/spawn.hpp"

namespace rmarun {
namespace {

using Clock = std::chrono::steady_clock;

/// What ranks get to end by themselves after SIGTERM; everything is to be gone within 2 s.
constexpr auto kGrace = std::chrono::milliseconds(500);
/// Between two rounds of SIGKILL, for processes that were being born during the first.
constexpr auto kKillPeriod = std::chrono::milliseconds(20);
/// How long a job that was cut short waits for a reader of its last output.
constexpr auto kLastOutput = std::chrono::milliseconds(200);

struct Rank {
  pid_t pid = -1;
  bool running = false;
  bool succeeded = false;
};

std::string describe_signal(int signal) { return fmt::format("signal {} ({})", signal, ::strsignal(signal)); }

class Job {
 public:
  Job(const Options& options, Environment inherited, std::unique_ptr<PmixServer> server, Descriptor signals)
      : options_(options),
        inherited_(std::move(inherited)),
        server_(std::move(server)),
        signals_(std::move(signals)),
        forwarder_(options.ranks, options.label) {}

  int run() {
    if (options_.timeout_seconds) {
      timeout_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                    std::chrono::duration<double>(*options_.timeout_seconds));
    }
    start_ranks();
    while (true) {
      reap();
      if (children_gone_) break;
      if (std::none_of(ranks_.begin(), ranks_.end(), [](const Rank& r) { return r.running; }))
        end_processes();
      turn();
    }
    forwarder_.drain();
    while (!forwarder_.empty() && turn()) {
    }
    return exit_code_.value_or(0);
  }

 private:
  void start_ranks() {
    ranks_.reserve(static_cast<size_t>(options_.ranks));
    std::vector<cpu_set_t> cores;
    if (options_.bind == Bind::kCore) {
      auto found = allowed_cores();
      if (!found.ok()) return fail(kExitFailure, found.status().text());
      cores = std::move(found).value();
    }
    Environment environment = inherited_;
    for (int rank = 0; rank < options_.ranks; ++rank) {
      const cpu_set_t* const core =
          cores.empty() ? nullptr : &cores[static_cast<size_t>(rank) % cores.size()];
      if (!start_rank(rank, environment, core)) return;
    }
  }

  bool start_rank(int rank, Environment& environment, const cpu_set_t* core) {
    auto for_client = server_->environment_of(rank);
    if (!for_client.ok()) {
      fail(kExitFailure, for_client.status().text());
      return false;
    }
    for (const std::string& assignment : for_client.value()) environment.set(assignment);
    for (const auto& [name, value] : options_.environment) environment.set(name, value);
    Spawned spawned = spawn({.command = options_.command,
                             .environment = environment.entries(),
                             .takes_stdin = rank == 0,
                             .cores = core});
    if (spawned.pid < 0) {
      const char* const why = std::strerror(spawned.error);
      if (!spawned.at_exec) {
        fail(kExitFailure, fmt::format("cannot start rank {} of {}: {}", rank, options_.ranks, why));
      } else {
        const bool missing = spawned.error == ENOENT || spawned.error == ENOTDIR;
        fail(missing ? kExitNotFound : kExitNotExecutable,
             fmt::format("cannot run '{}': {}", options_.command.front(), why));
      }
      return false;
    }
    ranks_.push_back({.pid = spawned.pid, .running = true});
    forwarder_.add_rank(rank, std::move(spawned.out), std::move(spawned.err));
    return true;
  }

  /// Notes the first failure, whose code becomes rmarun's, and ends the job. Later ones are its consequences.
  void fail(int exit_code, std::string_view why) {
    if (exit_code_) return;
    exit_code_ = exit_code;
    forwarder_.say(why);
    end_processes();
  }

  void end_processes() {
    if (kill_at_) return;
    signal_descendants(SIGTERM);
    signal_descendants(SIGCONT);  // what is stopped could not end
    kill_at_ = Clock::now() + kGrace;
  }

  /// Waits for something to happen, and deals with it. False when the last output of a job that was cut short
  /// finds no reader.
  bool turn() {
    std::vector<pollfd> polls = {{signals_.get(), POLLIN, 0}, {server_->wakeup(), POLLIN, 0}};
    forwarder_.add_polls(polls);
    const bool flushing = children_gone_ && exit_code_.has_value();
    const int ready = ::poll(polls.data(), polls.size(), poll_timeout());
    if (ready > 0) {
      if (polls[0].revents != 0 && !take_signals()) return false;
      if (polls[1].revents != 0) server_->clear_wakeup();
      if (!forwarder_.handle(polls))
        fail(kExitSignal + SIGPIPE, "nobody reads stdout any more; ending the job");
    }
    look_at_clock();
    look_at_server();
    return ready != 0 || !flushing;
  }

  [[nodiscard]] int poll_timeout() const {
    if (children_gone_) return exit_code_ ? static_cast<int>(kLastOutput.count()) : -1;
    std::optional<Clock::time_point> next = kill_at_;
    if (timeout_ && !exit_code_) next = next ? std::min(*next, *timeout_) : *timeout_;
    if (!next) return -1;
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(*next - Clock::now()).count();
    constexpr decltype(wait) kLongest = 1 << 30;  // what is further away is looked at again then
    return static_cast<int>(std::clamp<decltype(wait)>(wait, 0, kLongest));
  }

  /// False when the job is over and rmarun is asked not to wait for its readers.
  bool take_signals() {
    signalfd_siginfo info{};
    bool wait = true;
    while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      const int signal = static_cast<int>(info.ssi_signo);
      if (signal == SIGCHLD) continue;  // reap() looks anyway
      fail(kExitSignal + signal, fmt::format("interrupted by {}; ending the job", describe_signal(signal)));
      wait = !children_gone_;
    }
    return wait;
  }

  void look_at_clock() {
    const auto now = Clock::now();
    if (timeout_ && now >= *timeout_ && !children_gone_) {
      fail(kExitTimeout, fmt::format("no end after {} s; ending the job", *options_.timeout_seconds));
    }
    if (kill_at_ && now >= *kill_at_) {
      signal_descendants(SIGKILL);
      kill_at_ = now + kKillPeriod;
    }
  }

  void look_at_server() {
    if (exit_code_) return;
    if (const auto abort = server_->abort_request()) {
      // A job that was aborted has not succeeded, whatever code the rank gave.
      const int code = abort->code & 0xff;
      return fail(code == 0 ? kExitFailure : code,
                  fmt::format("rank {} aborted the job with exit code {}", abort->rank, abort->code));
    }
    // Ranks that have joined wait for every other, so for one that is gone they would wait for ever.
    for (size_t waiting = 0; waiting < ranks_.size(); ++waiting) {
      if (!ranks_[waiting].running || server_->stage(static_cast<int>(waiting)) != Stage::kJoined) continue;
      for (size_t gone = 0; gone < ranks_.size(); ++gone) {
        if (!ranks_[gone].succeeded || server_->stage(static_cast<int>(gone)) != Stage::kNone) continue;
        return fail(kExitFailure,
                    fmt::format("rank {} exited with code 0 without joining the job that rank {} has "
                                "joined; ending the job",
                                gone, waiting));
      }
    }
  }

  void reap() {
    int status = 0;
    pid_t pid = 0;
    while ((pid = ::waitpid(-1, &status, WNOHANG)) > 0) {
      const auto rank = std::find_if(ranks_.begin(), ranks_.end(),
                                     [&](const Rank& r) { return r.running && r.pid == pid; });
      if (rank == ranks_.end()) continue;  // a process that a rank left behind
      rank->running = false;
      look_at_server();  // an abort comes before the exit that follows it
      judge(static_cast<int>(rank - ranks_.begin()), status);
    }
    children_gone_ = pid < 0;
    look_at_server();
  }

  void judge(int number, int status) {
    Rank& rank = ranks_[static_cast<size_t>(number)];
    if (WIFSIGNALED(status)) {
      return fail(kExitSignal + WTERMSIG(status),
                  fmt::format("rank {} (pid {}) was killed by {}{}; ending the job", number, rank.pid,
                              describe_signal(WTERMSIG(status)), WCOREDUMP(status) ? ", core dumped" : ""));
    }
    if (const int code = WEXITSTATUS(status); code != 0) {
      return fail(
          code, fmt::format("rank {} (pid {}) exited with code {}; ending the job", number, rank.pid, code));
    }
    rank.succeeded = true;
    const bool others = std::any_of(ranks_.begin(), ranks_.end(), [](const Rank& r) { return r.running; });
    if (others && server_->stage(number) == Stage::kJoined) {
      fail(kExitFailure,
           fmt::format("rank {} (pid {}) exited with code 0 without leaving the job it had joined "
                       "(rma_finalize, PMIx_Finalize) while others run; ending the job",
                       number, rank.pid));
    }
  }

  const Options& options_;
  const Environment inherited_;
  std::unique_ptr<PmixServer> server_;
  Descriptor signals_;
  Forwarder forwarder_;
  std::vector<Rank> ranks_;
  std::optional<int> exit_code_;              ///< set by the first failure
  std::optional<Clock::time_point> timeout_;  ///< when --timeout ends the job
  std::optional<Clock::time_point> kill_at_;  ///< set once the job is being ended: when to send SIGKILL next
  bool children_gone_ = false;
};

}  // namespace

int run_job(const Options& options, const std::string& directory) {
  // A reader that goes away is an error of write(2), not the end of rmarun.
  ::signal(SIGPIPE, SIG_IGN);
  const auto complain = [](std::string_view why) {
    fmt::print(stderr, "rmarun: {}\n", why);
    return kExitFailure;
  };
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGCHLD);
  for (const int signal : kEndingSignals) ::sigaddset(&set, signal);
  Descriptor signals(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals.open()) return complain(fmt::format("signalfd: {}", std::strerror(errno)));

  Environment inherited = Environment::inherited();
  look_for_processors_only();
  auto server = PmixServer::start(options.ranks, directory);
  if (!server.ok()) return complain(server.status().text());
  return Job(options, std::move(inherited), std::move(server).value(), std::move(signals)).run();
}

}  // namespace rmarun
