#include "rmarun/rank_server.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <system_error>
#include <thread>
#include <utility>

#include "rmarun/deadlines.hpp"
#include "rmarun/processes.hpp"
#include "rmarun/sharing_groups.hpp"
#include "util/bytes_of.hpp"
#include "util/system/interruptions.hpp"
#include "util/system/unix_socket.hpp"
#include "util/take_head.hpp"

namespace rmarun {
namespace {

bool is_out_of_descriptors(int error) { return error == EMFILE || error == ENFILE; }

}  // namespace

librma::Result<RankServer*> RankServer::start(const std::vector<int>& programs, int seats,
                                              const std::string& directory, Reports& reports) {
  static RankServer* server = nullptr;
  server = new RankServer(directory, reports);
  server->seats_.resize(static_cast<size_t>(seats));
  server->seat({.count = static_cast<int>(programs.size()), .parents = {}, .programs = programs});
  server->own_site_ = librma::site_of_this_process(directory);
  server->wakeup_ = librma::Descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!server->wakeup_.open()) return librma::system_failure(RMA_ERR_SYSTEM, "eventfd", errno);
  // One of the two is enough: a long TMPDIR leaves no room for the name of a file in the address of a socket.
  server->by_file_ = librma::listen_at(librma::SocketName::file(directory + "/" + librma::kLauncherSocket));
  server->by_name_ =
      librma::listen_at(librma::SocketName::abstract(directory.substr(directory.rfind('/') + 1)));
  if (!server->by_file_.open() && !server->by_name_.open())
    return librma::system_failure(RMA_ERR_SYSTEM, "making the socket at which the ranks reach rmarun", errno);
  try {
    std::thread([] { server->run(); }).detach();
  } catch (const std::system_error& error) {
    return librma::Status(RMA_ERR_SYSTEM, "cannot start a thread: " + describe_refusal(error.code().value()));
  }
  return server;
}

std::string RankServer::assignment() const {
  return fmt::format("{}={}", librma::kLauncherDirectory, directory_);
}

void RankServer::note_end(int rank) {
  {
    const std::lock_guard lock(mutex_);
    ended_.push_back(rank);
  }
  const uint64_t signals = 1;
  [[maybe_unused]] const ssize_t written = ::write(wakeup_.get(), &signals, sizeof signals);
}

void RankServer::run() {
  std::vector<pollfd> events;
  while (true) {
    const int may_accept = full_ ? 0 : POLLIN;
    events.assign({{wakeup_.get(), POLLIN, 0},
                   {by_file_.get(), static_cast<short>(may_accept), 0},
                   {by_name_.get(), static_cast<short>(may_accept), 0}});
    for (const Caller& caller : callers_) events.push_back({caller.socket->get(), POLLIN, 0});
    const int limit = poll_timeout_until(ports_.next_deadline());
    static_cast<void>(librma::uninterrupted([&] { return ::poll(events.data(), events.size(), limit); }));
    deny_all(ports_.take_overdue(std::chrono::steady_clock::now()),
             "no process has accepted at the port in the time given");
    look_at_news();
    // A rank's next process calls after the one before has left. So nobody is heard who was accepted after
    // the poll, and the older one of two callers is heard first.
    for (Caller& caller : callers_) serve(caller);
    if (std::erase_if(callers_, [](const Caller& caller) { return caller.over; }) > 0) full_ = false;
    accept_all(by_file_);
    accept_all(by_name_);
  }
}

void RankServer::add_world(World world) {
  {
    const std::lock_guard lock(mutex_);
    new_worlds_.push_back(std::move(world));
  }
  const uint64_t signals = 1;
  [[maybe_unused]] const ssize_t written = ::write(wakeup_.get(), &signals, sizeof signals);
}

void RankServer::seat(World world) {
  for (int rank = world.first; rank < world.first + world.count; ++rank) {
    seats_[static_cast<size_t>(rank)] = {.program = world.programs[static_cast<size_t>(rank - world.first)],
                                         .world = worlds_.size(),
                                         .card = {}};
  }
  worlds_.push_back(std::move(world));
}

/// A world is added before its ranks start, so a rank that is heard after this has its seat. The end of a
/// rank may be known before its last words are read, which changes nothing: a seat is gone by what its
/// caller said.
void RankServer::look_at_news() {
  uint64_t count = 0;
  if (::read(wakeup_.get(), &count, sizeof count) < 0) return;
  std::vector<int> ended;
  std::vector<World> worlds;
  {
    const std::lock_guard lock(mutex_);
    ended.swap(ended_);
    worlds.swap(new_worlds_);
  }
  for (World& world : worlds) seat(std::move(world));
  for (const int rank : ended) seats_[static_cast<size_t>(rank)].ended = true;
  fail_waiters();
}

void RankServer::accept_all(const librma::Descriptor& listening) {
  while (listening.open() && !full_) {
    librma::Descriptor made(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!made.open()) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      full_ = is_out_of_descriptors(errno);
      return;
    }
    if (librma::other_end(made).uid != ::geteuid()) continue;
    callers_.push_back({.socket = std::make_shared<librma::Descriptor>(std::move(made))});
  }
}

/// Takes everything that a caller has sent.
void RankServer::serve(Caller& caller) {
  std::vector<std::byte> message;
  while (!caller.over) {
    const ssize_t bytes = librma::receive_call(*caller.socket, message);
    if (bytes < 0 && errno == EAGAIN) return;
    if (bytes <= 0) return end(caller);
    std::span<const std::byte> body(message);
    const auto words = librma::take_head<librma::RankWords>(body);
    if (!words || words->magic != librma::RankWords::kMagic) {
      answer(caller, {.call = librma::RankCall::refused});
      return end(caller);
    }
    take(caller, *words, body);
  }
}

void RankServer::take(Caller& caller, const librma::RankWords& words, std::span<const std::byte> body) {
  using librma::RankCall;
  const bool exists = is_seat(words.rank);
  const bool joined = caller.rank >= 0 && !caller.left;
  if (words.call == RankCall::join && exists && caller.rank < 0) return join(caller, words.rank, body);
  if (words.call == RankCall::abort && exists) {
    return reports_.note_abort({words.rank, words.number},
                               [socket = caller.socket] { ::shutdown(socket->get(), SHUT_RDWR); });
  }
  if (words.call == RankCall::card && caller.cards) return answer_card(caller, words.rank);
  if (words.call == RankCall::card && exists && joined) {
    const std::vector<std::byte>& card = seats_[static_cast<size_t>(words.rank)].card;
    const RankCall kind = card.empty() ? RankCall::gone : RankCall::card;
    return answer(caller, {.call = kind, .rank = words.rank}, card);
  }
  if (words.call == RankCall::publish && joined) {
    seats_[static_cast<size_t>(caller.rank)].card.assign(body.begin(), body.end());
    return;
  }
  if ((words.call == RankCall::gather || words.call == RankCall::meet) && joined)
    return wait(caller, words.call);
  if (words.call == RankCall::leave && joined) {
    caller.left = true;
    seats_[static_cast<size_t>(caller.rank)].left = true;
    reports_.note_stage(caller.rank, Stage::kLeft);
    answer(caller, {.call = RankCall::leave});
    return fail_waiters();
  }
  if (exists && caller.rank < 0 && take_service(caller, words, body)) return;
  answer(caller, {.call = RankCall::refused});
  end(caller);
}

void RankServer::join(Caller& caller, int rank, std::span<const std::byte> body) {
  const bool taken = std::ranges::any_of(
      callers_, [&](const Caller& other) { return other.rank == rank && !other.left && !other.over; });
  const auto site = librma::take_head<librma::RankSite>(body);
  if (taken || !site) {
    answer(caller, {.call = librma::RankCall::refused});
    caller.over = true;
    return;
  }
  caller.rank = rank;
  caller.site = *site;
  Seat& seat = seats_[static_cast<size_t>(rank)];
  seat.left = false;
  seat.lost = false;
  reports_.note_stage(rank, Stage::kJoined);
  const World& world = worlds_[seat.world];
  const librma::RankWorld about = {.first = world.first,
                                   .count = world.count,
                                   .number = world.number,
                                   .parents = static_cast<std::uint32_t>(world.parents.size())};
  answer(caller,
         {.call = librma::RankCall::join,
          .rank = rank,
          .number = static_cast<std::int32_t>(size()),
          .detail = seat.program},
         librma::bytes_of(about), std::as_bytes(std::span(world.parents)));
}

/// Notes the end of a caller's connection.
void RankServer::end(Caller& caller) {
  caller.over = true;
  ports_.forget(*caller.socket);
  if (caller.rank < 0 || caller.left) return;
  caller.waits_for.reset();
  seats_[static_cast<size_t>(caller.rank)].lost = true;
  reports_.note_stage(caller.rank, Stage::kLost);
  fail_waiters();
}

void RankServer::wait(Caller& caller, librma::RankCall what) {
  caller.waits_for = what;
  fail_waiters();
  // Each rank has at most one caller that has not left.
  const size_t world = seat_of(caller).world;
  const auto waiting =
      std::ranges::count_if(callers_, [&](const Caller& each) { return waits_in(each, world); });
  if (waiting < worlds_[world].count) return;
  if (what == librma::RankCall::gather) return answer_gather(world);
  for (Caller& each : callers_) {
    if (waits_in(each, world)) answer(each, {.call = *std::exchange(each.waits_for, std::nullopt)});
  }
}

void RankServer::fail_waiters() {
  constexpr int kNone = -1;
  std::vector<int> gone(worlds_.size(), kNone);  // by world: the first rank that has gone
  for (size_t rank = size(); rank-- != 0;) {
    if (seats_[rank].gone()) gone[seats_[rank].world] = static_cast<int>(rank);
  }
  for (Caller& each : callers_) {
    int missing = kNone;
    if (each.waits_for) missing = gone[seat_of(each).world];
    if (each.convenes) {
      const auto found = std::ranges::find_if(
          each.convenes->ranks, [&](int rank) { return seats_[static_cast<size_t>(rank)].gone(); });
      if (found != each.convenes->ranks.end()) missing = *found;
    }
    if (missing == kNone) continue;
    each.waits_for.reset();
    each.convenes.reset();
    answer(each, {.call = librma::RankCall::gone, .rank = missing});
  }
}

void RankServer::answer_gather(std::size_t world) {
  const int first = worlds_[world].first;
  std::vector<librma::RankSite> sites(static_cast<size_t>(worlds_[world].count));
  for (const Caller& each : callers_) {
    if (waits_in(each, world)) sites[static_cast<size_t>(each.rank - first)] = each.site;
  }
  std::vector<SharingGroup> groups = sharing_groups(sites, own_site_);
  for (Caller& each : callers_) {
    if (!waits_in(each, world)) continue;
    SharingGroup group = groups[static_cast<size_t>(each.rank - first)];
    for (int& rank : group.ranks) rank += first;
    const librma::RankGroup head = {.by_file = group.by_file ? 1U : 0U};
    answer(each, {.call = *std::exchange(each.waits_for, std::nullopt)}, librma::bytes_of(head),
           std::as_bytes(std::span(group.ranks)));
  }
}

/// A rank asks one thing at a time, so there is room for the answer. One that has ended needs none.
void RankServer::answer(const Caller& caller, const librma::RankWords& words, std::span<const std::byte> body,
                        std::span<const std::byte> rest) {
  librma::send_call(*caller.socket, words, body, rest, MSG_DONTWAIT);
}

}  // namespace rmarun
