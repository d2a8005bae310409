#include "rmarun/hosts/hosts_job.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "rmarun/environment.hpp"
#include "rmarun/exit_codes.hpp"
#include "rmarun/forwarder.hpp"
#include "rmarun/hosts/agents.hpp"
#include "rmarun/hosts/connections.hpp"
#include "rmarun/hosts/description.hpp"
#include "rmarun/hosts/engine.hpp"
#include "rmarun/hosts/frames.hpp"
#include "rmarun/hosts/remote_ranks.hpp"
#include "rmarun/passing.hpp"
#include "rmarun/processes.hpp"
#include "rmarun/signals.hpp"
#include "rmarun/spawn.hpp"
#include "rmarun/version.hpp"
#include "util/system/interruptions.hpp"

namespace rmarun {
namespace {

using HostsClock = std::chrono::steady_clock;

/// The time that the engine has to end after SIGTERM. Without a link to one of its daemons it never does.
constexpr auto kEngineGrace = std::chrono::seconds(5);
constexpr auto kEngineKillRound = std::chrono::milliseconds(20);
/// How long the verdict waits for the death of a rank by a signal, when a rank has ended with a code: that
/// may be the consequence, and has come over another connection.
constexpr auto kVerdictGrace = std::chrono::milliseconds(300);
/// How often rmarun looks whether the hosts answer the engine.
constexpr auto kLookPeriodOfFront = std::chrono::seconds(1);
/// How long a job that was cut short waits for a reader of its last output.
constexpr auto kReaderGrace = std::chrono::milliseconds(200);

class HostsJob {
 public:
  HostsJob(const Options& options, std::vector<std::string> hosts, std::string directory,
           const Engine& engine, Descriptor signals)
      : options_(options),
        directory_(std::move(directory)),
        engine_name_(std::filesystem::path(engine.path).filename()),
        verbose_(std::getenv("RMARUN_VERBOSE") != nullptr),
        signals_(std::move(signals)),
        forwarder_(options.ranks(), options.label),
        ranks_(std::move(hosts)),
        reader_(engine.carriage(), options.ranks(),
                {.output = [this](int rank, Outlet::Stream stream,
                                  std::string_view bytes) { forwarder_.feed(rank, stream, bytes); },
                 .words = [this](int rank, std::string_view words) { hear(rank, words); },
                 .engine_text = [this](std::string_view text) { take_engine_text(text); }}) {
    for (int rank = 0; rank < options.ranks(); ++rank) forwarder_.add_remote_rank(rank);
  }

  int run(const std::vector<std::string>& command, const Environment& environment, bool with_stdin,
          Progress& progress) {
    if (verbose_) forwarder_.say(fmt::format("{}", fmt::join(command, " ")));
    const auto now = HostsClock::now();
    start_limit_ = now + in_seconds(options_.start_seconds);
    if (options_.timeout_seconds) timeout_ = now + in_seconds(*options_.timeout_seconds);
    if (!start_engine(command, environment, with_stdin)) return finish(progress);
    while (true) {
      reap();
      if (children_gone_) break;
      turn();
    }
    read_rest();
    conclude_after_engine();
    return finish(progress);
  }

 private:
  static HostsClock::duration in_seconds(double seconds) {
    return std::chrono::duration_cast<HostsClock::duration>(std::chrono::duration<double>(seconds));
  }

  bool start_engine(const std::vector<std::string>& command, const Environment& environment,
                    bool with_stdin) {
    rlimit descriptors{};
    ::getrlimit(RLIMIT_NOFILE, &descriptors);
    Spawned spawned = spawn({.command = command,
                             .environment = environment.entries(),
                             .takes_stdin = with_stdin,
                             .descriptors = descriptors});
    if (spawned.pid < 0) {
      const std::string hint = spawned.error == E2BIG ? " (the environment is too large)" : "";
      fail(kExitFailure,
           fmt::format("cannot run {}: {}{}", command.front(), std::strerror(spawned.error), hint));
      return false;
    }
    engine_.push_back({.pid = spawned.pid, .running = true});
    pipes_ = {std::move(spawned.out), std::move(spawned.err)};
    children_gone_ = false;
    next_look_ = HostsClock::now() + kLookPeriodOfFront;
    return true;
  }

  /// Writes the rest of the output. Returns rmarun's exit code.
  int finish(Progress& progress) {
    progress.over.store(true, std::memory_order_release);  // pairs with the guard's acquire
    forwarder_.drain();
    while (!forwarder_.empty() && turn()) {
    }
    return exit_code_.value_or(0);
  }

  void hear(int rank, std::string_view words) {
    const std::string remark = ranks_.take(rank, words);
    if (!remark.empty() && remark != last_remark_) forwarder_.say(remark);
    last_remark_ = remark;
  }

  void take_engine_text(std::string_view text) {
    ranks_.take_engine_text(text);
    if (verbose_) std::fwrite(text.data(), 1, text.size(), stderr);
  }

  void fail(int exit_code, std::string_view why) {
    if (exit_code_) return;
    forwarder_.say(why);
    exit_code_ = exit_code;
    end_engine();
  }

  void end_engine() {
    if (kill_at_ || children_gone_) return;
    for (const Rank& engine : engine_) {
      if (!engine.running) continue;
      ::kill(engine.pid, SIGTERM);
      ::kill(engine.pid, SIGCONT);  // a stopped engine could not end
    }
    kill_at_ = HostsClock::now() + kEngineGrace;
  }

  /// Waits for the next event and handles it. Returns false if a job was cut short and nobody reads its last
  /// output.
  bool turn() {
    std::vector<pollfd> polls = {{signals_.get(), POLLIN, 0}};
    for (const Descriptor& pipe : pipes_)
      polls.push_back({pipe.open() && !forwarder_.full() ? pipe.get() : -1, POLLIN, 0});
    forwarder_.add_polls(polls);
    const bool flushing = children_gone_ && exit_code_.has_value();
    const int ready = ::poll(polls.data(), polls.size(), poll_timeout());
    if (ready > 0) {
      if (polls[0].revents != 0 && !take_signals()) return false;
      for (std::size_t stream = 0; stream < pipes_.size(); ++stream) {
        if (polls[stream + 1].revents != 0) read_some(stream);
      }
    }
    if (const auto failure = forwarder_.handle(polls)) {
      if (const auto verdict = failure->verdict()) fail(verdict->exit_code, verdict->why);
    }
    passer_.look(engine_);
    if (!children_gone_) look_at_job();
    return ready != 0 || !flushing;
  }

  void look_at_job() {
    const auto now = HostsClock::now();
    if (next_look_ && now >= *next_look_ && !exit_code_) {
      next_look_ = now + kLookPeriodOfFront;
      for (const Connection& each : connections_of(engine_.front().pid)) {
        if (each.silent) ranks_.note_silence(each.there);
      }
    }
    if (ranks_.failed() && !exit_code_) {
      if (!verdict_at_) verdict_at_ = now + kVerdictGrace;
      if (!ranks_.may_change() || now >= *verdict_at_) conclude(ranks_.cause());
    }
    if (timeout_ && now >= *timeout_)
      fail(kExitTimeout, fmt::format("no end after {} s; ending the job", *options_.timeout_seconds));
    if (start_limit_ && now >= *start_limit_) {
      start_limit_.reset();
      if (const std::string missing = ranks_.not_started(); !missing.empty()) {
        fail(kExitFailure, fmt::format("no rank has started within {} s on {}{}", options_.start_seconds,
                                       missing, agents_text(directory_)));
      }
    }
    if (kill_at_ && now >= *kill_at_) {
      signal_descendants(SIGKILL);
      kill_at_ = now + kEngineKillRound;
    }
  }

  void conclude(const Verdict& verdict) { fail(verdict.exit_code, verdict.why); }

  /// Finds the verdict of a job whose engine has ended.
  void conclude_after_engine() {
    if (exit_code_) return;
    if (ranks_.failed()) return conclude(ranks_.cause());
    if (ranks_.all_succeeded()) return;
    if (const std::string failed = agents_text(directory_); !failed.empty())
      return fail(kExitFailure, "the job cannot start" + failed);
    const int code =
        WIFSIGNALED(engine_status_) ? kExitSignal + WTERMSIG(engine_status_) : WEXITSTATUS(engine_status_);
    std::string lines;
    for (const std::string& line : ranks_.last_lines()) lines += "\n  " + line;
    const std::string missing = ranks_.not_ended();
    fail(
        code == 0 ? kExitFailure : code,
        fmt::format("{} {}{}{}{}", engine_name_,
                    WIFSIGNALED(engine_status_) ? "was killed by " + describe_signal(WTERMSIG(engine_status_))
                                                : fmt::format("has ended with code {}", code),
                    missing.empty() ? "" : " before the ranks on " + missing,
                    lines.empty() ? "" : ". It says:", lines));
  }

  [[nodiscard]] int poll_timeout() const {
    if (children_gone_) return exit_code_ ? static_cast<int>(kReaderGrace.count()) : -1;
    std::optional<HostsClock::time_point> next = kill_at_;
    const auto also = [&](const std::optional<HostsClock::time_point>& look) {
      if (look) next = next ? std::min(*next, *look) : *look;
    };
    if (!exit_code_) {
      also(timeout_);
      also(start_limit_);
      also(verdict_at_);
      also(next_look_);
    }
    also(passer_.next_look());
    also(forwarder_.next_look());
    if (!next) return -1;
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(*next - HostsClock::now()).count();
    constexpr decltype(wait) kLongest = 1 << 30;  // what is further away is looked at again then
    return static_cast<int>(std::clamp<decltype(wait)>(wait, 0, kLongest));
  }

  bool take_signals() {
    signalfd_siginfo info{};
    bool wait = true;
    while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      const int signal = static_cast<int>(info.ssi_signo);
      if (signal == SIGCHLD) continue;  // reap() looks anyway
      if (is_passed_on(signal)) {
        passer_.pass(signal, engine_);
        continue;
      }
      if (signal == kExplainingSignal) {
        forwarder_.say("what the ranks wait for is known on one host only");
        continue;
      }
      fail(kExitSignal + signal, fmt::format("interrupted by {}; ending the job", describe_signal(signal)));
      wait = !children_gone_;
    }
    return wait;
  }

  /// Reads once from the engine. Returns false if there is nothing to read now, or if the stream has ended.
  bool read_some(std::size_t stream) {
    std::array<char, std::size_t{64} << 10> piece;
    const ssize_t count =
        librma::uninterrupted([&] { return ::read(pipes_[stream].get(), piece.data(), piece.size()); });
    if (count < 0 && errno == EAGAIN) return false;
    if (count <= 0) {
      pipes_[stream].reset();
      return false;
    }
    const std::string_view bytes(piece.data(), static_cast<std::size_t>(count));
    if (stream == 0) {
      reader_.feed(bytes);
    } else {
      take_engine_text(bytes);
    }
    return true;
  }
  void read_rest() {
    for (std::size_t stream = 0; stream < pipes_.size(); ++stream) {
      while (pipes_[stream].open() && read_some(stream)) {
      }
    }
    ranks_.end_engine_text();
  }

  void reap() {
    int status = 0;
    pid_t pid = 0;
    while ((pid = ::waitpid(-1, &status, WNOHANG)) > 0) {
      if (engine_.empty() || pid != engine_.front().pid) continue;
      engine_.front().running = false;
      engine_status_ = status;
      // Remote shells that the engine has left.
      if (!kill_at_) kill_at_ = HostsClock::now();
    }
    children_gone_ = pid < 0;
  }

  const Options& options_;
  const std::string directory_;
  const std::string engine_name_;
  const bool verbose_;
  Descriptor signals_;
  Forwarder forwarder_;
  SignalPasser passer_{::getppid()};
  RemoteRanks ranks_;
  FrameReader reader_;
  std::vector<Rank> engine_;  ///< one process, once it has started
  int engine_status_ = 0;
  std::array<Descriptor, 2> pipes_;
  std::string last_remark_;
  std::optional<int> exit_code_;                       ///< set by the first failure
  std::optional<HostsClock::time_point> timeout_;      ///< when --timeout ends the job
  std::optional<HostsClock::time_point> start_limit_;  ///< when all ranks must have started
  std::optional<HostsClock::time_point> next_look_;    ///< at the engine's connections
  std::optional<HostsClock::time_point> verdict_at_;   ///< when the verdict waits no more
  std::optional<HostsClock::time_point>
      kill_at_;  ///< set once the job is being ended: when to send SIGKILL next
  bool children_gone_ = true;
};

/// Whether rank 0 may read rmarun's stdin: not in the background of a terminal, where reading stops the
/// reader.
bool may_read_stdin() { return ::isatty(STDIN_FILENO) == 0 || ::tcgetpgrp(STDIN_FILENO) == ::getpgrp(); }

}  // namespace

int run_hosts_job(const Options& options, const std::string& directory, Progress& progress) {
  // A reader that goes away is an error of write(2), not the end of rmarun.
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);  // so is a file that reaches the limit of ulimit -f
  const auto complain = [](std::string_view why) {
    fmt::print(stderr, "rmarun: {}\n", why);
    return kExitFailure;
  };
  const sigset_t set = awaited_signals();
  Descriptor signals(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals.open()) return complain(fmt::format("signalfd: {}", std::strerror(errno)));
  const auto engine = find_engine(options.way);
  if (!engine.ok()) return complain(engine.status().text());
  const auto files = write_engine_files(engine.value(), options.way, options.placed, directory);
  if (!files.ok()) return complain(files.status().text());

  Description description;
  description.version = version();
  description.origin = own_host_name();
  std::error_code error;
  description.directory = std::filesystem::current_path(error).string();
  description.carriage = engine.value().carriage();
  description.bind = options.bind;
  description.stdin_for_first = may_read_stdin();
  description.programs = options.programs;
  for (const Placed& each : options.placed)
    description.hosts.insert(description.hosts.end(), static_cast<std::size_t>(each.ranks), each.host.name);

  Environment environment = Environment::inherited();
  std::vector<std::string> carried;
  for (const std::string& entry : environment.entries()) {
    const std::string name = entry.substr(0, entry.find('='));
    if (!goes_to_other_hosts(name)) continue;
    description.environment.push_back(entry);
    // The keeper itself needs these to start.
    if (name == "PATH" || name == "LD_LIBRARY_PATH") carried.push_back(name);
  }
  for (const std::string& variable : packed(description)) {
    environment.set(variable);
    carried.push_back(variable.substr(0, variable.find('=')));
  }
  if (engine.value().kind == EngineKind::kSrun) environment.set("SLURM_HOSTFILE", files.value().hosts);
  const auto command = engine_command(engine.value(), options.way, options.placed, files.value(), carried);
  return HostsJob(options, description.hosts, directory, engine.value(), std::move(signals))
      .run(command, environment, description.stdin_for_first, progress);
}

}  // namespace rmarun
