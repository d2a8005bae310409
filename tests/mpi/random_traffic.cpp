// Random messages in all modes, received with wildcards, probes, matched probes and cancelled receives,
// beside a model of MPI's order: of the messages of one sender on one communicator, a receive gets the first
// one that fits and that no earlier receive got (MPI 4.1, section 3.5).

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <random>
#include <vector>

#include "check.hpp"

namespace {

using mpi_test::rank_in;
using mpi_test::size_of;

constexpr int kRounds = 6;
constexpr int kMessages = 25;  // that each rank sends in a round
constexpr int kTags = 4;
constexpr int kUnusedTag = 99;
constexpr std::size_t kComms = 2;
constexpr std::array kLengths = {4, 5, 40, 60, 500, 9000, 40000};

struct Message {
  int number = 0;  // of its sender's messages in this round
  int tag = 0;
  int length = 0;
  int destination = 0;
  std::size_t comm = 0;
};

/// What `source` sends in a round. All ranks can compute it.
std::vector<Message> schedule(unsigned seed, int round, int source, int size) {
  std::mt19937 random(seed + static_cast<unsigned>(1000 * round + source));
  const auto below = [&](std::size_t limit) { return static_cast<int>(random() % limit); };
  std::vector<Message> all(kMessages);
  for (int i = 0; i < kMessages; ++i) {
    all[static_cast<std::size_t>(i)] = {.number = i,
                                        .tag = below(kTags),
                                        .length = kLengths[static_cast<std::size_t>(below(kLengths.size()))],
                                        .destination = below(static_cast<std::size_t>(size)),
                                        .comm = static_cast<std::size_t>(below(kComms))};
  }
  return all;
}

std::vector<unsigned char> content(const Message& message, int source) {
  std::vector<unsigned char> bytes(static_cast<std::size_t>(message.length));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<unsigned char>(i * 13 + static_cast<std::size_t>(source * 50 + message.number));
  }
  return bytes;
}

/// The messages to this rank on one communicator that have not been received, by sender, in the order of
/// sending.
class Expected {
 public:
  explicit Expected(int size) : of_(static_cast<std::size_t>(size)) {}

  void add(int source, const Message& message) {
    of_[static_cast<std::size_t>(source)].push_back(message);
    ++left_;
  }
  [[nodiscard]] int left() const { return left_; }

  /// Returns the first message of `source` that fits the tag, or null.
  [[nodiscard]] const Message* first(int source, int tag) const {
    for (const Message& message : of_[static_cast<std::size_t>(source)]) {
      if (tag == MPI_ANY_TAG || message.tag == tag) return &message;
    }
    return nullptr;
  }
  void remove(int source, int number) {
    auto& queue = of_[static_cast<std::size_t>(source)];
    std::erase_if(queue, [&](const Message& message) { return message.number == number; });
    --left_;
  }
  /// Returns the number of messages that fit.
  [[nodiscard]] int fitting(int source, int tag) const {
    int found = 0;
    for (int from = 0; from < static_cast<int>(of_.size()); ++from) {
      if (source != MPI_ANY_SOURCE && source != from) continue;
      for (const Message& message : of_[static_cast<std::size_t>(from)]) {
        if (tag == MPI_ANY_TAG || message.tag == tag) ++found;
      }
    }
    return found;
  }
  /// Returns the source and tag of one of the messages.
  template <class Random>
  [[nodiscard]] std::pair<int, int> any(Random& random) const {
    int index = static_cast<int>(random() % static_cast<unsigned>(left_));
    for (int from = 0;; ++from) {
      const auto& queue = of_[static_cast<std::size_t>(from)];
      if (index < static_cast<int>(queue.size())) return {from, queue[static_cast<std::size_t>(index)].tag};
      index -= static_cast<int>(queue.size());
    }
  }

 private:
  std::vector<std::deque<Message>> of_;
  int left_ = 0;
};

struct Pattern {
  int source;
  int tag;
};

class Receiver {
 public:
  Receiver(MPI_Comm comm, Expected& expected, std::mt19937& random)
      : comm_(comm), expected_(expected), random_(random) {}

  void step() {
    switch (random_() % 7) {
      case 0:
        return receive();
      case 1:
      case 2:
        return probe();
      case 3:
      case 4:
        return matched_probe();
      default:
        return batch();
    }
  }

 private:
  /// A pattern of one of four classes that some message fits.
  Pattern pattern(unsigned wildcards) {
    const auto [source, tag] = expected_.any(random_);
    return {.source = (wildcards & 1U) != 0 ? MPI_ANY_SOURCE : source,
            .tag = (wildcards & 2U) != 0 ? MPI_ANY_TAG : tag};
  }

  /// Checks that the status is the one of the message that had to come, and returns that message.
  const Message* check_status(const Pattern& wanted, const MPI_Status& status) {
    const bool source_fits = wanted.source == MPI_ANY_SOURCE || wanted.source == status.MPI_SOURCE;
    const bool tag_fits = wanted.tag == MPI_ANY_TAG || wanted.tag == status.MPI_TAG;
    CHECK(source_fits && tag_fits);
    const Message* const message = expected_.first(status.MPI_SOURCE, wanted.tag);
    int count = -1;
    SUCCEEDS(MPI_Get_count(&status, MPI_BYTE, &count));
    CHECK(message != nullptr && message->tag == status.MPI_TAG && message->length == count);
    return message;
  }
  void check_received(const Pattern& wanted, const MPI_Status& status, const std::vector<unsigned char>& in) {
    const Message* const message = check_status(wanted, status);
    if (message == nullptr) return;
    const std::vector<unsigned char> right = content(*message, status.MPI_SOURCE);
    CHECK(std::equal(right.begin(), right.end(), in.begin()));
    expected_.remove(status.MPI_SOURCE, message->number);
  }

  void receive() {
    const Pattern wanted = pattern(random_() % 4);
    std::vector<unsigned char> in(kLongest);
    MPI_Status status;
    SUCCEEDS(MPI_Recv(in.data(), kLongest, MPI_BYTE, wanted.source, wanted.tag, comm_, &status));
    check_received(wanted, status, in);
  }

  void probe() {
    const Pattern wanted = pattern(random_() % 4);
    MPI_Status status;
    int flag = random_() % 2 != 0 ? 1 : 0;
    if (flag != 0) SUCCEEDS(MPI_Probe(wanted.source, wanted.tag, comm_, &status));
    while (flag == 0) SUCCEEDS(MPI_Iprobe(wanted.source, wanted.tag, comm_, &flag, &status));
    const Message* const message = check_status(wanted, status);
    if (message == nullptr) return;
    std::vector<unsigned char> in(static_cast<std::size_t>(message->length));
    const Pattern found = {.source = status.MPI_SOURCE, .tag = status.MPI_TAG};
    SUCCEEDS(MPI_Recv(in.data(), message->length, MPI_BYTE, found.source, found.tag, comm_, &status));
    check_received(found, status, in);
  }

  void matched_probe() {
    const Pattern wanted = pattern(random_() % 4);
    MPI_Status status;
    MPI_Message handle = MPI_MESSAGE_NULL;
    int flag = random_() % 2 != 0 ? 1 : 0;
    if (flag != 0) SUCCEEDS(MPI_Mprobe(wanted.source, wanted.tag, comm_, &handle, &status));
    while (flag == 0) SUCCEEDS(MPI_Improbe(wanted.source, wanted.tag, comm_, &flag, &handle, &status));
    check_status(wanted, status);
    std::vector<unsigned char> in(kLongest);
    if (random_() % 2 != 0) {
      SUCCEEDS(MPI_Mrecv(in.data(), kLongest, MPI_BYTE, &handle, &status));
    } else {
      MPI_Request request = MPI_REQUEST_NULL;
      SUCCEEDS(MPI_Imrecv(in.data(), kLongest, MPI_BYTE, &handle, &request));
      SUCCEEDS(MPI_Wait(&request, &status));
    }
    CHECK(handle == MPI_MESSAGE_NULL);
    check_received(wanted, status, in);
  }

  /// Posts several receives whose patterns have the same wildcards, so that none can take the last message of
  /// another, and one that no message fits. Cancels that one and perhaps others.
  void batch() {
    const unsigned wildcards = random_() % 4;
    const bool from_any = (wildcards & 1U) != 0;
    const bool with_any = (wildcards & 2U) != 0;
    std::vector<Pattern> patterns;
    for (int i = 0; i < 6; ++i) {
      const Pattern next = pattern(wildcards);
      const auto same = std::count_if(patterns.begin(), patterns.end(), [&](const Pattern& other) {
        return (from_any || other.source == next.source) && (with_any || other.tag == next.tag);
      });
      if (same < expected_.fitting(next.source, next.tag)) patterns.push_back(next);
    }
    patterns.insert(patterns.begin() + static_cast<std::ptrdiff_t>(random_() % (patterns.size() + 1)),
                    {.source = MPI_ANY_SOURCE, .tag = kUnusedTag});
    const std::size_t n = patterns.size();
    std::vector<std::vector<unsigned char>> in(n, std::vector<unsigned char>(kLongest));
    std::vector<MPI_Request> requests(n);
    std::vector<MPI_Status> statuses(n);
    for (std::size_t i = 0; i < n; ++i) {
      SUCCEEDS(MPI_Irecv(in[i].data(), kLongest, MPI_BYTE, patterns[i].source, patterns[i].tag, comm_,
                         &requests[i]));
    }
    for (std::size_t i = 0; i < n; ++i) {
      if (patterns[i].tag == kUnusedTag || random_() % 8 == 0) SUCCEEDS(MPI_Cancel(&requests[i]));
    }
    wait(requests, statuses);
    for (std::size_t i = 0; i < n; ++i) {
      int cancelled = 0;
      SUCCEEDS(MPI_Test_cancelled(&statuses[i], &cancelled));
      if (patterns[i].tag == kUnusedTag) CHECK(cancelled == 1);
      if (cancelled == 0) check_received(patterns[i], statuses[i], in[i]);
    }
  }

  void wait(std::vector<MPI_Request>& requests, std::vector<MPI_Status>& statuses) {
    const int n = static_cast<int>(requests.size());
    if (random_() % 2 != 0) {
      SUCCEEDS(MPI_Waitall(n, requests.data(), statuses.data()));
      return;
    }
    for (int i = 0; i < n; ++i) {
      int index = -1;
      MPI_Status status;
      SUCCEEDS(MPI_Waitany(n, requests.data(), &index, &status));
      if (index >= 0) statuses[static_cast<std::size_t>(index)] = status;
    }
  }

  static constexpr int kLongest = kLengths.back();
  MPI_Comm comm_;
  Expected& expected_;
  std::mt19937& random_;
};

/// Sends the messages of a round in random modes. Returns the requests to wait for, which use `data`.
std::vector<MPI_Request> send(const std::vector<Message>& messages, int rank,
                              const std::array<MPI_Comm, kComms>& comms, std::mt19937& random,
                              std::vector<std::vector<unsigned char>>& data) {
  std::vector<MPI_Request> requests;
  for (const Message& message : messages) {
    data.push_back(content(message, rank));
    void* const out = data.back().data();
    MPI_Comm comm = comms[message.comm];
    MPI_Request request = MPI_REQUEST_NULL;
    const int length = message.length;
    switch (random() % 6) {
      case 0:
        SUCCEEDS(MPI_Isend(out, length, MPI_BYTE, message.destination, message.tag, comm, &request));
        break;
      case 1:
        SUCCEEDS(MPI_Issend(out, length, MPI_BYTE, message.destination, message.tag, comm, &request));
        break;
      case 2:
        SUCCEEDS(MPI_Bsend(out, length, MPI_BYTE, message.destination, message.tag, comm));
        std::memset(out, 0, static_cast<std::size_t>(length));
        break;
      case 3:
        SUCCEEDS(MPI_Ibsend(out, length, MPI_BYTE, message.destination, message.tag, comm, &request));
        break;
      case 4:
        SUCCEEDS(MPI_Isendrecv(out, length, MPI_BYTE, message.destination, message.tag, nullptr, 0, MPI_BYTE,
                               MPI_PROC_NULL, 0, comm, &request));
        break;
      default:
        SUCCEEDS(MPI_Send_init(out, length, MPI_BYTE, message.destination, message.tag, comm, &request));
        SUCCEEDS(MPI_Start(&request));
    }
    requests.push_back(request);
  }
  return requests;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = rank_in(MPI_COMM_WORLD);
  const int size = size_of(MPI_COMM_WORLD);
  const unsigned seed = mpi_test::test_seed();
  std::mt19937 random(seed + 77 * static_cast<unsigned>(rank) + 1);
  std::array<MPI_Comm, kComms> comms = {MPI_COMM_WORLD, MPI_COMM_NULL};
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
  std::vector<char> memory(kMessages * (static_cast<std::size_t>(kLengths.back()) + MPI_BSEND_OVERHEAD));
  MPI_Buffer_attach(memory.data(), static_cast<int>(memory.size()));
  for (int round = 0; round < kRounds; ++round) {
    std::array<Expected, kComms> expected = {Expected(size), Expected(size)};
    for (int source = 0; source < size; ++source) {
      for (const Message& message : schedule(seed, round, source, size)) {
        if (message.destination == rank) expected[message.comm].add(source, message);
      }
    }
    std::vector<std::vector<unsigned char>> data;
    data.reserve(kMessages);
    std::vector<MPI_Request> sends = send(schedule(seed, round, rank, size), rank, comms, random, data);
    // A failed check leaves the model and the messages apart, and the receives would wait for ever.
    while (mpi_test::failures == 0 && (expected[0].left() > 0 || expected[1].left() > 0)) {
      const std::size_t at = expected[0].left() > 0 && (expected[1].left() == 0 || random() % 2 != 0) ? 0 : 1;
      Receiver(comms[at], expected[at], random).step();
    }
    if (mpi_test::failures != 0) MPI_Abort(MPI_COMM_WORLD, 1);
    SUCCEEDS(MPI_Waitall(static_cast<int>(sends.size()), sends.data(), MPI_STATUSES_IGNORE));
    for (MPI_Request& request : sends) {
      if (request != MPI_REQUEST_NULL) SUCCEEDS(MPI_Request_free(&request));  // those that are persistent
    }
    SUCCEEDS(MPI_Buffer_flush());
    SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));  // the messages of the next round come after all of this one
  }
  char* detached = nullptr;
  int bytes = 0;
  SUCCEEDS(MPI_Buffer_detach(static_cast<void*>(&detached), &bytes));
  MPI_Comm_free(&comms[1]);
  const int code = mpi_test::result();
  MPI_Finalize();
  return code;
}
