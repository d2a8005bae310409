// Communicators of all kinds are made, used and freed far more often than numbers are drawn for them.
// Messages that nobody receives are under way when they are freed, and the ranks free them in different
// orders. No such message may match in a later communicator. LIBRMA_TEST_CYCLES says how many a thread makes.

#include <algorithm>
#include <array>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"

namespace {

using mpi_test::Ring;

constexpr int kThreads = 2;
constexpr int kUsed = 0;   // the tag of messages that are received
constexpr int kStray = 1;  // and of those that may stay behind

/// Returns how many new numbers were drawn for communicators, on all ranks.
unsigned long long new_numbers() {
  int index = -1;
  int count = -1;
  unsigned long long value = 0;
  unsigned long long sum = 0;
  MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
  MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
  SUCCEEDS(MPI_T_pvar_session_create(&session));
  SUCCEEDS(MPI_T_pvar_get_index("context_numbers", MPI_T_PVAR_CLASS_COUNTER, &index));
  SUCCEEDS(MPI_T_pvar_handle_alloc(session, index, nullptr, &handle, &count));
  SUCCEEDS(MPI_T_pvar_read(session, handle, &value));
  SUCCEEDS(MPI_T_pvar_handle_free(session, &handle));
  SUCCEEDS(MPI_T_pvar_session_free(&session));
  SUCCEEDS(MPI_Allreduce(&value, &sum, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD));
  return sum;
}

/// The communicators that one thread of each rank makes, from its own duplicate of MPI_COMM_WORLD.
class Maker {
 public:
  Maker(MPI_Comm parent, unsigned seed, int thread)
      : world_(parent),
        name_("thread " + std::to_string(thread)),
        common_(seed + static_cast<unsigned>(thread)),
        own_(seed + 100U + static_cast<unsigned>(thread + kThreads * world_.rank)) {}

  void run(int cycles) {
    constexpr std::size_t kAlive = 4;
    SUCCEEDS(MPI_Comm_group(world_.comm, &group_));
    for (int cycle = 0; cycle < cycles; ++cycle) {
      make();
      while (made_.size() > kAlive) free_one();
    }
    while (!made_.empty()) free_one();
    SUCCEEDS(MPI_Group_free(&group_));
  }

 private:
  static int below(std::mt19937& random, int bound) {
    return static_cast<int>(random() % static_cast<unsigned>(bound));
  }

  void make() {
    constexpr int kKinds = 7;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    ++stamp_;
    switch (below(common_, kKinds)) {
      case 0:
        SUCCEEDS(MPI_Comm_dup(world_.comm, &comm));
        break;
      case 1:
        SUCCEEDS(MPI_Comm_idup(world_.comm, &comm, &request));
        SUCCEEDS(MPI_Wait(&request, MPI_STATUS_IGNORE));
        break;
      case 2:
        SUCCEEDS(MPI_Comm_split(world_.comm, (world_.rank >> below(common_, 2)) % 2, -world_.rank, &comm));
        break;
      case 3:
        SUCCEEDS(MPI_Comm_create_group(world_.comm, group_, stamp_, &comm));
        break;
      case 4:
        SUCCEEDS(
            MPI_Comm_create_from_group(group_, name_.c_str(), MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
        break;
      default:
        if (world_.size < 2) return;
        SUCCEEDS(MPI_Comm_split(world_.comm, world_.rank % 2, 0, &half));
        SUCCEEDS(MPI_Intercomm_create(half, 0, world_.comm, 1 - world_.rank % 2, stamp_, &comm));
        SUCCEEDS(MPI_Comm_free(&half));
        if (below(common_, 2) == 0) {
          use(comm);
          SUCCEEDS(MPI_Intercomm_merge(comm, 0, &half));
          std::swap(comm, half);
          made_.push_back(half);
        }
        break;
    }
    use(comm);
    made_.push_back(comm);
  }

  void use(MPI_Comm comm) {
    int peers = 0;
    int inter = 0;
    SUCCEEDS(MPI_Comm_test_inter(comm, &inter));
    if (inter != 0) {
      SUCCEEDS(MPI_Comm_remote_size(comm, &peers));
    } else {
      const Ring ring(comm);
      int came = -1;
      MPI_Status status = {};
      peers = ring.size;
      SUCCEEDS(MPI_Sendrecv(&stamp_, 1, MPI_INT, ring.next, kUsed, &came, 1, MPI_INT, MPI_ANY_SOURCE, kUsed,
                            comm, &status));
      CHECK(came == stamp_ && status.MPI_SOURCE == ring.previous);
    }
    stray(comm, peers);
    if (below(common_, 2) == 0) {
      int sum = 0;
      const int one = 1;
      SUCCEEDS(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
      CHECK(sum == peers);
    }
    stray(comm, peers);
    look_for_strays(comm);
  }

  /// Sends messages that need not be received: a short one, and sometimes a long one that is cancelled.
  void stray(MPI_Comm comm, int peers) {
    constexpr int kLong = 30'000;
    SUCCEEDS(MPI_Send(&stamp_, 1, MPI_INT, below(own_, peers), kStray, comm));
    if (below(own_, 8) != 0) return;
    std::vector<int> data(kLong, stamp_);
    MPI_Request request = MPI_REQUEST_NULL;
    SUCCEEDS(MPI_Isend(data.data(), kLong, MPI_INT, below(own_, peers), kStray + 1, comm, &request));
    SUCCEEDS(MPI_Cancel(&request));
    SUCCEEDS(MPI_Wait(&request, MPI_STATUS_IGNORE));
  }

  /// Receives a message of the kind that stray() sends, if there is one: it must be of this communicator.
  void look_for_strays(MPI_Comm comm) {
    int found = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    SUCCEEDS(MPI_Improbe(MPI_ANY_SOURCE, kStray, comm, &found, &message, MPI_STATUS_IGNORE));
    if (found == 0) return;
    int came = -1;
    SUCCEEDS(MPI_Mrecv(&came, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    CHECK(came == stamp_);
  }

  /// Frees one that this rank chooses. A receive is under way that a message to the rank itself ends later.
  void free_one() {
    const auto chosen = made_.begin() + below(own_, static_cast<int>(made_.size()));
    MPI_Comm comm = *chosen;
    made_.erase(chosen);
    int inter = 0;
    SUCCEEDS(MPI_Comm_test_inter(comm, &inter));
    std::array<MPI_Request, 2> requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int came = -1;
    if (inter == 0) {
      const int self = mpi_test::rank_in(comm);
      SUCCEEDS(MPI_Irecv(&came, 1, MPI_INT, self, kUsed, comm, requests.data()));
      SUCCEEDS(MPI_Isend(&stamp_, 1, MPI_INT, self, kUsed, comm, &requests[1]));
    }
    SUCCEEDS(MPI_Comm_free(&comm));
    SUCCEEDS(MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE));
    CHECK(inter != 0 || came == stamp_);
  }

  Ring world_;
  std::string name_;
  std::mt19937 common_;  // draws the same on all ranks
  std::mt19937 own_;
  MPI_Group group_ = MPI_GROUP_NULL;
  int stamp_ = 0;
  std::vector<MPI_Comm> made_;
};

}  // namespace

int main() {
  int provided = -1;
  SUCCEEDS(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided));
  SUCCEEDS(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
  const unsigned seed = mpi_test::test_seed();
  const int size = mpi_test::size_of(MPI_COMM_WORLD);
  constexpr int kUsual = 4000;
  const char* const given = std::getenv("LIBRMA_TEST_CYCLES");
  const int cycles = given != nullptr ? std::atoi(given) : std::max(kUsual / size, 1000);
  std::vector<std::thread> threads;
  std::array<MPI_Comm, kThreads> parents = {};
  for (int thread = 0; thread < kThreads; ++thread) {
    MPI_Comm& parent = parents[static_cast<std::size_t>(thread)];
    SUCCEEDS(MPI_Comm_dup(MPI_COMM_WORLD, &parent));
    threads.emplace_back([=] { Maker(parent, seed, thread).run(cycles); });
  }
  for (std::thread& thread : threads) thread.join();
  for (MPI_Comm& parent : parents) SUCCEEDS(MPI_Comm_free(&parent));
  const unsigned long long drawn = new_numbers();
  if (mpi_test::rank_in(MPI_COMM_WORLD) == 0) {
    std::printf("%d cycles of %d threads took %llu numbers\n", cycles, kThreads, drawn);
    // Each rank keeps back up to 63 numbers, and as many may be on their way.
    CHECK(drawn < 200U * static_cast<unsigned>(size));
  }
  const int result = mpi_test::result();
  SUCCEEDS(MPI_T_finalize());
  SUCCEEDS(MPI_Finalize());
  return result;
}
