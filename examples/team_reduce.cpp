// Teams: the ranks form a grid; each row and each column of it becomes a team, made by splitting the world. A
// sum along the rows, then along the columns, gives everyone the sum of all, and the sums of its own row on
// the way.
//
//   rmarun -n 4 example-team_reduce

#include <array>
#include <cstdio>
#include <cstdlib>
#include <rma/rma.hpp>
#include <vector>

namespace {

// The most columns, up to three, that divide the ranks evenly.
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

  // Along the row: everyone in it gets the sum of its members' ranks and of their squares.
  const long me = world.rank();
  std::array<long, 2> sums{me, me * me};
  row.allreduce(sums, rma::Reduction::kSum);
  long expected = 0;
  for (int c = 0; c < columns; ++c) expected += my_row * columns + c;
  good = good && sums[0] == expected;

  // Along the column: sums of sums, that is, of all.
  column.allreduce(sums, rma::Reduction::kSum);
  const long n = world.size();
  good = good && sums[0] == n * (n - 1) / 2 && sums[1] == n * (n - 1) * (2 * n - 1) / 6;

  // The members of a team, by their world ranks, the two ways of learning them.
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
