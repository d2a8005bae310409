#include "rmarun/job.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "rmarun/deadlines.hpp"
#include "rmarun/descriptors.hpp"
#include "rmarun/ending.hpp"
#include "rmarun/environment.hpp"
#include "rmarun/exit_codes.hpp"
#include "rmarun/forwarder.hpp"
#include "rmarun/passing.hpp"
#include "rmarun/pmix_server.hpp"
#include "rmarun/preparation.hpp"
#include "rmarun/processes.hpp"
#include "rmarun/rank_server.hpp"
#include "rmarun/rank_starter.hpp"
#include "rmarun/signals.hpp"
#include "rmarun/verdict.hpp"
#include "rmarun/waits.hpp"

namespace rmarun {
namespace {

using Clock = std::chrono::steady_clock;

/// The time that ranks have to end by themselves after SIGTERM. The whole job ends within 2 s.
constexpr auto kGrace = std::chrono::milliseconds(500);
/// How long a job that was cut short waits for a reader of its last output.
constexpr auto kLastOutput = std::chrono::milliseconds(200);

class Job {
 public:
  Job(const Options& options, Environment inherited, const rlimit& descriptors, std::string directory,
      Preparation preparation, Descriptor signals)
      : options_(options),
        directory_(std::move(directory)),
        preparation_(std::move(preparation)),
        signals_(std::move(signals)),
        forwarder_(options.seats(), options.label),
        starter_(options, std::move(inherited), descriptors, ranks_, forwarder_) {
    if (options.survive) failures_.survive();
  }

  int run(Progress& progress) {
    if (options_.timeout_seconds) timeout_ = Clock::now() + seconds_of(*options_.timeout_seconds);
    while (server_ == nullptr && !exit_code_) turn();
    while (true) {
      reap();
      if (children_gone_ && !case_open()) break;
      if (none_runs()) ending_.ask_all(kGrace);
      turn();
    }
    progress.over.store(true, std::memory_order_release);  // pairs with the guard's acquire
    say_about_other_mpi();
    forwarder_.drain();
    const Verdict after = failures_.after_leaving();
    if (!exit_code_) say(after);
    while (!forwarder_.empty() && turn()) {
    }
    return exit_code_.value_or(after.exit_code);
  }

 private:
  /// Says that the ranks were no job, if they have loaded another MPI itself.
  void say_about_other_mpi() {
    if (server_ == nullptr || ranks_.size() < 2 || any_has_joined()) return;
    if (const std::string advice = starter_.other_mpi().advice(); !advice.empty()) forwarder_.say(advice);
  }

  [[nodiscard]] bool any_has_joined() const {
    for (int rank = 0; rank < options_.ranks(); ++rank) {
      if (server_->reports().stage(rank) != Stage::kNone) return true;
    }
    return false;
  }

  /// A rank that has joined ends the watch, for this is a job then.
  void look_at_other_mpi() {
    if (any_has_joined()) {
      starter_.other_mpi().stop();
    } else {
      starter_.other_mpi().look();
    }
  }

  void start_ranks() {
    auto prepared = preparation_.take();
    if (!prepared.ok()) return fail(kExitFailure, prepared.status().text());
    server_ = prepared.value().server;
    rank_server_ = prepared.value().ranks;
    if (const auto why = starter_.start_job(std::move(prepared).value(), directory_))
      fail(why->exit_code, why->why);
  }

  /// Starts the ranks that others have asked for.
  void spawn_ranks() {
    for (const SpawnAsked& asked : server_->reports().take_spawns()) {
      asked.answer(exit_code_ ? SpawnOutcome{.started = {}, .why_none = "the job is ending"}
                              : starter_.start_asked(asked));
    }
  }

  [[nodiscard]] bool case_open() const {
    return (failures_.failed() || failures_.undecided()) && !exit_code_;
  }

  /// Ends the case once the verdict is known. `overdue`: by what is known now.
  void settle(bool overdue) {
    if (!case_open()) return;
    if (const auto verdict = failures_.cause(server_->reports(), overdue)) conclude(*verdict);
  }

  /// Notes the first failure, whose code becomes rmarun's, and ends the job. Later failures are consequences.
  void fail(int exit_code, std::string_view why) {
    settle(true);
    if (!exit_code_) conclude({exit_code, std::string(why)});
  }

  void conclude(const Verdict& verdict) {
    say(verdict);
    exit_code_ = verdict.exit_code;
    ending_.ask_all(kGrace);
  }
  void say(const Verdict& verdict) {
    if (!verdict.why.empty()) forwarder_.say(verdict.why);
  }

  /// Waits for the next event and handles it. Returns false if a job was cut short and nobody reads its last
  /// output.
  bool turn() {
    const int news = server_ != nullptr ? server_->reports().wakeup() : preparation_.done();
    std::vector<pollfd> polls = {
        {signals_.get(), POLLIN, 0}, {news, POLLIN, 0}, {starter_.other_mpi().news(), POLLIN, 0}};
    forwarder_.add_polls(polls);
    const bool flushing = children_gone_ && exit_code_.has_value();
    const int ready = ::poll(polls.data(), polls.size(), poll_timeout());
    if (ready > 0) {
      if (polls[0].revents != 0 && !take_signals()) return false;
      if (polls[1].revents != 0) take_news();
      if (polls[2].revents != 0) look_at_other_mpi();
    }
    if (const auto failure = forwarder_.handle(polls)) {
      if (const auto verdict = failure->verdict()) fail(verdict->exit_code, verdict->why);
    }
    look_at_clock();
    passer_.look(ranks_);
    look_at_server();
    return ready != 0 || !flushing;
  }

  [[nodiscard]] int poll_timeout() const {
    if (children_gone_ && !case_open()) return exit_code_ ? static_cast<int>(kLastOutput.count()) : -1;
    return poll_timeout_until(earliest({ending_.next_look(), exit_code_ ? Deadline() : timeout_, look_again_,
                                        passer_.next_look(), forwarder_.next_look()}));
  }

  void take_news() {
    if (server_ != nullptr) {
      server_->reports().clear_wakeup();
      spawn_ranks();
    } else if (!exit_code_) {
      start_ranks();
    }
  }

  /// Returns false if the job is over and a signal tells rmarun not to wait for its readers.
  bool take_signals() {
    bool wait = true;
    while (const auto taken = next_signal(signals_)) {
      const int signal = *taken;
      if (signal == SIGCHLD) continue;  // reap() looks anyway
      if (is_passed_on(signal)) {
        passer_.pass(signal, ranks_);
        continue;
      }
      if (signal == kExplainingSignal) {
        explain_waits();
        continue;
      }
      fail(kExitSignal + signal,
           fmt::format("interrupted by {}; {}", describe_signal(signal), consequence()));
      wait = !children_gone_;
    }
    return wait;
  }

  void look_at_clock() {
    const auto now = Clock::now();
    if (timeout_ && now >= *timeout_ && !children_gone_) {
      if (!exit_code_) explain_waits();
      fail(kExitTimeout, fmt::format("no end after {} s; {}", *options_.timeout_seconds, consequence()));
    }
    if (!ending_.due()) return;
    settle(true);
    ending_.kill();
  }

  void explain_waits() {
    if (ranks_.empty()) return forwarder_.say("no rank has started");
    if (starter_.waits().assignment().empty())
      return forwarder_.say("no room for a file about the ranks' waits in TMPDIR");
    forwarder_.say("what the ranks wait for:");
    for (const std::string& line : explain_hang(starter_.waits().look(ranks_))) forwarder_.say("  " + line);
  }

  [[nodiscard]] std::string_view consequence() const {
    return server_ != nullptr ? "ending the job" : "no rank has started, since PMIx is still being prepared";
  }

  [[nodiscard]] bool none_runs() const {
    return std::none_of(ranks_.begin(), ranks_.end(), [](const Rank& r) { return r.running; });
  }

  void look_at_server() {
    look_again_.reset();
    if (server_ == nullptr) return;
    Reports& reports = server_->reports();
    if (!exit_code_) {
      if (failures_.has_failed(reports)) ending_.ask_all(kGrace);
      for (const std::string& said : failures_.take_survived()) forwarder_.say(said);
      settle(false);
    }
    if (!exit_code_ && !failures_.failed() && !none_runs()) {
      if (const auto verdict = failures_.vanished(reports)) conclude(*verdict);
    }
    if (!exit_code_) look_again_ = failures_.look_again();
    // A rank whose request comes only now waits for the next look, unless nothing depends on it any more.
    if (exit_code_ || failures_.failed()) reports.answer_aborts();
  }

  void reap() {
    std::vector<Ended> ended;
    int status = 0;
    pid_t pid = 0;
    while ((pid = ::waitpid(-1, &status, WNOHANG)) > 0) {
      const auto rank = std::find_if(ranks_.begin(), ranks_.end(),
                                     [&](const Rank& r) { return r.running && r.pid == pid; });
      if (rank == ranks_.end()) continue;  // a process that a rank left behind
      rank->running = false;
      if (rank->unwanted) continue;
      ended.push_back({static_cast<size_t>(rank - ranks_.begin()), status});
    }
    children_gone_ = pid < 0;
    failures_.note(ended);
    look_at_server();
    for (const Ended& each : ended) rank_server_->note_end(static_cast<int>(each.rank));
  }

  const Options& options_;
  const std::string directory_;
  Preparation preparation_;
  PmixServer* server_ = nullptr;       ///< null until the ranks start
  RankServer* rank_server_ = nullptr;  ///< null until the ranks start
  Descriptor signals_;
  Forwarder forwarder_;
  SignalPasser passer_{::getppid()};
  std::vector<Rank> ranks_;
  FailureFinder failures_{ranks_};
  RankStarter starter_;
  std::optional<int> exit_code_;  ///< set by the first failure
  Ending ending_;
  Deadline timeout_;     ///< when --timeout ends the job
  Deadline look_again_;  ///< when to look again for the end of a connection
  bool children_gone_ = false;
};

}  // namespace

int run_job(const Options& options, const std::string& directory, Progress& progress) {
  const auto complain = [](std::string_view why) {
    fmt::print(stderr, "rmarun: {}\n", why);
    return kExitFailure;
  };
  auto signals = open_signals();
  if (!signals.ok()) return complain(signals.status().text());
  const auto descriptors = make_room_for(options.seats());
  if (!descriptors.ok()) return complain(descriptors.status().text());

  provide_home();
  Environment inherited = Environment::inherited();
  auto preparation = Preparation::start(options, directory);
  if (!preparation.ok()) return complain(preparation.status().text());
  return Job(options, std::move(inherited), descriptors.value(), directory, std::move(preparation).value(),
             std::move(signals).value())
      .run(progress);
}

}  // namespace rmarun
