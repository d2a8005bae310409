#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rmarun/port_book.hpp"
#include "rmarun/reports.hpp"
#include "util/status.hpp"
#include "util/system/descriptor.hpp"
#include "util/system/rank_calls.hpp"

namespace rmarun {

/// Answers librma's ranks while the job starts and ends (util/system/rank_calls.hpp): it carries their cards,
/// lets them wait for each other, and finds out which of them can share memory. Ranks that use PMIx without
/// librma have the PMIx server.
///
/// A job has as many *seats* as the user asks for (--universe). The ranks of the command line have the first
/// ones. They are a *world*: they start, meet and leave together. The ranks of each call of spawn are another
/// one, with the next seats.
///
/// It has a thread of its own, so that the ranks start and end also while rmarun waits for a reader of its
/// output. Like the PMIx server it is never deleted, and lives until its process leaves by _exit().
class RankServer {
 public:
  /// Ranks that begin together, and those that have started them and meet them under `number`.
  struct World {
    int first = 0;
    int count = 0;
    std::uint32_t number = 0;
    std::vector<int> parents;
    std::vector<int> programs;  ///< by rank: the number of its program
  };

  /// Starts the server. `programs` has the number of the program of each rank of the first world. `reports`
  /// lives as long as the process.
  static librma::Result<RankServer*> start(const std::vector<int>& programs, int seats,
                                           const std::string& directory, Reports& reports);
  RankServer(const RankServer&) = delete;
  RankServer& operator=(const RankServer&) = delete;

  /// Returns the variable that the ranks need, as NAME=VALUE.
  [[nodiscard]] std::string assignment() const;

  /// Notes that the process that rmarun has started as `rank` has ended. Ranks that wait for it are told.
  /// Another thread than the server's calls this.
  void note_end(int rank);
  /// Adds a world, whose ranks are about to start. Another thread than the server's calls this.
  void add_world(World world);

 private:
  /// The question of a rank whether others are there, whatever their worlds.
  struct Convening {
    int rank = 0;
    std::uint32_t number = 0;
    std::vector<int> ranks;
    std::vector<std::byte> card;
  };
  /// The cards of ranks that have convened, by rank.
  using Cards = std::map<int, std::vector<std::byte>>;
  /// A process that has connected.
  struct Caller {
    std::shared_ptr<librma::Descriptor> socket;  ///< an unanswered abort has it too
    int rank = -1;                               ///< -1 until it has joined
    librma::RankSite site = {};
    bool left = false;
    std::optional<librma::RankCall> waits_for = {};  ///< until all ranks of its world do
    std::optional<Convening> convenes = {};          ///< until all of these do
    std::shared_ptr<const Cards> cards = {};         ///< of those that have convened with it
    bool over = false;
  };
  /// A rank, as far as rmarun knows it.
  struct Seat {
    int program = 0;
    std::size_t world = 0;
    std::vector<std::byte> card;
    bool left = false;   ///< its last caller has left the job
    bool ended = false;  ///< its process has ended
    bool lost = false;   ///< its last caller's connection has ended, and the caller had not left
    [[nodiscard]] bool gone() const { return lost || (left && ended); }
  };

  RankServer(std::string directory, Reports& reports) : directory_(std::move(directory)), reports_(reports) {}
  ~RankServer() = default;

  void run();
  void look_at_news();
  void seat(World world);
  void accept_all(const librma::Descriptor& listening);
  void serve(Caller& caller);
  void take(Caller& caller, const librma::RankWords& words, std::span<const std::byte> body);
  void join(Caller& caller, int rank, std::span<const std::byte> body);
  /// Takes the calls that have connections of their own. Returns whether it is one.
  bool take_service(Caller& caller, const librma::RankWords& words, std::span<const std::byte> body);
  void convene(Caller& caller, const librma::RankWords& words, std::span<const std::byte> body);
  void answer_convened(std::uint32_t number);
  void meet_at_port(Caller& caller, const librma::RankWords& words, std::span<const std::byte> body);
  void close_port(Caller& caller, std::uint32_t port);
  void take_name(Caller& caller, const librma::RankWords& words, std::span<const std::byte> body);
  void spawn(Caller& caller, const librma::RankWords& words, std::span<const std::byte> body);
  static void deny(const Caller& caller, const std::string& why);
  /// Denies the callers that have waited at a port.
  void deny_all(std::span<const PortBook::Waiting> waiting, const std::string& why);
  static void answer_card(const Caller& caller, int rank);
  void end(Caller& caller);
  void wait(Caller& caller, librma::RankCall what);
  /// If a rank will not come any more, answers all callers that wait for it with RankCall::gone.
  void fail_waiters();
  void answer_gather(std::size_t world);
  [[nodiscard]] std::size_t size() const { return seats_.size(); }
  [[nodiscard]] bool is_seat(int rank) const { return rank >= 0 && static_cast<std::size_t>(rank) < size(); }
  [[nodiscard]] Seat& seat_of(const Caller& caller) { return seats_[static_cast<std::size_t>(caller.rank)]; }
  /// Returns whether a caller waits for the ranks of this world.
  [[nodiscard]] bool waits_in(const Caller& caller, std::size_t world) {
    return caller.waits_for && seat_of(caller).world == world;
  }
  static void answer(const Caller& caller, const librma::RankWords& words,
                     std::span<const std::byte> body = {}, std::span<const std::byte> rest = {});

  const std::string directory_;
  Reports& reports_;
  librma::RankSite own_site_;
  librma::Descriptor by_file_;   ///< listens
  librma::Descriptor by_name_;   ///< listens
  librma::Descriptor wakeup_;    ///< an eventfd
  std::vector<Caller> callers_;  ///< oldest first
  std::vector<Seat> seats_;      ///< by rank
  std::vector<World> worlds_;    ///< in the order of their seats
  PortBook ports_;
  bool full_ = false;       ///< there is no descriptor for another caller until one has gone
  std::mutex mutex_;        ///< guards the next members
  std::vector<int> ended_;  ///< ranks that have ended, until the server has seen it
  std::vector<World> new_worlds_;
};

}  // namespace rmarun
