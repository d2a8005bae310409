#include "grid.hpp"

#include <algorithm>

namespace summa {

namespace {

// The first total % parts bands have one more than the others.
std::size_t band_first(std::size_t total, std::size_t parts, std::size_t index) {
  return index * (total / parts) + std::min(index, total % parts);
}

// The finaliser of splitmix64: every bit of the result depends on every bit of `x`.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

}  // namespace

Band band(std::size_t total, int parts, int index) {
  const auto count = static_cast<std::size_t>(parts);
  const auto i = static_cast<std::size_t>(index);
  const std::size_t first = band_first(total, count, i);
  return {first, band_first(total, count, i + 1) - first};
}

int band_of(std::size_t total, int parts, std::size_t position) {
  const auto count = static_cast<std::size_t>(parts);
  const std::size_t small = total / count;
  const std::size_t longer = total % count;
  const std::size_t in_longer = longer * (small + 1);
  if (position < in_longer) return static_cast<int>(position / (small + 1));
  return static_cast<int>(longer + (position - in_longer) / small);
}

Grid::Grid(int ranks, int rank, bool tall) {
  int shorter = 1;
  for (int side = 2; side * side <= ranks; ++side) {
    if (ranks % side == 0) shorter = side;
  }
  rows = tall ? ranks / shorter : shorter;
  columns = ranks / rows;
  row = rank / columns;
  column = rank % columns;
}

double Content::at(std::size_t row, std::size_t column) const {
  const std::uint64_t bits = mix(mix(mix(seed) ^ row) ^ column);
  if (integers) return static_cast<double>(static_cast<int>(bits % 17) - 8);
  // 53 bits, a whole mantissa.
  return static_cast<double>(bits >> 11) * 0x1p-52 - 1.0;
}

Matrix::Matrix(apps::Job& job, const Grid& grid, std::size_t rows, std::size_t columns)
    : grid_(grid),
      rows_(rows),
      columns_(columns),
      row_band_(row_band(grid.row)),
      column_band_(column_band(grid.column)),
      block_(job, row_band_.count * column_band_.count) {}

void Matrix::fill(const Content& content) {
  double* element = local().data();
  for (std::size_t r = row_band_.first; r < row_band_.end(); ++r) {
    for (std::size_t c = column_band_.first; c < column_band_.end(); ++c) *element++ = content.at(r, c);
  }
}

void Matrix::clear() { std::ranges::fill(local(), 0.0); }

}  // namespace summa
