// Put with notification. The program solves a heat equation on a square grid, which is divided into vertical
// strips, one for each rank. After each step a rank writes its outer columns (strided: one element per row)
// into its neighbours' halos and notifies them by the same call. The loop has no barrier: a rank waits for
// its two neighbours only.
//
//   rmarun -n 4 example-halo_exchange

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <rma/rma.hpp>
#include <utility>
#include <vector>

namespace {

constexpr std::size_t kRows = 48;
constexpr std::size_t kColumns = 64;  // of the whole grid
constexpr std::uint64_t kSteps = 40;

// The initial temperature. The hot part is asymmetric, so that exchanged sides would give a wrong result.
double initial(std::size_t row, std::size_t column) {
  return row > 5 && row < 20 && column > 10 && column < 40 ? 100.0 + static_cast<double>(column) : 0.0;
}

// One step of one cell. Both computations use this function, so that their results agree to the last bit.
double step(double here, double up, double down, double left, double right) {
  return here + 0.2 * (((up + down) + (left + right)) - 4.0 * here);
}

// Computes the whole grid serially, with a border of zeros. The strips have to agree with the result.
std::vector<double> serial_result() {
  constexpr std::size_t kWidth = kColumns + 2;
  std::vector<double> now((kRows + 2) * kWidth, 0.0);
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t c = 0; c < kColumns; ++c) now[(r + 1) * kWidth + c + 1] = initial(r, c);
  }
  std::vector<double> next = now;
  for (std::uint64_t s = 0; s < kSteps; ++s) {
    for (std::size_t r = 1; r <= kRows; ++r) {
      for (std::size_t c = 1; c <= kColumns; ++c) {
        const std::size_t i = r * kWidth + c;
        next[i] = step(now[i], now[i - kWidth], now[i + kWidth], now[i - 1], now[i + 1]);
      }
    }
    std::swap(now, next);
  }
  return now;
}

// One rank's strip, with one halo column on either side and a row of zeros above and below. There are two
// copies: a step reads one copy and writes the other. A neighbour that is one step ahead writes into the halo
// of the copy that this step does not read.
struct Strip {
  std::size_t first;  // its first column in the whole grid
  std::size_t columns;

  explicit Strip(int rank)
      : first(kColumns * static_cast<std::size_t>(rank) / static_cast<std::size_t>(rma::size())),
        columns(kColumns * (static_cast<std::size_t>(rank) + 1) / static_cast<std::size_t>(rma::size()) -
                first) {}
  [[nodiscard]] std::size_t width() const { return columns + 2; }
  [[nodiscard]] std::size_t cells() const { return (kRows + 2) * width(); }
  // Place of a cell in copy `copy`; column 0 and columns + 1 are the halos.
  [[nodiscard]] std::size_t at(std::uint64_t copy, std::size_t row, std::size_t column) const {
    return (copy % 2) * cells() + row * width() + column;
  }
};

// Writes column `mine` of this strip into column `theirs` of `neighbour`'s, in the copy that step `step`
// reads.
void send_column(const rma::SharedArray<double>& grid, const rma::SharedArray<std::uint64_t>& flags,
                 int neighbour, std::size_t mine, std::size_t theirs, std::ptrdiff_t flag,
                 std::uint64_t step_number) {
  const Strip here(rma::rank());
  const Strip there(neighbour);
  const std::array<std::size_t, 2> counts{1, kRows};  // one element, once for each row
  const std::array<std::ptrdiff_t, 1> dst_stride{static_cast<std::ptrdiff_t>(there.width())};
  const std::array<std::ptrdiff_t, 1> src_stride{static_cast<std::ptrdiff_t>(here.width())};
  rma::put_strided_notify(grid[neighbour] + static_cast<std::ptrdiff_t>(there.at(step_number, 1, theirs)),
                          dst_stride, &grid.local()[here.at(step_number, 1, mine)], src_stride, counts,
                          flags[neighbour] + flag, step_number);
}

int run() {
  const rma::Environment environment;
  const rma::Team world = rma::Team::world();
  const Strip strip(rma::rank());
  if (static_cast<std::size_t>(rma::size()) > kColumns) rma::abort(EXIT_FAILURE, "more ranks than columns");

  const rma::SharedArray<double> grid(world, 2 * strip.cells());
  const rma::SharedArray<std::uint64_t> flags(world,
                                              2);  // the step that arrived from the left, from the right
  constexpr std::ptrdiff_t kFromLeft = 0;
  constexpr std::ptrdiff_t kFromRight = 1;
  for (double& cell : grid.local()) cell = 0.0;
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t c = 0; c < strip.columns; ++c)
      grid.local()[strip.at(1, r + 1, c + 1)] = initial(r, strip.first + c);
  }
  for (std::uint64_t& flag : flags.local()) flag = 0;
  world.barrier();  // no rank sends before every flag is set

  const int left = rma::rank() - 1;
  const int right = rma::rank() + 1 < rma::size() ? rma::rank() + 1 : -1;
  for (std::uint64_t s = 1; s <= kSteps; ++s) {
    if (left >= 0) send_column(grid, flags, left, 1, Strip(left).columns + 1, kFromRight, s);
    if (right >= 0) send_column(grid, flags, right, strip.columns, 0, kFromLeft, s);
    // A neighbour may be one step ahead, never two: its step s + 1 needs the data that this rank sends in
    // step s + 1.
    if (left >= 0) rma::wait_until(flags.local()[kFromLeft], rma::Compare::kGreaterEqual, s);
    if (right >= 0) rma::wait_until(flags.local()[kFromRight], rma::Compare::kGreaterEqual, s);
    const auto cell = [&](std::size_t row, std::size_t column) {
      return grid.local()[strip.at(s, row, column)];
    };
    for (std::size_t r = 1; r <= kRows; ++r) {
      for (std::size_t c = 1; c <= strip.columns; ++c) {
        grid.local()[strip.at(s + 1, r, c)] =
            step(cell(r, c), cell(r - 1, c), cell(r + 1, c), cell(r, c - 1), cell(r, c + 1));
      }
    }
  }

  const std::vector<double> expected = serial_result();
  long wrong = 0;
  for (std::size_t r = 1; r <= kRows; ++r) {
    for (std::size_t c = 1; c <= strip.columns; ++c) {
      if (grid.local()[strip.at(kSteps + 1, r, c)] != expected[r * (kColumns + 2) + strip.first + c]) ++wrong;
    }
  }
  wrong = world.allreduce(wrong, rma::Reduction::kSum);
  if (rma::rank() == 0) {
    std::printf("%d strips, %d steps: %ld cells differ from the serial result\n", rma::size(),
                static_cast<int>(kSteps), wrong);
  }
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
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
