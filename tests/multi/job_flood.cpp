// Ranks that flood each other with two-sided messages.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "job.hpp"
#include "rma/messages.h"

namespace {

constexpr std::uint32_t kContext = 3;
constexpr int kFlood = 600;
constexpr int kTags = 3;
constexpr std::size_t kLongMessage = 30000;
// These are announced in any case: job_cases.py and cluster/rings.sh know how many.
constexpr int kSynchronousEach = 5;
constexpr int kLongEach = 7;

}  // namespace

void flood_both_ways() {
  const int partner = rma_rank() ^ 1;
  std::vector<std::vector<char>> sent(kFlood);
  std::vector<rma_request_t> requests(kFlood);
  barrier();
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const int number = static_cast<int>(i);
    const bool is_long = number % kLongEach == kLongEach - 1;
    sent[i].assign(is_long ? kLongMessage : 8 + i % 100, static_cast<char>(i));
    const auto send = number % kSynchronousEach == kSynchronousEach - 1 ? rma_ssend_nb : rma_send_nb;
    expect_ok(send(sent[i].data(), sent[i].size(), partner, number % kTags, kContext, &requests[i]),
              "send_nb");
  }
  // Only now does anybody receive, and not in the order of sending.
  std::vector<char> got(kLongMessage);
  for (int tag = kTags - 1; tag >= 0; --tag) {
    for (auto i = static_cast<std::size_t>(tag); i < sent.size(); i += kTags) {
      rma_message_info_t info = {};
      expect_ok(rma_recv(got.data(), got.size(), partner, tag, kContext, &info), "recv");
      // The partner has sent the same.
      expect(info.bytes == sent[i].size() && std::equal(sent[i].begin(), sent[i].end(), got.begin()),
             "a message of the flood");
    }
  }
  expect_ok(rma_wait_all(requests.data(), requests.size()), "wait_all");
}
