// The calls of ranks that have connections of their own: meetings of ranks of several worlds, ports, names,
// and more ranks.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "rmarun/rank_server.hpp"
#include "util/bytes_of.hpp"
#include "util/system/spawn_call.hpp"

namespace rmarun {

using librma::RankCall;

bool RankServer::take_service(Caller& caller, const librma::RankWords& words,
                              std::span<const std::byte> body) {
  switch (words.call) {
    case RankCall::convene:
      convene(caller, words, body);
      return true;
    case RankCall::spawn:
      spawn(caller, words, body);
      return true;
    case RankCall::open_port:
      answer(caller, {.call = words.call, .number = static_cast<std::int32_t>(ports_.open())});
      return true;
    case RankCall::close_port:
      close_port(caller, static_cast<std::uint32_t>(words.number));
      return true;
    case RankCall::accept:
    case RankCall::connect:
      meet_at_port(caller, words, body);
      return true;
    case RankCall::publish_name:
    case RankCall::look_name_up:
    case RankCall::unpublish_name:
      take_name(caller, words, body);
      return true;
    default:
      return false;
  }
}

void RankServer::deny(const Caller& caller, const std::string& why) {
  answer(caller, {.call = RankCall::denied}, std::as_bytes(std::span(why)));
}

void RankServer::deny_all(std::span<const PortBook::Waiting> waiting, const std::string& why) {
  for (const Caller& each : callers_) {
    const auto at_port = [&](const PortBook::Waiting& waits) { return waits.socket == each.socket; };
    if (std::ranges::any_of(waiting, at_port)) deny(each, why);
  }
}

void RankServer::convene(Caller& caller, const librma::RankWords& words, std::span<const std::byte> body) {
  auto ranks = librma::take_ranks(body);
  if (!ranks || !std::ranges::all_of(*ranks, [&](int rank) { return is_seat(rank); }) ||
      std::ranges::count(*ranks, words.rank) != 1)
    return deny(caller, "the list of ranks that are to meet is malformed");
  const auto number = static_cast<std::uint32_t>(words.number);
  caller.convenes = Convening{
      .rank = words.rank, .number = number, .ranks = std::move(*ranks), .card = {body.begin(), body.end()}};
  fail_waiters();
  answer_convened(number);
}

/// A rank that has an answer asks again only after that, so all that have asked under a number have asked the
/// same.
void RankServer::answer_convened(std::uint32_t number) {
  const auto has_come = [&](const Caller& each) { return each.convenes && each.convenes->number == number; };
  const auto first = std::ranges::find_if(callers_, has_come);
  if (first == callers_.end()) return;
  const auto come = static_cast<size_t>(std::ranges::count_if(callers_, has_come));
  if (come < first->convenes->ranks.size()) return;
  const auto cards = std::make_shared<Cards>();
  for (Caller& each : callers_) {
    if (has_come(each)) cards->emplace(each.convenes->rank, std::move(each.convenes->card));
  }
  for (Caller& each : callers_) {
    if (!has_come(each)) continue;
    each.convenes.reset();
    each.cards = cards;
    answer(each, {.call = RankCall::convene});
  }
}

void RankServer::answer_card(const Caller& caller, int rank) {
  const auto found = caller.cards->find(rank);
  if (found == caller.cards->end()) return answer(caller, {.call = RankCall::gone, .rank = rank});
  answer(caller, {.call = RankCall::card, .rank = rank}, found->second);
}

void RankServer::close_port(Caller& caller, std::uint32_t port) {
  const auto waiting = ports_.close(port);
  if (!waiting) return deny(caller, fmt::format("no port {} is open", port));
  deny_all(*waiting, fmt::format("port {} was closed", port));
  answer(caller, {.call = RankCall::close_port});
}

void RankServer::meet_at_port(Caller& caller, const librma::RankWords& words,
                              std::span<const std::byte> body) {
  const auto port = static_cast<std::uint32_t>(words.number);
  if (!ports_.is_open(port)) return deny(caller, fmt::format("no port {} is open", port));
  const bool accepts = words.call == RankCall::accept;
  PortBook::Waiting mine = {.socket = caller.socket, .sent = {body.begin(), body.end()}};
  if (!accepts && words.detail > 0)
    mine.until = std::chrono::steady_clock::now() + std::chrono::seconds(words.detail);
  const auto other =
      ports_.meet(port, accepts ? PortBook::Side::accepts : PortBook::Side::connects, std::move(mine));
  if (!other) return;
  answer(caller, {.call = words.call}, other->sent);
  for (const Caller& each : callers_) {
    if (each.socket == other->socket)
      answer(each, {.call = accepts ? RankCall::connect : RankCall::accept}, body);
  }
}

void RankServer::take_name(Caller& caller, const librma::RankWords& words, std::span<const std::byte> body) {
  const auto texts = librma::decode_texts(body, words.call == RankCall::publish_name ? 2 : 1);
  if (!texts) return deny(caller, "a name is missing");
  const std::string& name = texts->front();
  if (words.call == RankCall::look_name_up) {
    const auto value = ports_.look_up(name);
    if (!value) return deny(caller, fmt::format("nobody has published the name '{}'", name));
    return answer(caller, {.call = words.call}, std::as_bytes(std::span(*value)));
  }
  const bool publishes = words.call == RankCall::publish_name;
  const bool done = publishes ? ports_.publish(name, texts->back()) : ports_.unpublish(name);
  if (done) return answer(caller, {.call = words.call});
  deny(caller, fmt::format("the name '{}' is {}", name, publishes ? "published already" : "not published"));
}

void RankServer::spawn(Caller& caller, const librma::RankWords& words, std::span<const std::byte> body) {
  auto call = librma::SpawnCall::decode(body);
  if (!call || !std::ranges::all_of(call->parents, [&](int rank) { return is_seat(rank); }))
    return deny(caller, "the request to start ranks is malformed");
  reports_.note_spawn({.rank = words.rank,
                       .call = *std::move(call),
                       .answer = [socket = caller.socket](const SpawnOutcome& outcome) {
                         const Caller asking = {.socket = socket};
                         if (!outcome.why_none.empty()) return deny(asking, outcome.why_none);
                         answer(asking, {.call = RankCall::spawn, .rank = outcome.first},
                                librma::encode_ranks(outcome.started));
                       }});
}

}  // namespace rmarun
