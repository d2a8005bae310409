#include "transport/verbs/wireup.hpp"

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

bool Wireup::prepare(int peer, Connection& connection) {
  if (connection.made) return true;
  auto end = exchange_.local_end(peer);
  if (!end.ok()) {
    connection.failure = std::move(end).status();
    return false;
  }
  connection.here = end.value();
  connection.made = true;
  return true;
}

bool Wireup::bind(int peer, Connection& connection, const Endpoint& end) {
  if (connection.bound) return same(connection.there, end);
  connection.failure = exchange_.bind(peer, end);
  if (!connection.failure.ok()) return false;
  connection.there = end;
  connection.bound = true;
  return true;
}

Handshake Wireup::handshake_to(int peer, const Connection& connection, Handshake::Kind kind,
                               std::uint64_t call, const Secret& secret) const {
  Handshake handshake;
  handshake.kind = kind;
  handshake.from = self_.rank;
  handshake.to = peer;
  handshake.call = call;
  handshake.reply_to = self_.address;
  handshake.endpoint = connection.here;
  handshake.token = handshake.expected_token(secret);
  return handshake;
}

Status Wireup::call(int peer, const PortCard& card) {
  std::unique_lock guard(lock_);
  Connection& connection = connections_[peer];
  if (connection.welcomed) return {};
  connection.failure = {};
  if (!prepare(peer, connection)) return {connection.failure.code(), std::string(connection.failure.text())};
  connection.secret = card.secret;
  if (connection.call == 0) connection.call = ++calls_;
  const Handshake hello =
      handshake_to(peer, connection, Handshake::Kind::hello, connection.call, card.secret);
  const auto deadline = std::chrono::steady_clock::now() + timeout_;
  auto repeat = kFirstRepeat;
  while (!connection.welcomed && connection.failure.ok() && std::chrono::steady_clock::now() < deadline) {
    guard.unlock();
    count(Counter::hello);
    exchange_.send(card.address, hello);
    guard.lock();
    changed_.wait_for(guard, repeat, [&] { return connection.welcomed || !connection.failure.ok(); });
    repeat = std::min(2 * repeat, kLastRepeat);
  }
  if (connection.welcomed) return {};
  if (!connection.failure.ok()) return {connection.failure.code(), std::string(connection.failure.text())};
  return {RMA_ERR_PEER_LOST, fmt::format("rank {} did not answer within {} s", peer,
                                         std::chrono::duration_cast<std::chrono::seconds>(timeout_).count())};
}

bool Wireup::genuine(const Handshake& handshake) {
  if (handshake.to != self_.rank || handshake.from < 0 || handshake.from >= self_.ranks) return false;
  if (handshake.kind == Handshake::Kind::hello) {
    return handshake.token == handshake.expected_token(self_.secret);
  }
  const auto found = connections_.find(handshake.from);
  return found != connections_.end() && found->second.call != 0 && handshake.call == found->second.call &&
         handshake.token == handshake.expected_token(found->second.secret);
}

void Wireup::receive(std::span<const std::byte> datagram) {
  const std::optional<Handshake> handshake = Handshake::decode(datagram);
  std::unique_lock guard(lock_);
  if (!handshake || !genuine(*handshake)) {
    count(Counter::datagrams_dropped);
    return;
  }
  const int peer = handshake->from;
  Connection& connection = connections_[peer];
  if (!prepare(peer, connection) || !bind(peer, connection, handshake->endpoint)) {
    count(Counter::datagrams_dropped);
    changed_.notify_all();
    return;
  }
  if (handshake->kind == Handshake::Kind::welcome) {
    connection.welcomed = true;
    changed_.notify_all();
    return;
  }
  const Handshake welcome =
      handshake_to(peer, connection, Handshake::Kind::welcome, handshake->call, self_.secret);
  guard.unlock();
  exchange_.send(handshake->reply_to, welcome);
}

}  // namespace rma::transport
