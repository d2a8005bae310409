// Teams. The ranks form a grid. Splitting the world makes a team of each row and of each column. A sum along
// the rows, and then along the columns, gives every rank the sum over all ranks. The first step gives it the
// sum over its own row.
//
//   rmarun -n 4 example-team_reduce

#include <array>
#include <cstdio>
#include <cstdlib>
#include <rma/rma.hpp>
#include <vector>

namespace {

// Returns the largest number of columns, up to three, that divides the number of ranks.
int grid_columns(int ranks) {
  for (int columns = 3; columns > 1; --columns) {
    if (ranks % columns == 0) return columns;
  }
  return 1;
}

int run() {
  const rma::Environment environment;
  const rma::Team world = rma::Team::world();
  const int columns = grid_columns(world.size());
  const int my_row = world.rank() / columns;
  const int my_column = world.rank() % columns;

  // Members of one color form a team; the key orders them.
  const rma::Team row = world.split(my_row, my_column);
  const rma::Team column = world.split(my_column, my_row);
  bool good = row.size() == columns && row.rank() == my_column;
  good = good && column.size() == world.size() / columns && column.rank() == my_row;

  // Along the row: every member gets the sum of the members' ranks and of their squares.
  const long me = world.rank();
  std::array<long, 2> sums{me, me * me};
  row.allreduce(sums, rma::Reduction::kSum);
  long expected = 0;
  for (int c = 0; c < columns; ++c) expected += my_row * columns + c;
  good = good && sums[0] == expected;

  // Along the column: the sums of the row sums are the sums over all ranks.
  column.allreduce(sums, rma::Reduction::kSum);
  const long n = world.size();
  good = good && sums[0] == n * (n - 1) / 2 && sums[1] == n * (n - 1) * (2 * n - 1) / 6;

  // Two ways to learn the world ranks of a team's members.
  const std::vector<int> members = row.allgather(world.rank());
  for (int c = 0; c < row.size(); ++c)
    good = good && members[static_cast<std::size_t>(c)] == row.world_rank(c);

  const int all_good = world.allreduce(static_cast<int>(good), rma::Reduction::kMin);
  if (world.rank() == 0) {
    std::printf("%d x %d ranks: sum %ld, sum of squares %ld, %s\n", world.size() / columns, columns, sums[0],
                sums[1], all_good != 0 ? "right on every rank" : "WRONG somewhere");
  }
  return all_good != 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const rma::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return EXIT_FAILURE;
  }
}
