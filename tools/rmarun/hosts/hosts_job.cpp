#include "rmarun/hosts/hosts_job.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "rmarun/deadlines.hpp"
#include "rmarun/ending.hpp"
#include "rmarun/environment.hpp"
#include "rmarun/exit_codes.hpp"
#include "rmarun/forwarder.hpp"
#include "rmarun/hang_report.hpp"
#include "rmarun/hosts/agents.hpp"
#include "rmarun/hosts/connections.hpp"
#include "rmarun/hosts/frames.hpp"
#include "rmarun/hosts/host_addresses.hpp"
#include "rmarun/hosts/hosts_start.hpp"
#include "rmarun/hosts/hosts_verdict.hpp"
#include "rmarun/hosts/meeting_words.hpp"
#include "rmarun/hosts/remote_ranks.hpp"
#include "rmarun/hosts/remote_waits.hpp"
#include "rmarun/passing.hpp"
#include "rmarun/processes.hpp"
#include "rmarun/signals.hpp"
#include "rmarun/spawn.hpp"

namespace rmarun {
namespace {

using HostsClock = std::chrono::steady_clock;

/// The time that the engine has to end after SIGTERM. Without a link to one of its daemons it never does.
constexpr auto kEngineGrace = std::chrono::seconds(5);
/// How often rmarun looks whether the hosts answer the engine.
constexpr auto kLookPeriodOfFront = std::chrono::seconds(1);
/// How long a job that was cut short waits for a reader of its last output.
constexpr auto kReaderGrace = std::chrono::milliseconds(200);

class HostsJob {
 public:
  HostsJob(const Options& options, const HostsStart& start, std::string directory, Descriptor signals)
      : options_(options),
        start_(start),
        directory_(std::move(directory)),
        verbose_(has_value("RMARUN_VERBOSE")),
        signals_(std::move(signals)),
        forwarder_(options.ranks(), options.label),
        ranks_(start.hosts, start.hosts_of_names),
        waits_(start.hosts.size()),
        verdict_(ranks_, start.hosts.size(), directory_),
        reader_(start.engine.carriage(), options.ranks(),
                {.output = [this](int rank, Outlet::Stream stream,
                                  std::string_view bytes) { forwarder_.feed(rank, stream, bytes); },
                 .words = [this](int rank, std::string_view words) { hear(rank, words); },
                 .engine_text = [this](std::string_view text) { take_engine_text(text); }}) {
    for (int rank = 0; rank < options.ranks(); ++rank) forwarder_.add_remote_rank(rank);
    if (start.engine.kind == EngineKind::kMpirun) ranks_.expect_words_on_codes();
  }

  int run(Progress& progress) {
    if (verbose_) forwarder_.say(fmt::format("{}", fmt::join(start_.command, " ")));
    const auto now = HostsClock::now();
    start_limit_ = now + seconds_of(options_.way.start_seconds);
    if (options_.timeout_seconds) timeout_ = now + seconds_of(*options_.timeout_seconds);
    if (!start_engine()) return finish(progress);
    while (true) {
      reap();
      if (children_gone_) break;
      turn();
    }
    read_rest();
    if (!exit_code_) {
      const Verdict verdict = verdict_.after_engine(start_.engine.path, engine_status_);
      if (!verdict.why.empty()) fail(verdict.exit_code, verdict.why);
    }
    return finish(progress);
  }

 private:
  bool start_engine() {
    rlimit descriptors{};
    ::getrlimit(RLIMIT_NOFILE, &descriptors);
    Spawned spawned = spawn({.command = start_.command,
                             .environment = start_.environment,
                             .takes_stdin = start_.with_stdin,
                             .descriptors = descriptors});
    if (spawned.pid < 0) {
      const std::string hint = spawned.error == E2BIG ? " (the environment is too large)" : "";
      fail(kExitFailure,
           fmt::format("cannot run {}: {}{}", start_.engine.path, std::strerror(spawned.error), hint));
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
    if (words.starts_with(kWaitsWord)) return waits_.take(rank, words);
    if (words.starts_with(kMeetsWord)) return verdict_.take_meeting(rank, words);
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
    if (ending_.begun() || children_gone_) return;
    signal_engine(SIGTERM);
    signal_engine(SIGCONT);  // a stopped engine could not end
    ending_.kill_after(kEngineGrace);
  }
  void signal_engine(int signal) {
    for (const Rank& engine : engine_) {
      if (engine.running) ::kill(engine.pid, signal);
    }
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
    pass_signals();
    passer_.look(engine_);
    if (!children_gone_) look_at_job();
    return ready != 0 || !flushing;
  }

  void look_at_job() {
    const auto now = HostsClock::now();
    if (next_look_ && now >= *next_look_ && !exit_code_) {
      next_look_ = now + kLookPeriodOfFront;
      if (const std::string remark = start_limit_ ? agent_remarks_.take(directory_) : ""; !remark.empty())
        forwarder_.say(remark);
      look_for_silence();
    }
    if (const auto verdict = exit_code_ ? std::nullopt : verdict_.while_engine_runs(now))
      fail(verdict->exit_code, verdict->why);
    if (timeout_ && now >= *timeout_) {
      timeout_.reset();
      ends_after_report_ = true;
      begin_report();
    }
    if (!exit_code_) look_at_waits();
    if (start_limit_ && now >= *start_limit_) {
      start_limit_.reset();
      if (const std::string missing = ranks_.not_started(); !missing.empty()) {
        fail(kExitFailure, fmt::format("no rank has started within {} s on {}{}", options_.way.start_seconds,
                                       missing, agents_text(directory_, ranks_.hosts_without_start())));
      }
    }
    if (ending_.due()) ending_.kill();
  }

  /// Looks whether hosts answer the engine. It waits for what it has sent, for a quarter of an hour.
  void look_for_silence() {
    for (const Connection& each : connections_of(engine_.front().pid)) {
      if (!each.silent || ranks_.note_silence(each.there)) continue;
      if (const std::string host = host_of_end(directory_, each.there); !host.empty()) ranks_.note_lost(host);
    }
  }

  void look_at_waits() {
    switch (waits_.step(ranks_, HostsClock::now())) {
      case RemoteWaits::Step::wait:
        return;
      case RemoteWaits::Step::ask:
        signal_keepers(kAskingSignal);
        return;
      case RemoteWaits::Step::report:
        break;
    }
    forwarder_.say("what the ranks wait for:");
    for (const std::string& line : explain_hang(waits_.states(ranks_))) forwarder_.say("  " + line);
    if (ends_after_report_)
      fail(kExitTimeout, fmt::format("no end after {} s; ending the job", *options_.timeout_seconds));
  }

  /// Sends a signal to all keepers, by the engine.
  void signal_keepers(int signal) {
    if (start_.engine.kind != EngineKind::kSrun) return signal_engine(signal);
    // srun passes few signals on. reap() takes the end of the command.
    rlimit descriptors{};
    ::getrlimit(RLIMIT_NOFILE, &descriptors);
    const std::vector<std::string> command = slurm_signal_command(signal);
    spawn({.command = command, .environment = start_.environment, .descriptors = descriptors});
  }

  [[nodiscard]] int poll_timeout() const {
    if (children_gone_) return exit_code_ ? static_cast<int>(kReaderGrace.count()) : -1;
    const Deadline undecided =
        exit_code_ ? Deadline()
                   : earliest({timeout_, start_limit_, verdict_.next_look(), next_look_, waits_.next_look()});
    return poll_timeout_until(
        earliest({ending_.next_look(), undecided, passer_.next_look(), forwarder_.next_look()}));
  }

  bool take_signals() {
    bool wait = true;
    while (const auto taken = next_signal(signals_)) {
      const int signal = *taken;
      if (signal == SIGCHLD) continue;  // reap() looks anyway
      if (is_passed_on(signal)) {
        held_signals_.push_back(signal);
        continue;
      }
      if (signal == kExplainingSignal) {
        begin_report();
        continue;
      }
      fail(kExitSignal + signal, fmt::format("interrupted by {}; ending the job", describe_signal(signal)));
      wait = !children_gone_;
    }
    return wait;
  }

  /// Passes on what has come. An engine that is starting its daemons takes such a signal for its own end, so
  /// signals wait until all ranks have started.
  void pass_signals() {
    if (held_signals_.empty() || children_gone_ || !ranks_.not_started().empty()) return;
    for (const int signal : std::exchange(held_signals_, {})) {
      passer_.pass(signal, engine_);
      if (start_.engine.kind == EngineKind::kSrun && !srun_passes_on(signal)) signal_keepers(signal);
    }
  }

  /// Begins to ask the ranks what they wait for, if all have started.
  void begin_report() {
    const std::string missing = ranks_.not_started();
    if (missing.empty()) return waits_.begin(HostsClock::now());
    const std::string text = fmt::format("no rank has started yet on {}", missing);
    if (!ends_after_report_) return forwarder_.say(text);
    fail(kExitTimeout,
         fmt::format("{}\nrmarun: no end after {} s; ending the job", text, *options_.timeout_seconds));
  }

  /// Reads once from the engine. Returns false if there is nothing to read now, or if the stream has ended.
  bool read_some(std::size_t stream) {
    std::array<char, std::size_t{64} << 10> piece;
    const std::string_view bytes = read_once(pipes_[stream], piece);
    if (stream + STDOUT_FILENO == static_cast<std::size_t>(start_.engine.descriptor())) {
      reader_.feed(bytes);
    } else {
      take_engine_text(bytes);
    }
    return !bytes.empty();
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
      ending_.kill_after({});
    }
    children_gone_ = pid < 0;
  }

  const Options& options_;
  const HostsStart& start_;
  const std::string directory_;
  const bool verbose_;
  Descriptor signals_;
  Forwarder forwarder_;
  SignalPasser passer_{::getppid()};
  RemoteRanks ranks_;
  RemoteWaits waits_;
  HostsVerdict verdict_;
  FrameReader reader_;
  std::vector<Rank> engine_;  ///< one process, once it has started
  int engine_status_ = 0;
  std::array<Descriptor, 2> pipes_;
  std::string last_remark_;
  std::vector<int> held_signals_;  ///< to be passed on when all ranks have started
  AgentRemarks agent_remarks_;
  std::optional<int> exit_code_;    ///< set by the first failure
  bool ends_after_report_ = false;  ///< the time limit has passed, and what the ranks wait for comes first
  Ending ending_;
  Deadline timeout_;      ///< when --timeout ends the job
  Deadline start_limit_;  ///< when all ranks must have started
  Deadline next_look_;    ///< at the engine's connections
  bool children_gone_ = true;
};

}  // namespace

int run_hosts_job(const Options& options, const std::string& directory, Progress& progress) {
  auto signals = open_signals();
  const auto start = prepare_hosts(options, directory);
  if (!signals.ok() || !start.ok()) {
    fmt::print(stderr, "rmarun: {}\n", signals.ok() ? start.status().text() : signals.status().text());
    return kExitFailure;
  }
  return HostsJob(options, start.value(), directory, std::move(signals).value()).run(progress);
}

}  // namespace rmarun
