/// @file
/// The distribution of the matrices over the ranks.
///
/// The ranks form a grid. Each matrix is cut into as many bands of rows as the grid has rows, and as many
/// bands of columns as it has columns; the bands differ by at most one, and are empty where the matrix is
/// smaller than the grid. The block where two bands meet is stored by row, without gaps, with the rank at
/// that place of the grid.
#ifndef SUMMA_GRID_HPP
#define SUMMA_GRID_HPP

#include <cstddef>
#include <cstdint>
#include <span>

#include "memory.hpp"

namespace summa {

/// A range of rows or columns: [first, first + count).
struct Band {
  std::size_t first;
  std::size_t count;
  [[nodiscard]] std::size_t end() const { return first + count; }
};

/// Band `index` of `total` cut into `parts`.
Band band(std::size_t total, int parts, int index);
/// The index of the band that holds `position`, which is below `total`.
int band_of(std::size_t total, int parts, std::size_t position);

/// The process grid: as near to square as the number of ranks allows, the longer side along the longer side
/// of C.
struct Grid {
  int rows;
  int columns;
  int row;  ///< this rank's place
  int column;

  Grid(int ranks, int rank, bool tall);
  [[nodiscard]] int rank_at(int grid_row, int grid_column) const { return grid_row * columns + grid_column; }
};

/// The contents of a matrix: each element is a function of the seed, the matrix and the place, so that any
/// rank can compute any element. With `integers` the elements are integers from -8 to 8, whose products and
/// sums are exact; else they are reals in [-1, 1).
struct Content {
  std::uint64_t seed;
  bool integers;
  [[nodiscard]] double at(std::size_t row, std::size_t column) const;
};

/// A matrix, spread over the grid. Made collectively.
class Matrix {
 public:
  /// Makes a matrix of zeros.
  Matrix(apps::Job& job, const Grid& grid, std::size_t rows, std::size_t columns);

  void fill(const Content& content);
  void clear();

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t columns() const { return columns_; }
  /// This rank's bands and block.
  [[nodiscard]] Band row_band() const { return row_band_; }
  [[nodiscard]] Band column_band() const { return column_band_; }
  [[nodiscard]] std::span<double> local() const { return block_.local(); }
  [[nodiscard]] const Block& block() const { return block_; }
  /// The bands of any place of the grid.
  [[nodiscard]] Band row_band(int grid_row) const { return band(rows_, grid_.rows, grid_row); }
  [[nodiscard]] Band column_band(int grid_column) const { return band(columns_, grid_.columns, grid_column); }
  /// Return the grid row that holds a row, and the grid column that holds a column.
  [[nodiscard]] int owner_of_row(std::size_t row) const { return band_of(rows_, grid_.rows, row); }
  [[nodiscard]] int owner_of_column(std::size_t column) const {
    return band_of(columns_, grid_.columns, column);
  }

 private:
  Grid grid_;
  std::size_t rows_;
  std::size_t columns_;
  Band row_band_;
  Band column_band_;
  Block block_;
};

}  // namespace summa

#endif
