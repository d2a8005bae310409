// Nonblocking and persistent collective calls: against results that every rank can compute for itself, many
// at a time, in different orders, and with everything else that a program does meanwhile.

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "collective_case.hpp"

namespace {

using mpi_test::CollectiveCase;
using mpi_test::rank_in;
using mpi_test::size_of;

/// Composes two maps x -> a * x + b, whose a and b are the halves of an element. This is associative and does
/// not commute.
void compose(void* in, void* inout, int* length, MPI_Datatype* /*type*/) {
  const auto* const from = static_cast<const std::uint64_t*>(in);
  auto* const to = static_cast<std::uint64_t*>(inout);
  for (int i = 0; i < *length; ++i) {
    const std::uint64_t higher = to[i];
    const auto low =
        static_cast<std::uint32_t>(static_cast<std::uint32_t>(from[i]) * (higher >> 32) + higher);
    to[i] = (((from[i] >> 32) * (higher >> 32)) << 32) | low;
  }
}

/// The communicators of the tests, the operator, and the draws that are the same on all ranks.
struct World {
  World() : shared(mpi_test::test_seed()), own(shared() + static_cast<unsigned>(rank_in(MPI_COMM_WORLD))) {
    MPI_Op_create(compose, 0, &op);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    // The ranks of this one are in the opposite order.
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  }
  ~World() {
    MPI_Op_free(&op);
    for (MPI_Comm* const comm : {&copy, &reversed, &half}) MPI_Comm_free(comm);
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  [[nodiscard]] std::unique_ptr<CollectiveCase> draw(int kind, MPI_Comm comm) {
    // The members of both halves draw alike, whatever the number of members is.
    std::mt19937 random(shared());
    auto made = std::make_unique<CollectiveCase>(kind, comm, op, random);
    made->fill(0);
    return made;
  }
  [[nodiscard]] MPI_Comm any_comm() {
    const MPI_Comm comms[] = {MPI_COMM_WORLD, copy, reversed, half, MPI_COMM_SELF};
    return comms[shared() % 5];
  }

  int rank = rank_in(MPI_COMM_WORLD);
  int size = size_of(MPI_COMM_WORLD);
  std::mt19937 shared;
  std::mt19937 own;
  MPI_Op op = MPI_OP_NULL;
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm reversed = MPI_COMM_NULL;
  MPI_Comm half = MPI_COMM_NULL;
};

/// Completes the requests in an order and by calls of this rank's own.
void complete(World& world, std::vector<MPI_Request>& requests) {
  const int count = static_cast<int>(requests.size());
  std::vector<int> order(requests.size());
  for (int i = 0; i < count; ++i) order[static_cast<std::size_t>(i)] = i;
  std::shuffle(order.begin(), order.end(), world.own);
  const std::size_t alone = world.own() % (requests.size() + 1);
  for (std::size_t i = 0; i < alone; ++i) {
    MPI_Request* const request = &requests[static_cast<std::size_t>(order[i])];
    if (world.own() % 2 == 0) {
      SUCCEEDS(MPI_Wait(request, MPI_STATUS_IGNORE));
      continue;
    }
    for (int done = 0; done == 0;) SUCCEEDS(MPI_Test(request, &done, MPI_STATUS_IGNORE));
  }
  if (world.own() % 2 == 0) {
    SUCCEEDS(MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE));
    return;
  }
  std::vector<int> indices(requests.size());
  for (int found = 0; found != MPI_UNDEFINED;) {
    SUCCEEDS(MPI_Waitsome(count, requests.data(), &found, indices.data(), MPI_STATUSES_IGNORE));
  }
}

/// Many calls on several communicators are open at once, beside messages with all tags.
void many_at_once(World& world, int calls) {
  std::vector<std::unique_ptr<CollectiveCase>> cases;
  std::vector<MPI_Request> requests;
  const int to = (world.rank + 1) % world.size;
  const int from = (world.rank + world.size - 1) % world.size;
  std::vector<long> sent(static_cast<std::size_t>(calls));
  std::vector<long> got(sent.size());
  for (int i = 0; i < calls; ++i) {
    const auto index = static_cast<std::size_t>(i);
    sent[index] = 100 * i + world.rank;
    requests.push_back(MPI_REQUEST_NULL);
    SUCCEEDS(MPI_Irecv(&got[index], 1, MPI_LONG, from, i, world.copy, &requests.back()));
    cases.push_back(world.draw(static_cast<int>(world.shared() % CollectiveCase::kKinds), world.any_comm()));
    requests.push_back(MPI_REQUEST_NULL);
    SUCCEEDS(cases.back()->begin(&requests.back()));
    requests.push_back(MPI_REQUEST_NULL);
    SUCCEEDS(MPI_Isend(&sent[index], 1, MPI_LONG, to, i, world.copy, &requests.back()));
  }
  complete(world, requests);
  for (const auto& one : cases) one->check();
  for (int i = 0; i < calls; ++i) CHECK(got[static_cast<std::size_t>(i)] == 100 * i + from);
}

/// Every rank starts calls on two communicators in one of both orders, and the blocking call on a third one
/// comes between them.
void orders(World& world) {
  for (int kind = 0; kind < CollectiveCase::kKinds; ++kind) {
    const auto one = world.draw(kind, world.copy);
    const auto other = world.draw(kind, world.reversed);
    std::vector<MPI_Request> requests(2, MPI_REQUEST_NULL);
    const bool first = world.rank % 2 == 0;
    SUCCEEDS((first ? *one : *other).begin(&requests[first ? 0 : 1]));
    MPI_Barrier(MPI_COMM_WORLD);
    SUCCEEDS((first ? *other : *one).begin(&requests[first ? 1 : 0]));
    // The other ranks may need this one's part of the call for which it does not wait.
    SUCCEEDS(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    SUCCEEDS(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    one->check();
    other->check();
  }
}

/// Rank 0 starts a call, and only then lets the other ranks start it: a start or a test that waited for the
/// others would wait for ever.
void nothing_waits_inside(World& world) {
  for (int kind = 0; kind < CollectiveCase::kKinds; ++kind) {
    const auto one = world.draw(kind, world.copy);
    MPI_Request request = MPI_REQUEST_NULL;
    int done = 0;
    if (world.rank == 0) {
      SUCCEEDS(one->begin(&request));
      for (int i = 0; i < 3 && done == 0; ++i) SUCCEEDS(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    }
    int token = kind;
    MPI_Bcast(&token, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (world.rank != 0) SUCCEEDS(one->begin(&request));
    SUCCEEDS(MPI_Wait(&request, MPI_STATUS_IGNORE));
    one->check();
  }
}

/// The first wait of each rank is for another call than the neighbour's: each needs the other call's
/// progress.
void waits_drive_all_calls(World& world) {
  for (int kind = 0; kind < CollectiveCase::kKinds; ++kind) {
    std::vector<std::unique_ptr<CollectiveCase>> cases;
    std::vector<MPI_Request> requests(3, MPI_REQUEST_NULL);
    for (auto& request : requests) {
      cases.push_back(world.draw(kind, world.copy));
      SUCCEEDS(cases.back()->begin(&request));
    }
    for (int i = 0; i < 3; ++i) {
      SUCCEEDS(MPI_Wait(&requests[static_cast<std::size_t>((world.rank + i) % 3)], MPI_STATUS_IGNORE));
    }
    for (const auto& one : cases) one->check();
  }
}

/// A rank that is in a blocking receive goes on with its part of a call.
void receives_drive_calls(World& world) {
  if (world.size == 1) return;
  for (int kind = 0; kind < CollectiveCase::kKinds; ++kind) {
    const auto one = world.draw(kind, world.copy);
    MPI_Request request = MPI_REQUEST_NULL;
    SUCCEEDS(one->begin(&request));
    int token = 0;
    if (world.rank == 0) {
      for (int other = 1; other < world.size; ++other) {
        SUCCEEDS(MPI_Recv(&token, 1, MPI_INT, other, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      }
      SUCCEEDS(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else {
      SUCCEEDS(MPI_Wait(&request, MPI_STATUS_IGNORE));
      SUCCEEDS(MPI_Send(&token, 1, MPI_INT, 0, 5, MPI_COMM_WORLD));
    }
    one->check();
  }
}

void persistent(World& world) {
  std::vector<std::unique_ptr<CollectiveCase>> cases;
  std::vector<MPI_Request> requests;
  for (int kind = 0; kind < CollectiveCase::kKinds; ++kind) {
    cases.push_back(world.draw(kind, world.any_comm()));
    requests.push_back(MPI_REQUEST_NULL);
    SUCCEEDS(cases.back()->init(&requests.back()));
    int done = 0;
    SUCCEEDS(MPI_Test(&requests.back(), &done, MPI_STATUS_IGNORE));
    CHECK(done == 1);
  }
  for (int round = 0; round < 4; ++round) {
    // The order in which a rank starts them is its own. A nonblocking call comes between them.
    std::vector<std::size_t> order(cases.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), world.own);
    for (const auto& one : cases) one->fill(round);
    for (const std::size_t i : order) SUCCEEDS(MPI_Start(&requests[i]));
    const auto between = world.draw(static_cast<int>(world.shared() % CollectiveCase::kKinds), world.copy);
    MPI_Request request = MPI_REQUEST_NULL;
    SUCCEEDS(between->begin(&request));
    complete(world, requests);
    SUCCEEDS(MPI_Wait(&request, MPI_STATUS_IGNORE));
    between->check();
    for (const auto& one : cases) one->check();
  }
  for (MPI_Request& request : requests) {
    CHECK(request != MPI_REQUEST_NULL);
    SUCCEEDS(MPI_Request_free(&request));
  }
}

/// The program may free what a call uses while the call is under way.
void lifetimes() {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Op op = MPI_OP_NULL;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Op_create(compose, 0, &op);
  MPI_Type_dup(MPI_INT64_T, &type);
  const int rank = rank_in(comm);
  const int size = size_of(comm);
  std::vector<std::int64_t> mine(3000, std::int64_t{1} << 32 | (rank + 1));
  std::vector<std::int64_t> sum(mine.size());
  MPI_Request request = MPI_REQUEST_NULL;
  SUCCEEDS(MPI_Iallreduce(mine.data(), sum.data(), static_cast<int>(mine.size()), type, op, comm, &request));
  SUCCEEDS(MPI_Type_free(&type));
  SUCCEEDS(MPI_Op_free(&op));
  SUCCEEDS(MPI_Comm_free(&comm));
  SUCCEEDS(MPI_Wait(&request, MPI_STATUS_IGNORE));
  for (const std::int64_t one : sum) CHECK(one == (std::int64_t{1} << 32 | (size * (size + 1) / 2)));
}

/// All ranks get the same bits, and get them again.
void same_bits(World& world) {
  for (const std::size_t count : {std::size_t{1}, std::size_t{33}, std::size_t{10'000}}) {
    std::mt19937 random(static_cast<unsigned>(world.rank) + 5);
    std::vector<double> mine(count);
    for (double& one : mine) one = std::uniform_real_distribution<double>(-1, 1)(random) / 3;
    std::vector<std::vector<double>> sums(2, std::vector<double>(count));
    for (auto& sum : sums) {
      MPI_Request request = MPI_REQUEST_NULL;
      SUCCEEDS(MPI_Iallreduce(mine.data(), sum.data(), static_cast<int>(count), MPI_DOUBLE, MPI_SUM,
                              MPI_COMM_WORLD, &request));
      SUCCEEDS(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    std::vector<double> first = sums[0];
    MPI_Bcast(first.data(), static_cast<int>(count), MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (const auto& sum : sums) CHECK(std::memcmp(first.data(), sum.data(), count * sizeof(double)) == 0);
  }
}

void errors(World& world) {
  MPI_Comm_set_errhandler(world.copy, MPI_ERRORS_RETURN);
  MPI_Request request = MPI_REQUEST_NULL;
  int value = 0;
  const auto class_of = [](int code) {
    int error_class = -1;
    MPI_Error_class(code, &error_class);
    return error_class;
  };
  CHECK(class_of(MPI_Ibarrier(world.copy, nullptr)) == MPI_ERR_ARG);
  CHECK(class_of(MPI_Ibcast(&value, 1, MPI_INT, world.size, world.copy, &request)) == MPI_ERR_ROOT);
  CHECK(class_of(MPI_Ibcast(&value, -1, MPI_INT, 0, world.copy, &request)) == MPI_ERR_COUNT);
  CHECK(class_of(MPI_Ibcast(nullptr, 1, MPI_INT, 0, world.copy, &request)) == MPI_ERR_BUFFER);
  CHECK(class_of(MPI_Iallreduce(&value, &value, 1, MPI_INT, MPI_SUM, world.copy, &request)) ==
        MPI_ERR_BUFFER);
  CHECK(class_of(MPI_Iallreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_OP_NULL, world.copy, &request)) ==
        MPI_ERR_OP);
  CHECK(class_of(MPI_Bcast_init(&value, 1, MPI_DATATYPE_NULL, 0, world.copy, MPI_INFO_NULL, &request)) ==
        MPI_ERR_TYPE);
  CHECK(request == MPI_REQUEST_NULL);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    World world;
    for (int round = 0; round < 6; ++round) many_at_once(world, 20);
    many_at_once(world, 100);
    orders(world);
    nothing_waits_inside(world);
    waits_drive_all_calls(world);
    receives_drive_calls(world);
    for (int round = 0; round < 3; ++round) persistent(world);
    lifetimes();
    same_bits(world);
    errors(world);
  }
  const int code = mpi_test::result();
  MPI_Finalize();
  return code;
}
