// The collective calls of MPI against results that every rank can compute for itself.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <numeric>
#include <vector>

#include "check.hpp"
#include "window_case.hpp"

namespace {

/// The memory that this thread has allocated, by the library as well. In bytes.
constinit thread_local std::size_t allocated = 0;

}  // namespace

void* operator new(std::size_t bytes) {
  allocated += bytes;
  void* const memory = std::malloc(bytes != 0 ? bytes : 1);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*bytes*/) noexcept { std::free(memory); }

namespace {

using mpi_test::rank_in;
using mpi_test::size_of;

struct World {
  explicit World(MPI_Comm world_comm)
      : comm(world_comm), rank(rank_in(world_comm)), size(size_of(world_comm)) {}
  MPI_Comm comm;
  int rank;
  int size;
};

/// The value at `index` of what `rank` contributes.
long value(int rank, int index) { return 1000L * rank + index; }

std::vector<long> contribution(int rank, int count) {
  std::vector<long> values(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = value(rank, i);
  return values;
}

/// The number of elements of a member in the calls whose members have different numbers: 0 for some.
int count_of(int member, int count) { return (member % 3) * count; }

struct Layout {
  Layout(int size, int count) {
    int at = 0;
    for (int member = 0; member < size; ++member) {
      counts.push_back(count_of(member, count));
      displacements.push_back(at);
      at += counts.back() + 1;  // with gaps
    }
    total = at;
  }
  std::vector<int> counts;
  std::vector<int> displacements;
  int total = 0;
};

void data(const World& world, int count) {
  for (int root = 0; root < world.size; ++root) {
    std::vector<long> buffer = contribution(root, count);
    if (world.rank != root) std::fill(buffer.begin(), buffer.end(), -1);
    SUCCEEDS(MPI_Bcast(buffer.data(), count, MPI_LONG, root, world.comm));
    CHECK(buffer == contribution(root, count));

    const std::vector<long> mine = contribution(world.rank, count);
    std::vector<long> all(static_cast<std::size_t>(world.size * count), -1);
    SUCCEEDS(MPI_Gather(mine.data(), count, MPI_LONG, all.data(), count, MPI_LONG, root, world.comm));
    if (world.rank == root) {
      for (int i = 0; i < world.size * count; ++i) {
        CHECK(all[static_cast<std::size_t>(i)] == value(i / count, i % count));
      }
    }
    std::vector<long> part(static_cast<std::size_t>(count), -1);
    SUCCEEDS(MPI_Scatter(all.data(), count, MPI_LONG, part.data(), count, MPI_LONG, root, world.comm));
    CHECK(part == mine);

    const Layout layout(world.size, count);
    const int own = count_of(world.rank, count);
    std::vector<long> spread(static_cast<std::size_t>(layout.total), -5);
    const std::vector<long> uneven = contribution(world.rank, own);
    SUCCEEDS(MPI_Gatherv(uneven.data(), own, MPI_LONG, spread.data(), layout.counts.data(),
                         layout.displacements.data(), MPI_LONG, root, world.comm));
    std::vector<long> back(uneven.size(), -1);
    SUCCEEDS(MPI_Scatterv(spread.data(), layout.counts.data(), layout.displacements.data(), MPI_LONG,
                          back.data(), own, MPI_LONG, root, world.comm));
    CHECK(back == uneven);
  }
}

void all_to_all(const World& world, int count) {
  const auto n = static_cast<std::size_t>(world.size);
  const auto elements = n * static_cast<std::size_t>(count);
  const std::vector<long> mine = contribution(world.rank, count);
  std::vector<long> all(elements, -1);
  SUCCEEDS(MPI_Allgather(mine.data(), count, MPI_LONG, all.data(), count, MPI_LONG, world.comm));
  for (std::size_t i = 0; i < elements; ++i) {
    CHECK(all[i] == value(static_cast<int>(i) / count, static_cast<int>(i) % count));
  }
  std::vector<long> in_place(elements, -1);
  std::copy(mine.begin(), mine.end(), in_place.begin() + world.rank * count);
  SUCCEEDS(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in_place.data(), count, MPI_LONG, world.comm));
  CHECK(in_place == all);

  const Layout layout(world.size, count);
  const int own = count_of(world.rank, count);
  std::vector<long> spread(static_cast<std::size_t>(layout.total), -5);
  const std::vector<long> uneven = contribution(world.rank, own);
  SUCCEEDS(MPI_Allgatherv(uneven.data(), own, MPI_LONG, spread.data(), layout.counts.data(),
                          layout.displacements.data(), MPI_LONG, world.comm));
  for (int member = 0; member < world.size; ++member) {
    const auto at = static_cast<std::size_t>(layout.displacements[static_cast<std::size_t>(member)]);
    for (int i = 0; i < count_of(member, count); ++i) {
      CHECK(spread[at + static_cast<std::size_t>(i)] == value(member, i));
    }
    CHECK(spread[at + static_cast<std::size_t>(count_of(member, count))] == -5);
  }

  // Element i of the block from a to b is value(a, b * count + i).
  const std::vector<long> out = contribution(world.rank, static_cast<int>(elements));
  std::vector<long> in(elements, -1);
  SUCCEEDS(MPI_Alltoall(out.data(), count, MPI_LONG, in.data(), count, MPI_LONG, world.comm));
  for (std::size_t i = 0; i < elements; ++i) {
    const int from = static_cast<int>(i) / count;
    CHECK(in[i] == value(from, world.rank * count + static_cast<int>(i) % count));
  }
  std::vector<long> replaced = out;
  SUCCEEDS(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, replaced.data(), count, MPI_LONG, world.comm));
  CHECK(replaced == in);

  // Rank a sends b's elements to b if both have any: the counts differ by receiver, displacements by member.
  std::vector<int> receive_counts(n, own);
  std::vector<int> receive_displacements(n);
  for (std::size_t i = 0; i < n; ++i) receive_displacements[i] = static_cast<int>(i) * (own + 1);
  std::vector<long> spread_in(n * static_cast<std::size_t>(own + 1), -5);
  std::vector<long> spread_out(static_cast<std::size_t>(layout.total));
  for (std::size_t i = 0; i < spread_out.size(); ++i) spread_out[i] = value(world.rank, static_cast<int>(i));
  SUCCEEDS(MPI_Alltoallv(spread_out.data(), layout.counts.data(), layout.displacements.data(), MPI_LONG,
                         spread_in.data(), receive_counts.data(), receive_displacements.data(), MPI_LONG,
                         world.comm));
  const int place = layout.displacements[static_cast<std::size_t>(world.rank)];
  for (int from = 0; from < world.size; ++from) {
    for (int i = 0; i < own; ++i) {
      CHECK(spread_in[static_cast<std::size_t>(from * (own + 1) + i)] == value(from, place + i));
    }
  }
}

/// Composition of the functions x -> a x + b, which does not commute. `in` is applied before `inout`.
void compose(void* in, void* inout, int* length, MPI_Datatype* /*type*/) {
  auto* const left = static_cast<long*>(in);
  auto* const right = static_cast<long*>(inout);
  for (int i = 0; i + 1 < *length; i += 2) {
    right[i + 1] = right[i] * left[i + 1] + right[i + 1];
    right[i] = right[i] * left[i];
  }
}

void reductions(const World& world, int count) {
  const std::vector<long> mine = contribution(world.rank, count);
  const auto expected = [&](int members, int index) {
    long sum = 0;
    for (int member = 0; member < members; ++member) sum += value(member, index);
    return sum;
  };
  std::vector<long> sum(mine.size(), -1);
  SUCCEEDS(MPI_Allreduce(mine.data(), sum.data(), count, MPI_LONG, MPI_SUM, world.comm));
  for (int i = 0; i < count; ++i) CHECK(sum[static_cast<std::size_t>(i)] == expected(world.size, i));
  std::vector<long> in_place = mine;
  SUCCEEDS(MPI_Allreduce(MPI_IN_PLACE, in_place.data(), count, MPI_LONG, MPI_SUM, world.comm));
  CHECK(in_place == sum);
  for (int root = 0; root < world.size; ++root) {
    std::vector<long> most(mine.size(), -1);
    SUCCEEDS(MPI_Reduce(mine.data(), most.data(), count, MPI_LONG, MPI_MAX, root, world.comm));
    if (world.rank == root) CHECK(most == contribution(world.size - 1, count));
  }
  std::vector<long> prefix(mine.size(), -1);
  SUCCEEDS(MPI_Scan(mine.data(), prefix.data(), count, MPI_LONG, MPI_SUM, world.comm));
  for (int i = 0; i < count; ++i) CHECK(prefix[static_cast<std::size_t>(i)] == expected(world.rank + 1, i));
  SUCCEEDS(MPI_Exscan(mine.data(), prefix.data(), count, MPI_LONG, MPI_SUM, world.comm));
  for (int i = 0; i < count && world.rank > 0; ++i) {
    CHECK(prefix[static_cast<std::size_t>(i)] == expected(world.rank, i));
  }

  const std::vector<long> whole = contribution(world.rank, count * world.size);
  std::vector<long> block(mine.size(), -1);
  SUCCEEDS(MPI_Reduce_scatter_block(whole.data(), block.data(), count, MPI_LONG, MPI_SUM, world.comm));
  for (int i = 0; i < count; ++i) {
    CHECK(block[static_cast<std::size_t>(i)] == expected(world.size, world.rank * count + i));
  }

  struct Pair {
    double number;
    int rank;
  };
  const Pair own = {.number = static_cast<double>((world.rank + 1) % world.size), .rank = world.rank};
  Pair least = {.number = -1, .rank = -1};
  SUCCEEDS(MPI_Allreduce(&own, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, world.comm));
  CHECK(least.number == 0 && least.rank == world.size - 1);
}

void operators(const World& world) {
  MPI_Op op = MPI_OP_NULL;
  SUCCEEDS(MPI_Op_create(compose, 0, &op));
  const long one[2] = {world.rank % 3 + 1, world.rank};  // NOLINT: MPI takes arrays
  long expected[2] = {1, 0};                             // NOLINT
  for (int rank = 0; rank < world.size; ++rank) {
    expected[1] = (rank % 3 + 1) * expected[1] + rank;
    expected[0] = (rank % 3 + 1) * expected[0];
  }
  long all[2] = {};  // NOLINT
  SUCCEEDS(MPI_Allreduce(one, all, 2, MPI_LONG, op, world.comm));
  CHECK(all[0] == expected[0] && all[1] == expected[1]);
  SUCCEEDS(MPI_Op_free(&op));
  CHECK(op == MPI_OP_NULL);
}

/// Calls with blocks of 8 bytes for each rank need no memory for each of them.
void small_calls_take_no_memory(const World& world) {
  if (!mpi_test::on_one_host()) return;
  const std::vector<long> out(static_cast<std::size_t>(world.size), world.rank);
  std::vector<long> in(static_cast<std::size_t>(world.size));
  const auto call_all = [&] {
    SUCCEEDS(MPI_Allgather(out.data(), 1, MPI_LONG, in.data(), 1, MPI_LONG, world.comm));
    SUCCEEDS(MPI_Allgather(MPI_IN_PLACE, 1, MPI_LONG, in.data(), 1, MPI_LONG, world.comm));
    SUCCEEDS(MPI_Alltoall(out.data(), 1, MPI_LONG, in.data(), 1, MPI_LONG, world.comm));
    SUCCEEDS(MPI_Alltoall(MPI_IN_PLACE, 1, MPI_LONG, in.data(), 1, MPI_LONG, world.comm));
    SUCCEEDS(MPI_Gather(out.data(), 1, MPI_LONG, in.data(), 1, MPI_LONG, 0, world.comm));
    SUCCEEDS(MPI_Scatter(out.data(), 1, MPI_LONG, in.data(), 1, MPI_LONG, 0, world.comm));
    SUCCEEDS(MPI_Allreduce(out.data(), in.data(), 1, MPI_LONG, MPI_SUM, world.comm));
    SUCCEEDS(MPI_Reduce_scatter_block(out.data(), in.data(), 1, MPI_LONG, MPI_SUM, world.comm));
    SUCCEEDS(MPI_Scan(out.data(), in.data(), 1, MPI_LONG, MPI_SUM, world.comm));
    SUCCEEDS(MPI_Bcast(in.data(), 1, MPI_LONG, 0, world.comm));
    SUCCEEDS(MPI_Barrier(world.comm));
  };
  for (int i = 0; i < 10; ++i) call_all();  // the first ones make what all others use
  const std::size_t before = allocated;
  for (int i = 0; i < 20; ++i) call_all();
  CHECK(allocated == before);
}

}  // namespace

int main(int argc, char** argv) {
  // A long wait takes memory to describe itself to rmarun, which small_calls_take_no_memory() would count.
  unsetenv("RMARUN_WAITS");
  MPI_Init(&argc, &argv);
  const World world(MPI_COMM_WORLD);
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, world.rank % 2, world.rank, &half);
  for (const World& each : {world, World(half), World(MPI_COMM_SELF)}) {
    for (const int count : {1, 7, 3000}) {
      data(each, count);
      all_to_all(each, count);
      reductions(each, count);
    }
    operators(each);
    small_calls_take_no_memory(each);
    SUCCEEDS(MPI_Barrier(each.comm));
  }
  MPI_Comm_free(&half);
  const int code = mpi_test::result();
  MPI_Finalize();
  return code;
}
