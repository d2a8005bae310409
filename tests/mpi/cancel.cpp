// MPI_Cancel. The wait for a cancelled operation returns whatever the other process does. A send that is said
// to be cancelled is never received, and any other one is. Ranks talk in pairs; a rank without a partner
// talks to itself.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <random>
#include <vector>

#include "check.hpp"

namespace {

using mpi_test::rank_in;
using mpi_test::size_of;

struct Pair {
  int rank = rank_in(MPI_COMM_WORLD);
  int peer = (rank ^ 1) < size_of(MPI_COMM_WORLD) ? rank ^ 1 : rank;
  [[nodiscard]] bool sends() const { return rank <= peer; }
  [[nodiscard]] bool receives() const { return rank >= peer; }
};

constexpr int kTag = 7;
constexpr int kVerdictTag = 8;
/// Up to eager, in the window, announced.
constexpr std::array kSizes = {0, 8, 100, 3000, 20000, 700000};

enum class Mode { kStandard, kSynchronous, kBuffered, kPersistent, kPersistentSynchronous, kColumns };
constexpr std::array kModes = {Mode::kStandard,   Mode::kSynchronous,           Mode::kBuffered,
                               Mode::kPersistent, Mode::kPersistentSynchronous, Mode::kColumns};

[[nodiscard]] bool waits_for_receive(Mode mode) {
  return mode == Mode::kSynchronous || mode == Mode::kPersistentSynchronous;
}

std::vector<std::uint8_t> data_of(int bytes, int seed) {
  std::vector<std::uint8_t> data(static_cast<std::size_t>(bytes));
  for (std::size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<std::uint8_t>(i * 7 + static_cast<std::size_t>(seed));
  return data;
}

/// Every second byte of twice as many.
MPI_Datatype columns_of(int bytes) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  SUCCEEDS(MPI_Type_vector(bytes, 1, 2, MPI_BYTE, &type));
  SUCCEEDS(MPI_Type_commit(&type));
  return type;
}

/// A send of `data`, from its start to its end.
class Sending {
 public:
  Sending(Mode mode, std::vector<std::uint8_t> data, int to, int tag = kTag) : data_(std::move(data)) {
    const auto count = static_cast<int>(data_.size());
    switch (mode) {
      case Mode::kStandard:
        SUCCEEDS(MPI_Isend(data_.data(), count, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request));
        break;
      case Mode::kSynchronous:
        SUCCEEDS(MPI_Issend(data_.data(), count, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request));
        break;
      case Mode::kBuffered:
        SUCCEEDS(MPI_Ibsend(data_.data(), count, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request));
        break;
      case Mode::kPersistent:
        SUCCEEDS(MPI_Send_init(data_.data(), count, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request));
        break;
      case Mode::kPersistentSynchronous:
        SUCCEEDS(MPI_Ssend_init(data_.data(), count, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request));
        break;
      case Mode::kColumns: {
        std::vector<std::uint8_t> wide(2 * data_.size());
        for (std::size_t i = 0; i < data_.size(); ++i) wide[2 * i] = data_[i];
        data_.swap(wide);
        MPI_Datatype type = columns_of(count);
        SUCCEEDS(MPI_Issend(data_.data(), 1, type, to, tag, MPI_COMM_WORLD, &request));
        SUCCEEDS(MPI_Type_free(&type));
        break;
      }
    }
    persistent_ = mode == Mode::kPersistent || mode == Mode::kPersistentSynchronous;
    if (persistent_) SUCCEEDS(MPI_Start(&request));
  }
  ~Sending() {
    if (persistent_ && request != MPI_REQUEST_NULL) SUCCEEDS(MPI_Request_free(&request));
  }
  Sending(const Sending&) = delete;
  Sending& operator=(const Sending&) = delete;

  /// Cancels the send and waits for it. Returns whether it was cancelled.
  bool cancel() {
    SUCCEEDS(MPI_Cancel(&request));
    return end();
  }
  bool end() {
    MPI_Status status;
    int cancelled = -1;
    SUCCEEDS(MPI_Wait(&request, &status));
    SUCCEEDS(MPI_Test_cancelled(&status, &cancelled));
    return cancelled == 1;
  }

  MPI_Request request = MPI_REQUEST_NULL;

 private:
  std::vector<std::uint8_t> data_;
  bool persistent_ = false;
};

void receive(const Pair& pair, const std::vector<std::uint8_t>& wanted, int tag = kTag) {
  std::vector<std::uint8_t> come(wanted.size() + 1);
  MPI_Status status;
  int count = -1;
  SUCCEEDS(MPI_Recv(come.data(), static_cast<int>(come.size()), MPI_BYTE, pair.peer, tag, MPI_COMM_WORLD,
                    &status));
  SUCCEEDS(MPI_Get_count(&status, MPI_BYTE, &count));
  CHECK(count == static_cast<int>(wanted.size()));
  come.pop_back();
  CHECK(come == wanted);
}

/// A process tells its partner, or itself, a number.
int exchange(const Pair& pair, int mine) {
  int theirs = -1;
  SUCCEEDS(MPI_Sendrecv(&mine, 1, MPI_INT, pair.peer, kVerdictTag, &theirs, 1, MPI_INT, pair.peer,
                        kVerdictTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  return theirs;
}

/// Nobody has posted a receive. The receiver is inside the library, and then outside.
void unmatched(const Pair& pair) {
  int seed = 0;
  for (const Mode mode : kModes) {
    for (const int size : kSizes) {
      ++seed;
      bool cancelled = false;
      if (pair.sends()) cancelled = Sending(mode, data_of(size, seed), pair.peer).cancel();
      const bool theirs = exchange(pair, cancelled ? 1 : 0) == 1;
      CHECK(!pair.sends() || !waits_for_receive(mode) || cancelled);
      CHECK(!pair.sends() || mode != Mode::kBuffered || !cancelled);
      if (pair.receives()) {
        int found = -1;
        SUCCEEDS(MPI_Iprobe(pair.peer, kTag, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE));
        CHECK(!theirs || found == 0);
        if (!theirs) receive(pair, data_of(size, seed));
      }
      exchange(pair, 0);
      // The next message with this tag is the next one that is sent.
      MPI_Request next = MPI_REQUEST_NULL;
      const auto again = data_of(size, seed + 100);
      if (pair.sends())
        SUCCEEDS(MPI_Isend(again.data(), size, MPI_BYTE, pair.peer, kTag, MPI_COMM_WORLD, &next));
      if (pair.receives()) receive(pair, again);
      SUCCEEDS(MPI_Wait(&next, MPI_STATUS_IGNORE));
    }
  }
}

/// A send that was received is not cancelled.
void matched(const Pair& pair) {
  for (const Mode mode : kModes) {
    for (const int size : kSizes) {
      const auto data = data_of(size, size);
      std::vector<std::uint8_t> come(data.size());
      MPI_Request request = MPI_REQUEST_NULL;
      if (pair.receives())
        SUCCEEDS(MPI_Irecv(come.data(), size, MPI_BYTE, pair.peer, kTag, MPI_COMM_WORLD, &request));
      exchange(pair, 0);
      if (pair.rank == pair.peer) {
        Sending sending(mode, data, pair.peer);
        SUCCEEDS(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(!sending.cancel());
      } else if (pair.sends()) {
        Sending sending(mode, data, pair.peer);
        exchange(pair, 0);
        CHECK(!sending.cancel());
      } else {
        SUCCEEDS(MPI_Wait(&request, MPI_STATUS_IGNORE));
        exchange(pair, 0);
      }
      CHECK(!pair.receives() || come == data);
    }
  }
}

/// The receiver computes, and enters no call of MPI until the sender's wait has returned.
void while_the_receiver_computes(const Pair& pair) {
  MPI_Comm host = MPI_COMM_NULL;
  SUCCEEDS(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host));
  std::atomic<int>* mine = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  SUCCEEDS(MPI_Win_allocate_shared(sizeof(std::atomic<int>), 1, MPI_INFO_NULL, host,
                                   static_cast<void*>(&mine), &win));
  mine->store(0);
  MPI_Aint size = 0;
  int unit = 0;
  std::atomic<int>* theirs = nullptr;
  SUCCEEDS(MPI_Win_shared_query(win, pair.peer, &size, &unit, static_cast<void*>(&theirs)));
  SUCCEEDS(MPI_Barrier(host));
  for (int round = 1; round <= 3; ++round) {
    // The first message opens the path, and the receiver has learned of it.
    if (pair.sends()) {
      if (pair.rank != pair.peer) receive(pair, data_of(1, round), kVerdictTag);
      CHECK(Sending(Mode::kSynchronous, data_of(round * 9000, 1), pair.peer).cancel());
      theirs->store(round);
    } else {
      const auto go = data_of(1, round);
      SUCCEEDS(MPI_Send(go.data(), 1, MPI_BYTE, pair.peer, kVerdictTag, MPI_COMM_WORLD));
      while (mine->load() < round) {
      }
    }
  }
  SUCCEEDS(MPI_Win_free(&win));
  SUCCEEDS(MPI_Comm_free(&host));
}

/// Computes for a while.
void spend(unsigned rounds) {
  static std::atomic<unsigned> sink = 0;
  for (unsigned i = 0; i < rounds; ++i) sink.fetch_add(i, std::memory_order_relaxed);
}

/// Receives are posted and sends are cancelled at the same time.
void racing(const Pair& pair, unsigned seed) {
  std::mt19937 draw(seed + static_cast<unsigned>(std::min(pair.rank, pair.peer)));
  for (int round = 0; round < 300; ++round) {
    const int size = kSizes[draw() % kSizes.size()];
    const Mode mode = kModes[draw() % kModes.size()];
    const auto pause = static_cast<unsigned>(draw() % 200);
    const auto receiver_pause = static_cast<unsigned>(draw() % 200);
    const auto data = data_of(size, round);
    std::vector<std::uint8_t> come(data.size());
    MPI_Request request = MPI_REQUEST_NULL;
    bool cancelled = false;
    const auto post = [&] {
      spend(receiver_pause);
      SUCCEEDS(MPI_Irecv(come.data(), size, MPI_BYTE, pair.peer, kTag, MPI_COMM_WORLD, &request));
    };
    if (pair.receives() && !pair.sends()) post();
    if (pair.sends()) {
      Sending sending(mode, data, pair.peer);
      spend(pause);
      if (pair.receives()) post();
      cancelled = sending.cancel();
    }
    const bool theirs = exchange(pair, cancelled ? 1 : 0) == 1;
    if (pair.receives()) {
      if (theirs) SUCCEEDS(MPI_Cancel(&request));
      MPI_Status status;
      int nothing = -1;
      SUCCEEDS(MPI_Wait(&request, &status));
      SUCCEEDS(MPI_Test_cancelled(&status, &nothing));
      CHECK((nothing == 1) == theirs);
      CHECK(theirs || come == data);
    }
    exchange(pair, 0);  // so that the next message does not match this receive
  }
}

/// More sends than the receiver and the paths have room for. Every second one is cancelled.
void many(const Pair& pair) {
  constexpr int kMany = 3000;
  std::vector<std::vector<std::uint8_t>> data;
  std::vector<MPI_Request> requests(kMany, MPI_REQUEST_NULL);
  std::vector<int> cancelled(kMany, 0);
  for (int i = 0; i < kMany; ++i) data.push_back(data_of(1 + i % 1500, i));
  if (pair.sends()) {
    for (int i = 0; i < kMany; ++i) {
      auto& one = data[static_cast<std::size_t>(i)];
      SUCCEEDS(MPI_Isend(one.data(), static_cast<int>(one.size()), MPI_BYTE, pair.peer, kTag, MPI_COMM_WORLD,
                         &requests[static_cast<std::size_t>(i)]));
    }
    for (std::size_t i = 1; i < requests.size(); i += 2) {
      MPI_Status status;
      SUCCEEDS(MPI_Cancel(&requests[i]));
      SUCCEEDS(MPI_Wait(&requests[i], &status));
      SUCCEEDS(MPI_Test_cancelled(&status, &cancelled[i]));
    }
    SUCCEEDS(MPI_Send(cancelled.data(), kMany, MPI_INT, pair.peer == pair.rank ? MPI_PROC_NULL : pair.peer,
                      kVerdictTag, MPI_COMM_WORLD));
  } else {
    SUCCEEDS(MPI_Recv(cancelled.data(), kMany, MPI_INT, pair.peer, kVerdictTag, MPI_COMM_WORLD,
                      MPI_STATUS_IGNORE));
  }
  if (pair.receives()) {
    for (std::size_t i = 0; i < data.size(); ++i) {
      if (cancelled[i] == 0) receive(pair, data[i]);
    }
    int found = -1;
    SUCCEEDS(MPI_Iprobe(pair.peer, kTag, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE));
    CHECK(found == 0);
  }
  SUCCEEDS(MPI_Waitall(kMany, requests.data(), MPI_STATUSES_IGNORE));
}

/// A persistent request that was cancelled once is as new when it is started again.
void started_again(const Pair& pair) {
  if (pair.sends()) {
    int number = 5;
    MPI_Request send = MPI_REQUEST_NULL;
    SUCCEEDS(MPI_Ssend_init(&number, 1, MPI_INT, pair.rank, kTag, MPI_COMM_WORLD, &send));
    int come = 0;
    MPI_Request receipt = MPI_REQUEST_NULL;
    SUCCEEDS(MPI_Recv_init(&come, 1, MPI_INT, pair.rank, kTag, MPI_COMM_WORLD, &receipt));
    for (int round = 0; round < 4; ++round) {
      std::array<MPI_Status, 2> statuses;
      std::array<int, 2> cancelled = {-1, -1};
      for (MPI_Request* const one : {&send, &receipt}) {
        SUCCEEDS(MPI_Start(one));
        SUCCEEDS(MPI_Cancel(one));
        SUCCEEDS(MPI_Wait(one, statuses.data()));
        SUCCEEDS(MPI_Test_cancelled(statuses.data(), cancelled.data()));
        CHECK(cancelled[0] == 1);
      }
      number = round;
      std::array<MPI_Request, 2> both = {send, receipt};
      SUCCEEDS(
          MPI_Start(&both[round % 2 == 0 ? 0 : 1]));  // so the message is there already in every second round
      SUCCEEDS(MPI_Start(&both[round % 2 == 0 ? 1 : 0]));
      SUCCEEDS(MPI_Waitall(2, both.data(), statuses.data()));
      int count = -1;
      SUCCEEDS(MPI_Get_count(&statuses[1], MPI_INT, &count));
      for (std::size_t i = 0; i < 2; ++i) SUCCEEDS(MPI_Test_cancelled(&statuses[i], &cancelled[i]));
      CHECK(cancelled[0] == 0 && cancelled[1] == 0 && count == 1 && come == round);
      CHECK(statuses[1].MPI_SOURCE == pair.rank && statuses[1].MPI_TAG == kTag);
    }
    SUCCEEDS(MPI_Request_free(&send));
    SUCCEEDS(MPI_Request_free(&receipt));
  }
  SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
}

/// Partitioned operations: some partitions are missing, or nobody sends.
void partitioned(const Pair& pair) {
  constexpr int kPartitions = 4;
  std::array<int, kPartitions> numbers = {1, 2, 3, 4};
  std::array<int, kPartitions> come = {};
  MPI_Request send = MPI_REQUEST_NULL;
  MPI_Request receipt = MPI_REQUEST_NULL;
  SUCCEEDS(MPI_Psend_init(numbers.data(), kPartitions, 1, MPI_INT, pair.peer, kTag, MPI_COMM_WORLD,
                          MPI_INFO_NULL, &send));
  SUCCEEDS(MPI_Precv_init(come.data(), kPartitions, 1, MPI_INT, pair.peer, kTag, MPI_COMM_WORLD,
                          MPI_INFO_NULL, &receipt));
  for (int round = 0; round < 2; ++round) {
    for (MPI_Request* const one : {&send, &receipt}) {
      MPI_Status status;
      int cancelled = -1;
      SUCCEEDS(MPI_Start(one));
      if (one == &send) SUCCEEDS(MPI_Pready(round, send));
      SUCCEEDS(MPI_Cancel(one));
      SUCCEEDS(MPI_Wait(one, &status));
      SUCCEEDS(MPI_Test_cancelled(&status, &cancelled));
      CHECK(cancelled == 1);
    }
    SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
    come = {};
    SUCCEEDS(MPI_Start(&receipt));
    SUCCEEDS(MPI_Start(&send));
    SUCCEEDS(MPI_Pready_range(0, kPartitions - 1, send));
    for (MPI_Request* const one : {&send, &receipt}) {
      MPI_Status status;
      int cancelled = -1;
      SUCCEEDS(MPI_Wait(one, &status));
      SUCCEEDS(MPI_Test_cancelled(&status, &cancelled));
      CHECK(cancelled == 0);
    }
    CHECK(come == numbers);
    int flag = 0;
    SUCCEEDS(MPI_Parrived(receipt, 1, &flag));
    CHECK(flag == 1);
    SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
  }
  SUCCEEDS(MPI_Request_free(&send));
  SUCCEEDS(MPI_Request_free(&receipt));
  int flag = 0;
  SUCCEEDS(MPI_Parrived(MPI_REQUEST_NULL, 0, &flag));
  CHECK(flag == 1);
}

/// Requests that are freed after they were cancelled, and nobody waits for. MPI_Finalize must return.
void freed(const Pair& pair) {
  static std::vector<std::uint8_t> data = data_of(100000, 1);  // the sends may go on as long as the program
  for (int i = 0; i < 10; ++i) {
    MPI_Request request = MPI_REQUEST_NULL;
    SUCCEEDS(MPI_Issend(data.data(), i % 2 == 0 ? 4 : 100000, MPI_BYTE, pair.peer, kTag, MPI_COMM_WORLD,
                        &request));
    SUCCEEDS(MPI_Cancel(&request));
    SUCCEEDS(MPI_Request_free(&request));
    CHECK(request == MPI_REQUEST_NULL);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const Pair pair;
  const unsigned seed = mpi_test::test_seed();
  std::vector<char> room(std::size_t{8} << 20U);
  SUCCEEDS(MPI_Buffer_attach(room.data(), static_cast<int>(room.size())));
  unmatched(pair);
  matched(pair);
  while_the_receiver_computes(pair);
  racing(pair, seed);
  many(pair);
  started_again(pair);
  partitioned(pair);
  freed(pair);
  void* buffer = nullptr;
  int bytes = 0;
  SUCCEEDS(MPI_Buffer_detach(static_cast<void*>(&buffer), &bytes));
  const int result = mpi_test::result();
  MPI_Finalize();
  return result;
}
