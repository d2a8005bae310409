// Probes, cancelling, bad arguments, and messages among other operations.

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <string_view>

#include "messages.hpp"

namespace {
std::atomic<int> yields = 0;
}

// The library's calls come here too.
extern "C" int sched_yield() noexcept {
  ++yields;
  return static_cast<int>(::syscall(SYS_sched_yield));
}

namespace multi {
namespace {

constexpr std::uint32_t kProbed = 5;

int left() { return neighbour(ranks() - 1); }

/// A message of this size to the next rank. The end of the scope waits for it.
class Sent {
 public:
  Sent(std::size_t bytes, int tag) : data_(contents(bytes, 7, me(), neighbour(1))) {
    EXPECT_TRUE(ok(rma_send_nb(data_.data(), bytes, neighbour(1), tag, kProbed, &request_)));
  }
  ~Sent() { EXPECT_TRUE(ok(rma_wait(&request_))); }
  Sent(const Sent&) = delete;
  Sent& operator=(const Sent&) = delete;

 private:
  std::vector<std::byte> data_;
  rma_request_t request_ = RMA_REQUEST_NULL;
};

/// Returns whether the ranks of a host have to share its processors, or behave as if they had to.
bool crowded() {
  const char* const spins = std::getenv("RMA_SPIN");
  return (spins != nullptr && std::string_view(spins) == "0") || ranks() > ::sysconf(_SC_NPROCESSORS_ONLN);
}

TEST(Message, UnsuccessfulTestsLetOtherRanksRun) {
  constexpr int kTests = 64;
  int byte = 0;
  int done = 0;
  rma_request_t receive = RMA_REQUEST_NULL;
  EXPECT_TRUE(ok(rma_recv_nb(&byte, 1, left(), 1, kProbed, nullptr, &receive)));
  barrier();
  const int before = yields;
  for (int i = 0; i < kTests; ++i) {
    EXPECT_TRUE(ok(rma_test(&receive, &done)));
    EXPECT_EQ(done, 0);
  }
  const int after_tests = yields;
  for (int i = 0; i < kTests; ++i) {
    EXPECT_TRUE(ok(rma_iprobe(left(), 1, kProbed, &done, nullptr)));
    EXPECT_EQ(done, 0);
  }
  const int after_probes = yields;
  EXPECT_EQ(after_tests > before, crowded());
  EXPECT_EQ(after_probes > after_tests, crowded());
  barrier();
  EXPECT_TRUE(ok(rma_send(&byte, 1, neighbour(1), 1, kProbed)));
  EXPECT_TRUE(ok(rma_wait(&receive)));
}

TEST(Message, AProbeLeavesTheMessage) {
  const Sent one(5, 1);
  const Sent other(6, 2);
  rma_message_info_t info = {};
  for (const int source : {left(), RMA_ANY_SOURCE}) {
    EXPECT_TRUE(ok(rma_probe(source, 2, kProbed, &info)));
    expect_info(info, left(), 2, 6);
    EXPECT_TRUE(ok(rma_probe(source, RMA_ANY_TAG, kProbed, &info)));
    expect_info(info, left(), 1, 5);
  }
  int found = 5;
  EXPECT_TRUE(ok(rma_iprobe(left(), 3, kProbed, &found, &info)));
  EXPECT_EQ(found, 0);
  EXPECT_TRUE(ok(rma_iprobe(left(), 1, kProbed + 1, &found, &info)));
  EXPECT_EQ(found, 0) << "another context";
  EXPECT_TRUE(ok(rma_iprobe(left(), 2, kProbed, &found, nullptr)));
  EXPECT_EQ(found, 1);
  std::vector<std::byte> sink(6);
  EXPECT_TRUE(ok(rma_recv(sink.data(), 6, left(), 2, kProbed, nullptr)));
  EXPECT_EQ(sink, contents(6, 7, left(), me()));
  EXPECT_TRUE(ok(rma_recv(sink.data(), 5, left(), 1, kProbed, nullptr)));
  barrier();
  EXPECT_TRUE(ok(rma_iprobe(RMA_ANY_SOURCE, RMA_ANY_TAG, kProbed, &found, nullptr)));
  EXPECT_EQ(found, 0);
  barrier();
}

TEST(Message, AMatchedProbeTakesTheMessage) {
  for (const std::size_t bytes : message_sizes()) {
    const auto data = contents(bytes, 8, me(), neighbour(1));
    std::array<rma_request_t, 2> sent = {};
    for (rma_request_t& one : sent) {
      EXPECT_TRUE(ok(rma_send_nb(data.data(), bytes, neighbour(1), 1, kProbed, &one)));
    }
    rma_message_t message = nullptr;
    rma_message_info_t info = {};
    EXPECT_TRUE(ok(rma_mprobe(RMA_ANY_SOURCE, 1, kProbed, &message, &info)));
    expect_info(info, left(), 1, bytes);
    EXPECT_NE(message, nullptr);
    rma_message_t second = nullptr;
    int found = 0;
    while (found == 0 && !testing::Test::HasFailure()) {
      EXPECT_TRUE(ok(rma_improbe(left(), RMA_ANY_TAG, kProbed, &found, &second, nullptr)));
    }
    EXPECT_NE(second, message);
    rma_message_t third = second;
    EXPECT_TRUE(ok(rma_improbe(left(), RMA_ANY_TAG, kProbed, &found, &third, nullptr)));
    EXPECT_EQ(found, 0);
    EXPECT_EQ(third, nullptr);

    std::vector<std::byte> sink(bytes);
    rma_request_t request = RMA_REQUEST_NULL;
    EXPECT_TRUE(ok(rma_mrecv_nb(sink.data(), bytes, &second, nullptr, &request)));
    EXPECT_EQ(second, nullptr);
    EXPECT_TRUE(ok(rma_wait(&request)));
    EXPECT_EQ(sink, contents(bytes, 8, left(), me()));
    std::fill(sink.begin(), sink.end(), std::byte{0});
    EXPECT_TRUE(ok(rma_mrecv(sink.data(), bytes, &message, &info)));
    expect_info(info, left(), 1, bytes);
    EXPECT_EQ(sink, contents(bytes, 8, left(), me()));
    EXPECT_TRUE(ok(rma_wait_all(sent.data(), sent.size())));
    barrier();  // a rank that is ahead would send what the others' probes find
  }
}

TEST(Message, AMessageIsReceivedOnceByItsHandle) {
  const Sent sent(5, 1);
  rma_message_t message = nullptr;
  std::array<std::byte, 5> sink = {};
  EXPECT_TRUE(ok(rma_mprobe(left(), 1, kProbed, &message, nullptr)));
  const rma_message_t copy = message;
  EXPECT_TRUE(refused(rma_mrecv(nullptr, 5, &message, nullptr), RMA_ERR_ARGUMENT, {"dst"}));
  EXPECT_TRUE(
      refused(rma_mrecv_nb(sink.data(), 5, &message, nullptr, nullptr), RMA_ERR_ARGUMENT, {"request"}));
  EXPECT_EQ(message, copy) << "a refused call leaves the message";
  EXPECT_TRUE(ok(rma_mrecv(sink.data(), 5, &message, nullptr)));

  std::array<int, 4> object = {};
  for (const rma_message_t bad : {copy, reinterpret_cast<rma_message_t>(&object), rma_message_t{nullptr},
                                  reinterpret_cast<rma_message_t>(~std::uintptr_t{0})}) {
    rma_message_t handle = bad;
    rma_request_t request = 77;
    EXPECT_TRUE(refused(rma_mrecv(sink.data(), 5, &handle, nullptr), RMA_ERR_ARGUMENT, {"rma_mrecv"}));
    EXPECT_EQ(handle, bad);
    EXPECT_TRUE(refused(rma_mrecv_nb(sink.data(), 5, &handle, nullptr, &request), RMA_ERR_ARGUMENT,
                        {"rma_mrecv_nb"}));
    EXPECT_EQ(request, RMA_REQUEST_NULL);
  }
  EXPECT_TRUE(refused(rma_mrecv(sink.data(), 5, nullptr, nullptr), RMA_ERR_ARGUMENT, {"message"}));
}

TEST(Message, ACancelledReceiveTakesNothing) {
  std::array<std::byte, 8> sink = {};
  std::array<rma_request_t, 4> requests = {};
  const std::array<int, 4> sources = {left(), left(), RMA_ANY_SOURCE, RMA_ANY_SOURCE};
  for (std::size_t i = 0; i < requests.size(); ++i) {
    EXPECT_TRUE(ok(rma_recv_nb(sink.data(), 8, sources[i], i % 2 == 0 ? 1 : RMA_ANY_TAG, kProbed, nullptr,
                               &requests[i])));
  }
  for (const std::size_t i : {2U, 0U, 3U, 1U}) {
    EXPECT_TRUE(ok(rma_cancel(requests[i])));
    EXPECT_TRUE(ok(rma_cancel(requests[i]))) << "twice does no harm";
  }
  for (rma_request_t& request : requests) {
    EXPECT_TRUE(refused(rma_wait(&request), RMA_ERR_CANCELED, {"cancel"}));
    EXPECT_EQ(request, RMA_REQUEST_NULL);
  }
  barrier();
  const Sent sent(8, 1);
  EXPECT_TRUE(ok(rma_recv(sink.data(), 8, left(), 1, kProbed, nullptr)));
  EXPECT_TRUE(std::ranges::equal(sink, contents(8, 7, left(), me())));
}

TEST(Message, CancellingComesTooLateAfterTheMatch) {
  for (const std::size_t bytes : message_sizes()) {
    const auto data = contents(bytes, 8, me(), neighbour(1));
    std::vector<std::byte> sink(bytes);
    rma_request_t sent = RMA_REQUEST_NULL;
    EXPECT_TRUE(ok(rma_send_nb(data.data(), bytes, neighbour(1), 1, kProbed, &sent)));
    EXPECT_TRUE(ok(rma_probe(left(), 1, kProbed, nullptr)));
    rma_request_t received = RMA_REQUEST_NULL;
    EXPECT_TRUE(ok(rma_recv_nb(sink.data(), bytes, left(), 1, kProbed, nullptr, &received)));
    EXPECT_TRUE(ok(rma_cancel(received)));
    EXPECT_TRUE(ok(rma_wait(&received)));
    barrier();  // so the neighbour has matched the send
    EXPECT_TRUE(ok(rma_cancel(sent)));
    EXPECT_TRUE(ok(rma_wait(&sent)));
    EXPECT_EQ(sink, contents(bytes, 8, left(), me()));
  }
  EXPECT_TRUE(ok(rma_cancel(RMA_REQUEST_NULL)));
  EXPECT_TRUE(refused(rma_cancel(0xdeadbeef), RMA_ERR_ARGUMENT, {"rma_cancel", "request"}));
}

TEST(Message, ACancelledSendIsNeverReceived) {
  std::vector<std::size_t> sizes = message_sizes();
  sizes.push_back(0);
  for (const std::size_t bytes : sizes) {
    for (const bool synchronous : {true, false}) {
      const auto data = contents(bytes, 3, me(), neighbour(1));
      const auto next = contents(bytes, 4, me(), neighbour(1));
      std::vector<std::byte> sink(bytes);
      rma_request_t sent = RMA_REQUEST_NULL;
      const auto send = synchronous ? rma_ssend_nb : rma_send_nb;
      EXPECT_TRUE(ok(send(data.data(), bytes, neighbour(1), 1, kProbed, &sent)));
      EXPECT_TRUE(ok(rma_cancel(sent)));
      EXPECT_TRUE(ok(rma_cancel(sent))) << "twice does no harm";
      const rma_status_t ended = rma_wait(&sent);  // nobody has posted a receive
      EXPECT_TRUE(ended == RMA_ERR_CANCELED || (ended == RMA_SUCCESS && !synchronous));
      barrier();
      const int cancelled = ended == RMA_ERR_CANCELED ? 1 : 0;
      int theirs = -1;
      EXPECT_TRUE(ok(rma_send_nb(&cancelled, sizeof cancelled, neighbour(1), 2, kProbed, &sent)));
      EXPECT_TRUE(ok(rma_recv(&theirs, sizeof theirs, left(), 2, kProbed, nullptr)));
      EXPECT_TRUE(ok(rma_wait(&sent)));
      int found = -1;
      EXPECT_TRUE(ok(rma_iprobe(left(), 1, kProbed, &found, nullptr)));
      EXPECT_EQ(found, 1 - theirs);
      if (theirs == 0) {
        EXPECT_TRUE(ok(rma_recv(sink.data(), bytes, left(), 1, kProbed, nullptr)));
        EXPECT_EQ(sink, contents(bytes, 3, left(), me()));
      }
      barrier();
      EXPECT_TRUE(ok(rma_send_nb(next.data(), bytes, neighbour(1), 1, kProbed, &sent)));
      EXPECT_TRUE(ok(rma_recv(sink.data(), bytes, left(), 1, kProbed, nullptr)));
      EXPECT_EQ(sink, contents(bytes, 4, left(), me()));
      EXPECT_TRUE(ok(rma_wait(&sent)));
    }
  }
}

TEST(MessageMixed, AmongPutsAndGets) {
  constexpr std::size_t kEach = 40;
  constexpr std::size_t kBytes = 3000;
  Slices slices(Remote::registered, kEach * kBytes);
  const int to = neighbour(1);
  std::vector<std::byte> source(kEach * kBytes, std::byte{3});
  std::vector<std::vector<std::byte>> sinks(kEach, std::vector<std::byte>(kBytes));
  std::vector<std::vector<std::byte>> sent(kEach);
  std::vector<rma_request_t> requests(3 * kEach);
  for (std::size_t i = 0; i < kEach; ++i) {
    sent[i] = contents(i * kBytes / kEach * 7 % kBytes, i, me(), to);
    EXPECT_TRUE(ok(rma_recv_nb(sinks[i].data(), kBytes, left(), static_cast<int>(i), kProbed, nullptr,
                               &requests[3 * i])));
    EXPECT_TRUE(ok(rma_put_nb(slices.at(to) + i * kBytes, source.data() + i * kBytes, kBytes, to,
                              &requests[3 * i + 1])));
  }
  std::copy(source.begin(), source.end(), slices.model(to).begin());
  for (std::size_t i = kEach; i-- > 0;) {
    const int tag = static_cast<int>(i);
    EXPECT_TRUE(ok(
        i % 2 == 0 ? rma_send_nb(sent[i].data(), sent[i].size(), to, tag, kProbed, &requests[3 * i + 2])
                   : rma_ssend_nb(sent[i].data(), sent[i].size(), to, tag, kProbed, &requests[3 * i + 2])));
  }
  std::vector<int> seen(requests.size());
  for (std::size_t index = 0;;) {
    EXPECT_TRUE(ok(rma_wait_any(requests.data(), requests.size(), &index)));
    if (index >= requests.size()) break;
    ++seen[index];
  }
  EXPECT_EQ(seen, std::vector<int>(requests.size(), 1));
  for (std::size_t i = 0; i < kEach; ++i) {
    const auto expected = contents(i * kBytes / kEach * 7 % kBytes, i, left(), me());
    EXPECT_EQ(first_difference(expected, sinks[i]), expected.size()) << i;
  }
  barrier();
  slices.check();
}

TEST(Message, BadArgumentsAreRefused) {
  std::array<std::byte, 8> data = {};
  rma_request_t request = 77;
  rma_message_t message = nullptr;
  int found = 0;
  for (const int rank : {-1, -2, ranks(), 1 << 30}) {
    EXPECT_TRUE(
        refused(rma_send(data.data(), 8, rank, 1, 0), RMA_ERR_RANK, {"rma_send", std::to_string(rank)}));
    EXPECT_TRUE(refused(rma_ssend(data.data(), 8, rank, 1, 0), RMA_ERR_RANK, {"rma_ssend"}));
    EXPECT_TRUE(refused(rma_send_nb(data.data(), 8, rank, 1, 0, &request), RMA_ERR_RANK));
    EXPECT_EQ(request, RMA_REQUEST_NULL);
    if (rank == RMA_ANY_SOURCE) continue;
    EXPECT_TRUE(refused(rma_recv(data.data(), 8, rank, 1, 0, nullptr), RMA_ERR_RANK, {"rma_recv"}));
    EXPECT_TRUE(refused(rma_recv_nb(data.data(), 8, rank, 1, 0, nullptr, &request), RMA_ERR_RANK));
    EXPECT_TRUE(refused(rma_probe(rank, 1, 0, nullptr), RMA_ERR_RANK, {"rma_probe"}));
    EXPECT_TRUE(refused(rma_iprobe(rank, 1, 0, &found, nullptr), RMA_ERR_RANK, {"rma_iprobe"}));
    EXPECT_TRUE(refused(rma_mprobe(rank, 1, 0, &message, nullptr), RMA_ERR_RANK, {"rma_mprobe"}));
    EXPECT_TRUE(refused(rma_improbe(rank, 1, 0, &found, &message, nullptr), RMA_ERR_RANK, {"rma_improbe"}));
  }
  for (const int tag : {-1, -2, INT32_MIN}) {
    EXPECT_TRUE(
        refused(rma_send(data.data(), 8, me(), tag, 0), RMA_ERR_ARGUMENT, {"tag", std::to_string(tag)}));
    EXPECT_TRUE(refused(rma_ssend_nb(data.data(), 8, me(), tag, 0, &request), RMA_ERR_ARGUMENT, {"tag"}));
    if (tag == RMA_ANY_TAG) continue;
    EXPECT_TRUE(refused(rma_recv(data.data(), 8, me(), tag, 0, nullptr), RMA_ERR_ARGUMENT, {"tag"}));
    EXPECT_TRUE(refused(rma_iprobe(me(), tag, 0, &found, nullptr), RMA_ERR_ARGUMENT, {"tag"}));
  }
  EXPECT_TRUE(refused(rma_send(nullptr, 1, me(), 1, 0), RMA_ERR_ARGUMENT, {"src"}));
  EXPECT_TRUE(refused(rma_recv(nullptr, 1, me(), 1, 0, nullptr), RMA_ERR_ARGUMENT, {"dst"}));
  EXPECT_TRUE(refused(rma_send(data.data(), SIZE_MAX, me(), 1, 0), RMA_ERR_SIZE));
  EXPECT_TRUE(refused(rma_recv(data.data(), SIZE_MAX, me(), 1, 0, nullptr), RMA_ERR_SIZE));
  EXPECT_TRUE(refused(rma_send_nb(data.data(), 8, me(), 1, 0, nullptr), RMA_ERR_ARGUMENT, {"request"}));
  EXPECT_TRUE(refused(rma_ssend_nb(data.data(), 8, me(), 1, 0, nullptr), RMA_ERR_ARGUMENT, {"request"}));
  EXPECT_TRUE(
      refused(rma_recv_nb(data.data(), 8, me(), 1, 0, nullptr, nullptr), RMA_ERR_ARGUMENT, {"request"}));
  EXPECT_TRUE(refused(rma_iprobe(me(), 1, 0, nullptr, nullptr), RMA_ERR_ARGUMENT, {"found"}));
  EXPECT_TRUE(refused(rma_mprobe(me(), 1, 0, nullptr, nullptr), RMA_ERR_ARGUMENT, {"message"}));
  EXPECT_TRUE(refused(rma_improbe(me(), 1, 0, &found, nullptr, nullptr), RMA_ERR_ARGUMENT, {"message"}));
  EXPECT_TRUE(refused(rma_improbe(me(), 1, 0, nullptr, &message, nullptr), RMA_ERR_ARGUMENT, {"found"}));
  EXPECT_TRUE(ok(rma_iprobe(RMA_ANY_SOURCE, RMA_ANY_TAG, 0, &found, nullptr)));
  EXPECT_EQ(found, 0) << "a refused call has sent something";
}

}  // namespace
}  // namespace multi
