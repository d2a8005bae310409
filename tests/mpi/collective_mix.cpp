// Random sequences of blocking collective calls on communicators that overlap, back to back: MPI_COMM_WORLD,
// a duplicate, the ranks in reverse order, and the halves. Every rank computes the results for itself.

#include <sched.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "check.hpp"

namespace {

/// A function x -> factor * x + summand modulo 2^64. Chaining such functions does not commute.
struct Affine {
  std::uint64_t factor;
  std::uint64_t summand;
};
Affine chain(const Affine& first, const Affine& then) {
  return {first.factor * then.factor, first.summand * then.factor + then.summand};
}
void chain_all(void* in, void* inout, int* count, MPI_Datatype* /*type*/) {
  const auto* const lower = static_cast<const Affine*>(in);
  auto* const higher = static_cast<Affine*>(inout);
  for (int i = 0; i < *count; ++i) higher[i] = chain(lower[i], higher[i]);
}

/// The calls of one communicator. All its members draw the same calls.
class Mix {
 public:
  Mix(MPI_Comm comm, MPI_Op op, MPI_Datatype type, std::mt19937_64& random)
      : comm_(comm), op_(op), type_(type), random_(random) {
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &size_);
  }

  void step(int step) {
    step_ = step;
    constexpr std::array<int, 8> kCounts = {0, 1, 3, 40, 600, 2500, 20000, 70000};
    count_ = kCounts[random_() % kCounts.size()];
    root_ = static_cast<int>(random_() % static_cast<std::uint64_t>(size_));
    in_place_ = random_() % 3 == 0;
    const auto kind = random_() % 11;
    if (kind == 3 || kind >= 7) count_ = std::min(count_, 20000 / size_);  // a block for each rank
    switch (kind) {
      case 0:
        SUCCEEDS(MPI_Barrier(comm_));
        return;
      case 1:
        return bcast();
      case 2:
        return gather();
      case 3:
        return alltoall();
      case 4:
        return reduce();
      case 5:
        return allreduce();
      case 6:
        return scan();
      case 7:
        return allgather();
      case 8:
        return scatter();
      case 9:
        return reduce_scatter();
      default:
        return gatherv();
    }
  }

  /// A call with little data, which most ranks pass without meeting the others.
  void little_step(int step) {
    step_ = step;
    constexpr std::array<int, 4> kCounts = {0, 1, 3, 30};
    count_ = kCounts[random_() % kCounts.size()];
    root_ = static_cast<int>(random_() % static_cast<std::uint64_t>(size_));
    in_place_ = random_() % 3 == 0;
    switch (random_() % 8) {
      case 0:
        return bcast();
      case 1:
        return reduce();
      case 2:
        if (random_() % 16 == 0) SUCCEEDS(MPI_Barrier(comm_));
        return;
      default:
        return scan();
    }
  }

 private:
  using Data = std::vector<Affine>;

  [[nodiscard]] Affine value(int rank, int index) const {
    return {static_cast<std::uint64_t>(2 * (rank + step_ + index) + 1),
            static_cast<std::uint64_t>(rank * 31 + index)};
  }
  [[nodiscard]] Data mine(int blocks) const {
    Data data(static_cast<std::size_t>(count_) * static_cast<std::size_t>(blocks));
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = value(rank_, static_cast<int>(i));
    return data;
  }
  [[nodiscard]] Affine chained(int ranks, int index) const {
    Affine all = value(0, index);
    for (int rank = 1; rank < ranks; ++rank) all = chain(all, value(rank, index));
    return all;
  }
  template <typename Expected>
  void check(const Data& data, std::size_t from, int count, const Expected& expected) const {
    int right = 0;
    while (right < count) {
      const Affine& is = data[from + static_cast<std::size_t>(right)];
      const Affine should = expected(right);
      if (is.factor != should.factor || is.summand != should.summand) break;
      ++right;
    }
    CHECK(right == count);
  }
  [[nodiscard]] bool at_root() const { return rank_ == root_; }
  [[nodiscard]] std::size_t place(int rank) const {
    return static_cast<std::size_t>(rank) * static_cast<std::size_t>(count_);
  }
  /// A buffer of the blocks of all ranks, with this rank's own in place.
  [[nodiscard]] Data all_with_mine() const {
    Data all(place(size_));
    const Data own = mine(1);
    std::copy(own.begin(), own.end(), all.begin() + static_cast<std::ptrdiff_t>(place(rank_)));
    return all;
  }
  void check_blocks(const Data& all) const {
    for (int rank = 0; rank < size_; ++rank) {
      check(all, place(rank), count_, [&](int i) { return value(rank, i); });
    }
  }

  void bcast() {
    Data data = at_root() ? mine(1) : Data(place(1));
    SUCCEEDS(MPI_Bcast(data.data(), count_, type_, root_, comm_));
    check(data, 0, count_, [&](int i) { return value(root_, i); });
  }
  void gather() {
    count_ = std::min(count_, 20000);
    const Data out = mine(1);
    Data all = at_root() ? all_with_mine() : Data();
    const void* const from = at_root() && in_place_ ? MPI_IN_PLACE : out.data();
    SUCCEEDS(MPI_Gather(from, count_, type_, all.data(), count_, type_, root_, comm_));
    if (at_root()) check_blocks(all);
  }
  void gatherv() {
    const auto count_of = [&](int rank) { return rank % 3 == 1 ? 0 : count_ / (1 + rank % 2); };
    std::vector<int> counts;
    std::vector<int> places;
    for (int rank = 0; rank < size_; ++rank) {
      counts.push_back(count_of(rank));
      places.push_back(static_cast<int>(place(rank)));
    }
    const Data out = mine(1);
    Data all(place(size_));
    SUCCEEDS(MPI_Gatherv(out.data(), count_of(rank_), type_, all.data(), counts.data(), places.data(), type_,
                         root_, comm_));
    for (int rank = 0; at_root() && rank < size_; ++rank) {
      check(all, place(rank), count_of(rank), [&](int i) { return value(rank, i); });
    }
  }
  void allgather() {
    const Data out = mine(1);
    Data all = all_with_mine();
    const void* const from = in_place_ ? MPI_IN_PLACE : out.data();
    SUCCEEDS(MPI_Allgather(from, count_, type_, all.data(), count_, type_, comm_));
    check_blocks(all);
  }
  void scatter() {
    Data all = at_root() ? mine(size_) : Data();
    Data in(place(1));
    void* const to = at_root() && in_place_ ? MPI_IN_PLACE : static_cast<void*>(in.data());
    SUCCEEDS(MPI_Scatter(all.data(), count_, type_, to, count_, type_, root_, comm_));
    if (to == MPI_IN_PLACE) return;
    check(in, 0, count_, [&](int i) { return value(root_, static_cast<int>(place(rank_)) + i); });
  }
  void alltoall() {
    const Data out = mine(size_);
    Data in = out;
    const void* const from = in_place_ ? MPI_IN_PLACE : out.data();
    SUCCEEDS(MPI_Alltoall(from, count_, type_, in.data(), count_, type_, comm_));
    for (int rank = 0; rank < size_; ++rank) {
      check(in, place(rank), count_, [&](int i) { return value(rank, static_cast<int>(place(rank_)) + i); });
    }
  }
  void reduce() {
    const Data out = mine(1);
    Data in = out;
    const void* const from = at_root() && in_place_ ? MPI_IN_PLACE : out.data();
    SUCCEEDS(MPI_Reduce(from, in.data(), count_, type_, op_, root_, comm_));
    if (at_root()) check(in, 0, count_, [&](int i) { return chained(size_, i); });
  }
  void allreduce() {
    const Data out = mine(1);
    Data in = out;
    const void* const from = in_place_ ? MPI_IN_PLACE : out.data();
    SUCCEEDS(MPI_Allreduce(from, in.data(), count_, type_, op_, comm_));
    check(in, 0, count_, [&](int i) { return chained(size_, i); });
  }
  void scan() {
    const Data out = mine(1);
    Data in = out;
    const bool exclusive = random_() % 2 == 0;
    const void* const from = in_place_ ? MPI_IN_PLACE : out.data();
    SUCCEEDS(exclusive ? MPI_Exscan(from, in.data(), count_, type_, op_, comm_)
                       : MPI_Scan(from, in.data(), count_, type_, op_, comm_));
    const int ranks = rank_ + (exclusive ? 0 : 1);
    if (ranks > 0) check(in, 0, count_, [&](int i) { return chained(ranks, i); });
  }
  void reduce_scatter() {
    const Data out = mine(size_);
    Data in = out;
    const void* const from = in_place_ ? MPI_IN_PLACE : out.data();
    SUCCEEDS(MPI_Reduce_scatter_block(from, in.data(), count_, type_, op_, comm_));
    check(in, 0, count_, [&](int i) { return chained(size_, static_cast<int>(place(rank_)) + i); });
  }

  MPI_Comm comm_;
  MPI_Op op_;
  MPI_Datatype type_;
  std::mt19937_64& random_;
  int rank_ = 0;
  int size_ = 0;
  int step_ = 0;
  int count_ = 0;
  int root_ = 0;
  bool in_place_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = mpi_test::rank_in(MPI_COMM_WORLD);
  std::mt19937_64 random(mpi_test::test_seed());
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  MPI_Type_contiguous(2, MPI_UINT64_T, &type);
  MPI_Type_commit(&type);
  MPI_Op_create(chain_all, 0, &op);

  for (int round = 0; round < 4; ++round) {
    // The communicators come and go while their members still make calls on others.
    std::array<MPI_Comm, 4> comms = {MPI_COMM_WORLD, MPI_COMM_NULL, MPI_COMM_NULL, MPI_COMM_NULL};
    SUCCEEDS(MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]));
    SUCCEEDS(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[2]));
    SUCCEEDS(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comms[3]));
    for (int step = 0; step < 60; ++step) {
      const MPI_Comm comm = comms[random() % comms.size()];
      // The members of the halves draw the same, though their calls are different ones.
      std::mt19937_64 drawn(random());
      Mix(comm, op, type, drawn).step(step);
    }
    for (std::size_t i = 1; i < comms.size(); ++i) SUCCEEDS(MPI_Comm_free(&comms[i]));
  }
  // Ranks are late at random, each by itself.
  std::mt19937_64 late(random() + static_cast<std::uint64_t>(rank));
  MPI_Comm other = MPI_COMM_NULL;
  SUCCEEDS(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &other));
  for (int step = 0; step < 1000; ++step) {
    for (auto yields = late() % 64 == 0 ? late() % 32 : 0; yields > 0; --yields) sched_yield();
    Mix(step % 5 == 0 ? other : MPI_COMM_WORLD, op, type, random).little_step(step);
  }
  SUCCEEDS(MPI_Comm_free(&other));
  MPI_Op_free(&op);
  MPI_Type_free(&type);
  const int code = mpi_test::result();
  MPI_Finalize();
  return code;
}
