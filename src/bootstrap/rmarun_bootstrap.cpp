#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>

#include "bootstrap/backends.hpp"
#include "util/bytes_of.hpp"
#include "util/system/interruptions.hpp"
#include "util/system/rank_calls.hpp"
#include "util/system/spawn_call.hpp"
#include "util/system/unix_socket.hpp"
#include "util/take_head.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"
#include "util/waiting/long_wait.hpp"

namespace librma {
namespace {

/// How many milliseconds a rank that leaves waits for rmarun's answer.
constexpr int kPatience = 2000;

/// Connects to rmarun. The text of a failure says which namespace or mount keeps this process from it.
Result<Descriptor> reach_rmarun(const std::string& directory) {
  const std::string file = directory + "/" + kLauncherSocket;
  Descriptor made = connect_to(SocketName::file(file));
  const int by_file = errno;
  if (!made.open()) made = connect_to(SocketName::abstract(directory.substr(directory.rfind('/') + 1)));
  if (!made.open()) {
    return Status(
        RMA_ERR_LAUNCH,
        fmt::format(
            "this process does not reach rmarun, which started it: not at the socket {} ({}), and not at "
            "its abstract name ({}), which is valid only in rmarun's network namespace. Let the process "
            "see the directory {} (containers: bind it; TMPDIR of rmarun names another place for it), or "
            "run it in rmarun's network namespace (containers: with the host's network)",
            file, std::strerror(by_file), std::strerror(errno), directory));
  }
  if (const ucred who = other_end(made); who.uid != ::geteuid()) {
    return Status(RMA_ERR_LAUNCH,
                  fmt::format("rmarun runs as user {} and this process as user {}, as this process "
                              "sees them: both must be of one user",
                              who.uid, ::geteuid()));
  }
  return made;
}

Status rmarun_is_gone() {
  return {RMA_ERR_LAUNCH, "rmarun, which started this process, is not there any more"};
}

/// An answer of rmarun, and what follows its first words.
struct Answer {
  RankWords words;
  std::vector<std::byte> message;
  [[nodiscard]] std::span<const std::byte> body() const { return std::span(message).subspan(sizeof words); }
};

Result<Answer> hear(const Descriptor& socket, RankCall asked) {
  Answer answer;
  if (receive_call(socket, answer.message) <= 0) return rmarun_is_gone();
  std::span<const std::byte> rest(answer.message);
  const auto words = take_head<RankWords>(rest);
  if (!words || words->magic != RankWords::kMagic) {
    return Status(RMA_ERR_VERSION, "rmarun is of another version of librma than this process");
  }
  answer.words = *words;
  if (answer.words.call == RankCall::gone) {
    const rma_status_t code = asked == RankCall::convene ? RMA_ERR_PEER_LOST : RMA_ERR_LAUNCH;
    return Status(code, fmt::format("rank {} has ended, or has left the job", answer.words.rank));
  }
  if (answer.words.call == RankCall::denied) {
    const auto* const why = reinterpret_cast<const char*>(answer.body().data());
    return Status(RMA_ERR_ARGUMENT, std::string(why, answer.body().size()));
  }
  if (answer.words.call != asked) return Status(RMA_ERR_LAUNCH, "rmarun refuses this process as a rank");
  return answer;
}

class RmarunBootstrap final : public Bootstrap {
 public:
  RmarunBootstrap(JobInfo info, Descriptor socket, std::string directory)
      : Bootstrap(std::move(info)), socket_(std::move(socket)), directory_(std::move(directory)) {
    show_waits_of(rank(), job_id());
  }
  ~RmarunBootstrap() override {
    show_no_waits();
    // A forked child has its parent's connection, which it must not use.
    if (owner_ != ::getpid() || !tell(RankCall::leave).ok()) return;
    // Waits until rmarun has read this. If rmarun is stopped or slow, it reads this later, and sees the end
    // of the connection only after that.
    pollfd answer = {.fd = socket_.get(), .events = POLLIN, .revents = 0};
    static_cast<void>(uninterrupted([&] { return ::poll(&answer, 1, kPatience); }));
  }
  RmarunBootstrap(const RmarunBootstrap&) = delete;
  RmarunBootstrap& operator=(const RmarunBootstrap&) = delete;

  /// Learns which ranks this one can share memory with. Collective over the job.
  Status gather() {
    RMA_TRY_ASSIGN(answer, meet(RankCall::gather));
    std::span<const std::byte> rest = answer.body();
    const auto group = take_head<RankGroup>(rest);
    std::vector<int> ranks;
    bool good = group.has_value();
    while (const auto rank = take_head<std::int32_t>(rest)) {
      good = good && *rank >= 0 && *rank < size() && (ranks.empty() || ranks.back() < *rank);
      ranks.push_back(*rank);
    }
    if (!good || !std::ranges::binary_search(ranks, rank())) {
      return {RMA_ERR_LAUNCH, "rmarun gives no usable list of the ranks on this host"};
    }
    if (group->by_file != 0) info().meeting_directory = directory_;
    if (ranks.size() < static_cast<std::size_t>(world_size())) {
      info().apart = fmt::format(
          "only {} of the {} ranks of this host can share memory, because the others have network "
          "namespaces of their own and they, or this one, do not see the directory {} of rmarun. Let all "
          "ranks see it (containers: bind it; TMPDIR of rmarun names another place for it), or run them in "
          "one network "
          "namespace",
          ranks.size(), world_size(), directory_);
    }
    RMA_TRY(note_seats(ranks));
    info().local_ranks = std::move(ranks);
    return {};
  }

  Result<std::vector<std::vector<std::byte>>> convene(const Assembly& assembly,
                                                      std::span<const std::byte> card,
                                                      std::span<const int> wanted) override {
    RMA_TRY_ASSIGN(socket, reach_rmarun(directory_));
    const RankWords words = {
        .call = RankCall::convene, .rank = rank(), .number = static_cast<std::int32_t>(assembly.number)};
    if (!send_call(socket, words, encode_ranks(assembly.ranks), card)) return rmarun_is_gone();
    if (auto all_here = hear(socket, RankCall::convene); !all_here.ok()) return std::move(all_here).status();
    std::vector<std::vector<std::byte>> cards;
    for (const int other : wanted) {
      if (!send_call(socket, {.call = RankCall::card, .rank = other})) return rmarun_is_gone();
      RMA_TRY_ASSIGN(answer, hear(socket, RankCall::card));
      cards.emplace_back(answer.body().begin(), answer.body().end());
    }
    return cards;
  }

  Result<LauncherAnswer> ask(const LauncherQuestion& question) override {
    RMA_TRY_ASSIGN(socket, reach_rmarun(directory_));
    const RankCall call = question.call;
    const RankWords words = {
        .call = call, .rank = rank(), .number = question.number, .detail = question.detail};
    if (!send_call(socket, words, question.body)) return rmarun_is_gone();
    RMA_TRY_ASSIGN(answer, hear(socket, call));
    return LauncherAnswer{.words = answer.words, .body = {answer.body().begin(), answer.body().end()}};
  }

  Status publish(std::span<const std::byte> card) override { return tell(RankCall::publish, card); }

  Status fence() override {
    auto answer = meet(RankCall::meet);
    return answer.ok() ? Status() : std::move(answer).status();
  }

  Result<std::vector<std::byte>> card_of(int rank) override {
    if (rank < 0 || rank >= size()) {
      return Status(RMA_ERR_RANK, fmt::format("no rank {} in a job of {}", rank, size()));
    }
    if (!send_call(socket_, {.call = RankCall::card, .rank = rank})) return rmarun_is_gone();
    auto answer = hear(socket_, RankCall::card);
    if (!answer.ok()) return std::move(answer).status().within(fmt::format("the card of rank {}", rank));
    return std::vector<std::byte>(answer->body().begin(), answer->body().end());
  }

  [[noreturn]] void abort(int exit_code, std::string_view text) override {
    print_last_words(text);
    // Another thread may wait for an answer at the first connection.
    if (const auto asking = reach_rmarun(directory_); asking.ok()) {
      const RankWords words = {.call = RankCall::abort, .rank = rank(), .number = exit_code};
      std::vector<std::byte> nothing;
      if (send_call(asking.value(), words)) static_cast<void>(receive_call(asking.value(), nothing));
    }
    std::_Exit(exit_code);
  }

 private:
  /// Ranks that come later share memory with this one if all of its world do.
  Status note_seats(const std::vector<int>& present) {
    if (size() == world_size()) return {};
    if (present.size() < static_cast<std::size_t>(world_size()) || !info().meeting_directory.empty()) {
      return {RMA_ERR_UNSUPPORTED,
              "rmarun --universe: ranks can be added only if all can share memory, in one network namespace"};
    }
    info().local_seats.resize(static_cast<std::size_t>(size()));
    std::iota(info().local_seats.begin(), info().local_seats.end(), 0);
    return {};
  }

  Status tell(RankCall what, std::span<const std::byte> body = {}) {
    return send_call(socket_, {.call = what, .rank = rank()}, body) ? Status() : rmarun_is_gone();
  }

  /// Asks what rmarun answers when all ranks have asked it.
  Result<Answer> meet(RankCall what) {
    const auto describe = [this](WaitNote& note) {
      note.call = "the meeting of all ranks";
      note.about = "all ranks";
      note.meeting = meetings_ << 32U | std::uint32_t{1};
      note.exact = true;
      for (int other = world_first(); other < world_first() + world_size(); ++other) {
        if (other != rank()) note.ranks.push_back(other);
      }
    };
    ++meetings_;
    RMA_TRY(tell(what));
    DescribedWait waiting(describe);
    constexpr int kPause = static_cast<int>(kLongWait / 1'000'000);
    pollfd event = {.fd = socket_.get(), .events = POLLIN, .revents = 0};
    while (::poll(&event, 1, pause(waiting.pending() ? kPause : -1)) <= 0) {
      drive();
      waiting.slept();
    }
    return hear(socket_, what);
  }

  Descriptor socket_;
  const std::string directory_;
  const pid_t owner_ = ::getpid();
  std::uint64_t meetings_ = 0;
};

}  // namespace

std::string rmarun_directory(std::string_view job) {
  const char* const value = std::getenv(kLauncherDirectory);
  if (value == nullptr) return {};
  // Another launcher that a rank has started hands the variable on. Its job has another name.
  std::string directory(value);
  const std::size_t name = directory.rfind('/');
  return name != std::string::npos && job.ends_with(directory.substr(name + 1)) ? directory : std::string();
}

Result<std::unique_ptr<Bootstrap>> open_rmarun_bootstrap(const std::string& directory, const char* job,
                                                         std::string_view rank) {
  RankWords words = {.call = RankCall::join};
  if (const auto [end, error] = std::from_chars(rank.data(), rank.data() + rank.size(), words.rank);
      error != std::errc() || end != rank.data() + rank.size()) {
    return Status(RMA_ERR_LAUNCH, fmt::format("PMIX_RANK={} in the environment is no rank", rank));
  }
  RMA_TRY_ASSIGN(socket, reach_rmarun(directory));
  const RankSite site = site_of_this_process(directory);
  if (!send_call(socket, words, bytes_of(site))) return rmarun_is_gone();
  RMA_TRY_ASSIGN(answer, hear(socket, RankCall::join));
  std::span<const std::byte> rest = answer.body();
  const auto world = take_head<RankWorld>(rest);
  if (!world || world->first < 0 || world->first > words.rank || world->count <= words.rank - world->first ||
      world->count > answer.words.number - world->first) {
    return Status(RMA_ERR_LAUNCH, "rmarun gives no usable job size");
  }
  Parents parents = {.ranks = {}, .number = world->number};
  while (const auto parent = take_head<std::int32_t>(rest)) {
    if (*parent < 0 || *parent >= answer.words.number)
      return Status(RMA_ERR_LAUNCH, "rmarun gives no usable list of the ranks that have started this one");
    parents.ranks.push_back(*parent);
  }
  std::unique_ptr<RmarunBootstrap> opened(new RmarunBootstrap({.rank = words.rank,
                                                               .size = answer.words.number,
                                                               .program = answer.words.detail,
                                                               .local_ranks = {words.rank},
                                                               .job_id = job,
                                                               .world_first = world->first,
                                                               .world_size = world->count,
                                                               .parents = std::move(parents)},
                                                              std::move(socket), directory));
  RMA_TRY(opened->gather());
  return std::unique_ptr<Bootstrap>(std::move(opened));
}

}  // namespace librma
