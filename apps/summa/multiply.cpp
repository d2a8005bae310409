#include "multiply.hpp"

#include <cblas.h>

#include <algorithm>
#include <chrono>

namespace summa {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

Product::Buffers::Buffers(std::size_t a_elements, std::size_t b_elements)
    : a(make_buffer(a_elements)), b(make_buffer(b_elements)) {}

Product::Product(const Grid& grid, const Matrix& a, const Matrix& b, const Matrix& c, std::size_t block,
                 Mode mode)
    : grid_(grid),
      a_(a),
      b_(b),
      c_(c),
      mode_(mode),
      rows_(c.row_band().count),
      columns_(c.column_band().count) {
  for (int column = 0; column < grid.columns && rows_ > 0; ++column) {
    if (c.column_band(column).count > 0) row_users_.push_back(grid.rank_at(grid.row, column));
  }
  for (int row = 0; row < grid.rows && columns_ > 0; ++row) {
    if (c.row_band(row).count > 0) column_users_.push_back(grid.rank_at(row, grid.column));
  }
  // A rank without a part of C takes part too, because two-sided it may have to send.
  std::size_t widest = 0;
  for (std::size_t at = 0; at < a.columns();) {
    const int a_column = a.owner_of_column(at);
    const int b_row = b.owner_of_row(at);
    const std::size_t end = std::min(a.column_band(a_column).end(), b.row_band(b_row).end());
    const std::size_t count = std::min(block, end - at);
    steps_.push_back({{at, count}, a_column, b_row});
    widest = std::max(widest, count);
    at += count;
  }
  const std::size_t copies = mode == Mode::kOverlap ? 2 : 1;
  for (std::size_t i = 0; i < copies; ++i) buffers_.emplace_back(rows_ * widest, widest * columns_);
}

void Product::start_transfers(const Step& step, Buffers& buffers) {
  const Clock::time_point start = Clock::now();
  // Of A some columns of a block: strided, unless the block is taken whole.
  const Band a_columns = a_.column_band(step.a_column);
  const Panel a_panel{.block = &a_.block(),
                      .owner = grid_.rank_at(grid_.row, step.a_column),
                      .first = step.inner.first - a_columns.first,
                      .width = step.inner.count,
                      .rows = rows_,
                      .stride = a_columns.count,
                      .users = row_users_};
  buffers.transfer.start(a_panel, buffers.a.get());
  // Of B some rows of a block: contiguous.
  const Band b_rows = b_.row_band(step.b_row);
  const Panel b_panel{.block = &b_.block(),
                      .owner = grid_.rank_at(step.b_row, grid_.column),
                      .first = (step.inner.first - b_rows.first) * columns_,
                      .width = columns_,
                      .rows = step.inner.count,
                      .stride = columns_,
                      .users = column_users_};
  buffers.transfer.start(b_panel, buffers.b.get());
  if (rows_ > 0 && columns_ > 0) {
    cost_.panels += 2;
    cost_.bytes += (a_panel.elements() + b_panel.elements()) * sizeof(double);
  }
  cost_.communication_seconds += seconds_since(start);
}

void Product::finish_transfers(Buffers& buffers) {
  const Clock::time_point start = Clock::now();
  buffers.transfer.finish();
  cost_.communication_seconds += seconds_since(start);
}

void Product::add(const Step& step, const Buffers& buffers) const {
  if (rows_ == 0 || columns_ == 0) return;
  const auto rows = static_cast<blasint>(rows_);
  const auto columns = static_cast<blasint>(columns_);
  const auto inner = static_cast<blasint>(step.inner.count);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, columns, inner, 1.0, buffers.a.get(), inner,
              buffers.b.get(), columns, 1.0, c_.local().data(), columns);
}

Cost Product::run() {
  cost_ = {};
  const Clock::time_point start = Clock::now();
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    Buffers& now = buffers_[i % buffers_.size()];
    if (mode_ == Mode::kBlocking || i == 0) start_transfers(steps_[i], now);
    finish_transfers(now);
    // The other buffers were last read by the dgemm of the step before, which has returned.
    if (mode_ == Mode::kOverlap && i + 1 < steps_.size()) {
      start_transfers(steps_[i + 1], buffers_[(i + 1) % buffers_.size()]);
    }
    add(steps_[i], now);
  }
  cost_.seconds = seconds_since(start);
  return cost_;
}

}  // namespace summa
