#include "transport/verbs/switchboard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "util/statistics.hpp"

namespace rma::transport {
namespace {

/// A hello is repeated after kFirstRepeat. Each further wait is twice as long, up to kLastRepeat.
constexpr std::chrono::milliseconds kFirstRepeat{20};
constexpr std::chrono::milliseconds kLastRepeat{500};

bool same(const Endpoint& a, const Endpoint& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

}  // namespace

bool Switchboard::prepare(int peer, Line& line) {
  if (line.made) return true;
  auto end = exchange_.local_end(peer);
  if (!end.ok()) {
    line.failure = std::move(end).status();
    return false;
  }
  line.here = end.value();
  line.made = true;
  return true;
}

bool Switchboard::bind(int peer, Line& line, const Endpoint& end) {
  if (line.bound) return same(line.there, end);
  line.failure = exchange_.bind(peer, end);
  if (!line.failure.ok()) return false;
  line.there = end;
  line.bound = true;
  return true;
}

Greeting Switchboard::greeting_to(int peer, const Line& line, Greeting::Kind kind, std::uint64_t call,
                                  const Secret& secret) const {
  Greeting greeting;
  greeting.kind = kind;
  greeting.from = self_.rank;
  greeting.to = peer;
  greeting.call = call;
  greeting.reply_to = self_.address;
  greeting.endpoint = line.here;
  greeting.token = greeting.expected_token(secret);
  return greeting;
}

Status Switchboard::call(int peer, const PortCard& card) {
  std::unique_lock guard(lock_);
  Line& line = lines_[peer];
  if (line.welcomed) return {};
  line.failure = {};
  if (!prepare(peer, line)) return {line.failure.code(), std::string(line.failure.text())};
  line.secret = card.secret;
  if (line.call == 0) line.call = ++calls_;
  const Greeting hello = greeting_to(peer, line, Greeting::Kind::hello, line.call, card.secret);
  const auto deadline = std::chrono::steady_clock::now() + timeout_;
  auto repeat = kFirstRepeat;
  while (!line.welcomed && line.failure.ok() && std::chrono::steady_clock::now() < deadline) {
    guard.unlock();
    count(Counter::hello);
    exchange_.send(card.address, hello);
    guard.lock();
    changed_.wait_for(guard, repeat, [&] { return line.welcomed || !line.failure.ok(); });
    repeat = std::min(2 * repeat, kLastRepeat);
  }
  if (line.welcomed) return {};
  if (!line.failure.ok()) return {line.failure.code(), std::string(line.failure.text())};
  return {RMA_ERR_PEER_LOST, fmt::format("rank {} did not answer within {} s", peer,
                                         std::chrono::duration_cast<std::chrono::seconds>(timeout_).count())};
}

bool Switchboard::genuine(const Greeting& greeting) {
  if (greeting.to != self_.rank || greeting.from < 0 || greeting.from >= self_.ranks) return false;
  if (greeting.kind == Greeting::Kind::hello) {
    return greeting.token == greeting.expected_token(self_.secret);
  }
  const auto found = lines_.find(greeting.from);
  return found != lines_.end() && found->second.call != 0 && greeting.call == found->second.call &&
         greeting.token == greeting.expected_token(found->second.secret);
}

void Switchboard::receive(std::span<const std::byte> datagram) {
  const std::optional<Greeting> greeting = Greeting::decode(datagram);
  std::unique_lock guard(lock_);
  if (!greeting || !genuine(*greeting)) {
    count(Counter::datagrams_dropped);
    return;
  }
  const int peer = greeting->from;
  Line& line = lines_[peer];
  if (!prepare(peer, line) || !bind(peer, line, greeting->endpoint)) {
    count(Counter::datagrams_dropped);
    changed_.notify_all();
    return;
  }
  if (greeting->kind == Greeting::Kind::welcome) {
    line.welcomed = true;
    changed_.notify_all();
    return;
  }
  const Greeting welcome = greeting_to(peer, line, Greeting::Kind::welcome, greeting->call, self_.secret);
  guard.unlock();
  exchange_.send(greeting->reply_to, welcome);
}

}  // namespace rma::transport
