// Ranks that are lost in the middle of two-sided messages between hosts.

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "job.hpp"
#include "rma/messages.h"

namespace cluster_job {
namespace {

constexpr std::uint32_t kContext = 3;
constexpr std::size_t kLong = std::size_t{8} << 20U;
constexpr int kMessages = 4;

/// The protocols, one for each pair of ranks. Those of short messages are last: by an eager ring, and by the
/// shared receive queue.
constexpr std::array<const char*, 8> kProtocols = {
    "copy", "read", "register", "cache", "pipeline", "caching_pipeline", "eager by ring", "eager by queue"};
constexpr std::size_t kEagerByRing = 6;
constexpr std::size_t kEagerByQueue = 7;

std::size_t protocol_of(int rank) {
  return static_cast<std::size_t>(rank) % std::min<std::size_t>(kProtocols.size(), ranks() / 2);
}

/// One pair: a victim, which ends, and a survivor on the other host.
struct Pair {
  int victim = 0;
  bool eager = false;

  /// A call has ended well or because the victim was lost, and then its text names it. Returns whether it was
  /// lost.
  [[nodiscard]] bool lost(rma_status_t status, const char* what) const {
    expect(status == RMA_SUCCESS ||
               (status == RMA_ERR_PEER_LOST && error_names("rank " + std::to_string(victim))),
           what);
    return status == RMA_ERR_PEER_LOST;
  }
  void must_be_lost(rma_status_t status, const char* what) const { expect(lost(status, what), what); }
  /// The victim of another pair may be the first that a receive from any source hears of.
  static void must_name_any(rma_status_t status, const char* what) {
    expect(status == RMA_ERR_PEER_LOST && error_names("rank "), what);
  }
};

/// The survivor posts receives for all messages of the victim but the last, and for two messages that the
/// victim never sends. The receives of those two end only when the loss is known. The survivor receives the
/// last message after that, so a long one cannot have moved. Returns how many of the victim's other messages
/// were lost.
long outlive_sender(const Pair& pair, std::vector<char>& data) {
  std::array<rma_request_t, kMessages + 1> requests = {};
  const auto receive = [&](int tag, rma_request_t& request) {
    expect_ok(rma_recv_nb(data.data(), data.size(), pair.victim, tag, kContext, nullptr, &request),
              "recv_nb");
  };
  for (int i = 0; i < kMessages - 1; ++i) receive(i, requests[static_cast<std::size_t>(i)]);
  receive(kMessages, requests[kMessages - 1]);
  receive(kMessages + 1, requests[kMessages]);
  rma_request_t any = RMA_REQUEST_NULL;
  expect_ok(rma_recv_nb(data.data(), 8, RMA_ANY_SOURCE, 99, kContext, nullptr, &any), "recv_nb");
  barrier();
  long lost = 0;
  for (std::size_t i = 0; i < kMessages - 1; ++i)
    lost += pair.lost(rma_wait(&requests[i]), "a receive") ? 1 : 0;
  for (std::size_t i = kMessages - 1; i < requests.size(); ++i) {
    pair.must_be_lost(rma_wait(&requests[i]), "a receive of a message that the victim never sends");
  }
  const rma_status_t last = rma_recv(data.data(), data.size(), pair.victim, kMessages - 1, kContext, nullptr);
  if (pair.eager) {
    (void)pair.lost(last, "a receive of the last message");
  } else {
    pair.must_be_lost(last, "a receive of a message that had no receive before the loss");
  }
  pair.must_be_lost(rma_probe(pair.victim, 1, kContext, nullptr), "a probe");
  Pair::must_name_any(rma_wait(&any), "a receive from any source that was posted");
  Pair::must_name_any(rma_recv(data.data(), 8, RMA_ANY_SOURCE, 1, kContext, nullptr),
                      "a receive from any source");
  return lost;
}

/// The survivor sends to the victim, which has posted a receive for each message but the last. The last one
/// cannot move. Returns how many of the other messages were lost.
long outlive_receiver(const Pair& pair, std::vector<char>& data) {
  std::array<rma_request_t, kMessages + 1> requests = {};
  std::array<bool, kMessages + 1> lost = {};
  barrier();
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto send = i == kMessages ? rma_ssend_nb : rma_send_nb;
    lost[i] =
        pair.lost(send(data.data(), data.size(), pair.victim, static_cast<int>(i), kContext, &requests[i]),
                  "a send that starts");
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (pair.lost(rma_wait(&requests[i]), "a send")) lost[i] = true;
  }
  expect(lost.back(), "the victim took a message that it has no receive for");
  return std::count(lost.begin(), lost.end() - 1, true);
}

/// The victim has its messages under way, and ends.
[[noreturn]] void end_in_the_middle(int partner, bool sends, std::vector<char>& data) {
  std::array<rma_request_t, kMessages> requests = {};
  if (sends) barrier();  // the receives are posted
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const int tag = static_cast<int>(i);
    expect_ok(sends ? rma_send_nb(data.data(), data.size(), partner, tag, kContext, &requests[i])
                    : rma_recv_nb(data.data(), data.size(), partner, tag, kContext, nullptr, &requests[i]),
              "a message of the victim");
  }
  if (!sends) barrier();
  // Some of the data move. The victim does not sleep, because its device would go on meanwhile. The device
  // also goes on while the victim waits for its processor, so a pair may complete every message that has a
  // receive.
  int done = 0;
  for (int i = 0; i < 100 && done == 0; ++i) expect_ok(rma_test(requests.data(), &done), "test");
  std::raise(SIGKILL);
  std::abort();
}

}  // namespace

void choose_rendezvous() {
  const char* const rank = std::getenv("PMIX_RANK");
  const char* const size = std::getenv("OMPI_COMM_WORLD_SIZE");
  if (rank == nullptr || size == nullptr) return;
  const auto pairs = static_cast<std::size_t>(std::strtol(size, nullptr, 10)) / 2;
  const auto pair =
      static_cast<std::size_t>(std::strtol(rank, nullptr, 10)) % std::max<std::size_t>(pairs, 1);
  const std::size_t protocol = std::min(pair, kProtocols.size() - 1);
  if (protocol == kEagerByRing) {
    setenv("RMA_PROMOTE", "1", 1);
  } else if (protocol == kEagerByQueue) {
    setenv("RMA_POLLING_SET", "0", 1);
  } else {
    setenv("RMA_RENDEZVOUS", kProtocols[protocol], 1);
  }
}

/// The ranks of the second host are victims, each of one on the first. With the argument 0 the victims send,
/// with 1 they receive. Every call of the survivors ends, they say so, and one of them ends the job.
void messages_lost() {
  const int pairs = rma_size() / 2;
  const bool survivor = rma_rank() < pairs;
  const int partner = survivor ? rma_rank() + pairs : rma_rank() - pairs;
  const bool victim_sends = argument == 0;
  Pair pair = {.victim = partner};
  pair.eager = protocol_of(rma_rank()) >= kEagerByRing;
  expect(rma_same_host(partner) == 0, "pairs across hosts");
  rma_team_t survivors = nullptr;
  std::vector<int> listed(static_cast<std::size_t>(pairs));
  std::iota(listed.begin(), listed.end(), 0);
  if (survivor) expect_ok(rma_team_create(listed.data(), pairs, &survivors), "team");
  std::vector<char> data(pair.eager ? 100 : kLong, 1);
  // Both sides connect, because a rank that was never sent anything cannot be missed, and offer each other
  // rings.
  for (int i = 0; i < 20; ++i) {
    char byte = 0;
    rma_request_t request = RMA_REQUEST_NULL;
    expect_ok(rma_send_nb(&byte, 1, partner, 100, kContext, &request), "send");
    expect_ok(rma_recv(&byte, 1, partner, 100, kContext, nullptr), "receive");
    expect_ok(rma_wait(&request), "wait");
  }
  barrier();
  if (!survivor) end_in_the_middle(partner, victim_sends, data);
  const auto began = std::chrono::steady_clock::now();
  const long interrupted = victim_sends ? outlive_sender(pair, data) : outlive_receiver(pair, data);
  pair.must_be_lost(rma_recv(data.data(), 8, partner, 1, kContext, nullptr), "a later receive");
  pair.must_be_lost(rma_send(data.data(), 8, partner, 1, kContext), "a later send");
  pair.must_be_lost(rma_ssend(data.data(), data.size(), partner, 1, kContext), "a later synchronous send");
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  std::fprintf(stderr, "rank %d: %s, the %s and %ld messages were lost, all calls ended after %.1f s\n",
               rma_rank(), kProtocols[protocol_of(rma_rank())], victim_sends ? "sender" : "receiver",
               interrupted, seconds);
  // A pair may have completed every message that has a receive, but not all pairs: then no message was
  // interrupted, and the case has tested too little.
  std::array<long, 2> mine = {failures, pair.eager ? 0 : interrupted};
  std::array<long, 2> all = {};
  expect_ok(rma_allreduce(survivors, all.data(), mine.data(), 2, RMA_LONG, RMA_SUM), "sum of failures");
  if (rma_rank() == 0) expect(all[1] > 0, "no pair lost a message in the middle");
  const bool good = failures == 0 && all[0] == 0 && all[1] > 0;
  if (rma_rank() != 0) std::this_thread::sleep_for(std::chrono::seconds(2));
  rma_abort(good ? 9 : 1, good ? "survivors agree: a rank was lost" : "something was wrong");
}

}  // namespace cluster_job
