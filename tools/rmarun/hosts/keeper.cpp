#include "rmarun/hosts/keeper.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "rmarun/binding.hpp"
#include "rmarun/exit_codes.hpp"
#include "rmarun/hosts/connections.hpp"
#include "rmarun/hosts/description.hpp"
#include "rmarun/hosts/frames.hpp"
#include "rmarun/hosts/host_list.hpp"
#include "rmarun/process_heap.hpp"
#include "rmarun/processes.hpp"
#include "rmarun/signals.hpp"
#include "rmarun/spawn.hpp"
#include "rmarun/version.hpp"
#include "util/system/interruptions.hpp"

namespace rmarun {
namespace {

using KeeperClock = std::chrono::steady_clock;

/// The time that a rank has to end by itself after SIGTERM. Engines kill their processes after a second or
/// more.
constexpr auto kRankGrace = std::chrono::milliseconds(500);
constexpr auto kKillRound = std::chrono::milliseconds(20);
/// So much output at most waits for the engine. Then the rank's pipes fill, and the rank waits.
constexpr std::size_t kMostQueued = std::size_t{256} << 10;
/// How often the first keeper of a host looks whether the host is cut off.
constexpr auto kLookPeriodOfKeeper = std::chrono::seconds(1);
/// How long the end of the keeper waits for an engine that takes no output.
constexpr auto kLastWords = std::chrono::seconds(5);

/// Why a rank could not be started: rmarun's exit code, and the text for the user.
struct Obstacle {
  int exit_code = kExitFailure;
  std::string why;
};

class Keeper {
 public:
  Keeper(Description description, int rank, Descriptor signals)
      : description_(std::move(description)),
        rank_(rank),
        writer_(description_.carriage, rank),
        signals_(std::move(signals)) {}

  int run() {
    const auto obstacle = start();
    if (obstacle) {
      say(fmt::format("fail {} {}", obstacle->exit_code, obstacle->why));
      ended_ = obstacle->exit_code;
    }
    while (!children_gone_) {
      turn();
      reap();
    }
    for (std::size_t stream = 0; stream < pipes_.size(); ++stream) {
      while (pipes_[stream].open() && carry(stream)) {
      }
    }
    if (!obstacle) say(fmt::format("{} {}", how_, asked_ ? 1 : 0));
    give_up_ = KeeperClock::now() + kLastWords;
    while (!queue_.empty() && !engine_gone_ && KeeperClock::now() < *give_up_) turn();
    return ended_.value_or(kExitFailure);
  }

 private:
  void say(std::string_view words) { queue_ += writer_.words(words); }

  std::optional<Obstacle> start() {
    if (description_.version != version()) {
      return Obstacle{
          kExitFailure,
          fmt::format("{} here is {}, and on {} it is {}: all hosts of a job need the same version",
                      own_path(), version(), description_.origin, description_.version)};
    }
    const Program* program = nullptr;
    int first = 0;
    for (const Program& each : description_.programs) {
      if (rank_ >= first && rank_ < first + each.ranks) program = &each;
      first += each.ranks;
    }
    if (program == nullptr) return Obstacle{kExitFailure, "the job has no such rank"};
    if (auto obstacle = go_to_directory(*program)) return obstacle;
    Environment environment = environment_for(*program);
    if (const auto status = preload_process_heap(environment); !status.ok())
      return Obstacle{kExitFailure, std::string(status.text())};
    std::vector<cpu_set_t> cores;
    if (description_.bind == Bind::kCore) {
      auto found = allowed_cores();
      if (!found.ok()) return Obstacle{kExitFailure, std::string(found.status().text())};
      cores = std::move(found).value();
    }
    return spawn_rank(*program, environment, cores);
  }

  std::optional<Obstacle> spawn_rank(const Program& program, const Environment& environment,
                                     const std::vector<cpu_set_t>& cores) {
    // A program is looked for by the rank's PATH, as a shell would, and not by that of the daemon.
    ::setenv("PATH", environment.get("PATH").c_str(), 1);  // NOLINT(concurrency-mt-unsafe): one thread
    rlimit descriptors{};
    ::getrlimit(RLIMIT_NOFILE, &descriptors);
    Spawned spawned = spawn({.command = program.command,
                             .environment = environment.entries(),
                             .directory = nullptr,
                             .takes_stdin = rank_ == 0 && description_.stdin_for_first,
                             .own_group = false,  // engines signal a group, and stop it
                             .cores = cores.empty() ? nullptr : &cores[local_rank() % cores.size()],
                             .descriptors = descriptors});
    if (spawned.pid < 0) {
      if (!spawned.at_exec)
        return Obstacle{kExitFailure, "cannot start the rank: " + describe_refusal(spawned.error)};
      const bool missing = spawned.error == ENOENT || spawned.error == ENOTDIR;
      const std::string hint = missing && description_.hosts.size() > 1
                                   ? fmt::format(" (in {}; do the hosts share no file system?)", directory_)
                                   : "";
      return Obstacle{
          missing ? kExitNotFound : kExitNotExecutable,
          fmt::format("cannot run '{}': {}{}", program.command.front(), std::strerror(spawned.error), hint)};
    }
    ranks_.push_back({.pid = spawned.pid, .running = true});
    pipes_ = {std::move(spawned.out), std::move(spawned.err)};
    children_gone_ = false;
    say(fmt::format("start {} {}", spawned.pid, own_host_name()));
    if (local_rank() == 0) {
      next_look_ = KeeperClock::now();
      for (const Connection& each : connections_of(daemon_)) say("link 0 " + each.here);
    }
    return std::nullopt;
  }

  std::optional<Obstacle> go_to_directory(const Program& program) {
    std::error_code error;
    std::filesystem::path wanted = description_.directory;
    if (!program.directory.empty()) wanted /= program.directory;
    std::filesystem::current_path(wanted, error);
    if (error && !program.directory.empty()) {
      return Obstacle{kExitFailure, fmt::format("cannot start in the directory '{}': {}", wanted.string(),
                                                error.message())};
    }
    if (error) {
      const char* const home = std::getenv("HOME");
      std::error_code at_home;
      std::filesystem::current_path(home != nullptr ? home : "/", at_home);
      if (at_home) std::filesystem::current_path("/", at_home);
      say(fmt::format("note no directory '{}': its ranks start in {}", wanted.string(),
                      std::filesystem::current_path(at_home).string()));
    }
    directory_ = std::filesystem::current_path(error).string();
    return std::nullopt;
  }

  /// The host's variables and the engine's, below those of rmarun, below those of the command line.
  [[nodiscard]] Environment environment_for(const Program& program) const {
    Environment environment;
    for (char** entry = environ; *entry != nullptr; ++entry) {
      if (!std::string_view(*entry).starts_with(kDescriptionVariable)) environment.set(std::string(*entry));
    }
    for (const std::string& assignment : description_.environment) environment.set(assignment);
    environment.set("PWD", directory_);
    for (const auto& [name, value] : program.environment) environment.set(name, value);
    return environment;
  }

  /// Returns how many ranks before this one are on the same host.
  [[nodiscard]] std::size_t local_rank() const {
    const auto& hosts = description_.hosts;
    const auto self = static_cast<std::size_t>(rank_);
    if (self >= hosts.size()) return 0;
    return static_cast<std::size_t>(
        std::count(hosts.begin(), hosts.begin() + static_cast<std::ptrdiff_t>(self), hosts[self]));
  }

  static std::string own_path() {
    std::error_code error;
    return std::filesystem::read_symlink("/proc/self/exe", error).string();
  }

  /// Waits for the next event and handles it.
  void turn() {
    std::vector<pollfd> polls = {{signals_.get(), POLLIN, 0},
                                 {STDOUT_FILENO, static_cast<short>(queue_.empty() ? 0 : POLLOUT), 0}};
    for (const Descriptor& pipe : pipes_) {
      const bool wanted = pipe.open() && queue_.size() < kMostQueued;
      polls.push_back({wanted ? pipe.get() : -1, POLLIN, 0});
    }
    if (engine_gone_) polls[1].fd = -1;
    const int ready = ::poll(polls.data(), polls.size(), poll_timeout());
    if (ready > 0) {
      if (polls[0].revents != 0) take_signals();
      if (polls[1].revents != 0) write_some((polls[1].revents & (POLLERR | POLLHUP)) != 0);
      for (std::size_t stream = 0; stream < pipes_.size(); ++stream) {
        if (polls[stream + 2].revents != 0) carry(stream);
      }
    }
    look_at_daemon();
    if (kill_at_ && KeeperClock::now() >= *kill_at_) {
      signal_descendants(SIGKILL);
      kill_at_ = KeeperClock::now() + kKillRound;
    }
  }

  [[nodiscard]] int poll_timeout() const {
    std::optional<KeeperClock::time_point> next = kill_at_;
    for (const auto& look : {give_up_, next_look_}) {
      if (look) next = next ? std::min(*next, *look) : *look;
    }
    if (!next) return -1;
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(*next - KeeperClock::now()).count();
    return static_cast<int>(std::max<decltype(wait)>(wait, 0));
  }

  void take_signals() {
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      const int signal = static_cast<int>(info.ssi_signo);
      // The rank has got it too, as a member of the group.
      if (signal == SIGCHLD || signal == kExplainingSignal || is_passed_on(signal)) continue;
      end_rank();
    }
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

  void end_rank() {
    asked_ = true;
    end_descendants();
  }
  void end_descendants() {
    if (kill_at_ || children_gone_) return;
    signal_descendants(SIGTERM);
    signal_descendants(SIGCONT);  // what is stopped could not end
    kill_at_ = KeeperClock::now() + kRankGrace;
  }

  void write_some(bool broken) {
    const ssize_t count =
        librma::uninterrupted([&] { return ::write(STDOUT_FILENO, queue_.data(), queue_.size()); });
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
    const ssize_t count =
        librma::uninterrupted([&] { return ::read(pipes_[stream].get(), piece.data(), piece.size()); });
    if (count < 0 && errno == EAGAIN) return false;
    if (count <= 0) {
      pipes_[stream].reset();
      return false;
    }
    if (!engine_gone_) {
      queue_ += writer_.output(stream == 0 ? Outlet::kOut : Outlet::kErr,
                               {piece.data(), static_cast<std::size_t>(count)});
    }
    return true;
  }

  void reap() {
    int status = 0;
    pid_t pid = 0;
    while ((pid = ::waitpid(-1, &status, WNOHANG)) > 0) {
      if (ranks_.empty() || pid != ranks_.front().pid) continue;
      ranks_.front().running = false;
      const bool killed = WIFSIGNALED(status);
      ended_ = killed ? kExitSignal + WTERMSIG(status) : WEXITSTATUS(status);
      how_ = killed ? fmt::format("signal {} {}", WTERMSIG(status), WCOREDUMP(status) ? 1 : 0)
                    : fmt::format("exit {}", WEXITSTATUS(status));
      end_descendants();
    }
    children_gone_ = pid < 0;
  }

  const Description description_;
  const int rank_;
  FrameWriter writer_;
  Descriptor signals_;
  std::vector<Rank> ranks_;  ///< one, once it has started
  std::array<Descriptor, 2> pipes_;
  std::string directory_;
  std::string queue_;  ///< frames that the engine has not taken yet
  std::string how_;    ///< the rank's end, in the keeper's words
  std::optional<int> ended_;
  std::optional<KeeperClock::time_point> kill_at_;
  std::optional<KeeperClock::time_point> give_up_;
  std::optional<KeeperClock::time_point> next_look_;  ///< at the daemon's connections
  const pid_t daemon_ = ::getppid();
  bool asked_ = false;        ///< the engine has asked the rank to end
  bool engine_gone_ = false;  ///< nobody takes output any more
  bool children_gone_ = true;
};

}  // namespace

int run_keeper() {
  const sigset_t set = awaited_signals();
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGCHLD, SIG_DFL);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() == 1) return kExitFailure;  // the daemon ended before the line above
  ::prctl(PR_SET_NAME, "rma-keeper");
  Descriptor signals(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  auto description = unpacked();
  const char* const number = std::getenv("PMIX_RANK");
  int rank = -1;
  if (number != nullptr) std::from_chars(number, number + std::strlen(number), rank);
  if (!description.ok() || rank < 0 || !signals.open()) {
    fmt::print(stderr, "rmarun: {}\n",
               !description.ok() ? description.status().text() : "--rank needs PMIX_RANK, and a descriptor");
    return kExitFailure;
  }
  ::fcntl(STDOUT_FILENO, F_SETFL, ::fcntl(STDOUT_FILENO, F_GETFL) | O_NONBLOCK);
  return Keeper(std::move(description).value(), rank, std::move(signals)).run();
}

}  // namespace rmarun
