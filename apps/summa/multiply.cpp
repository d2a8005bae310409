#include "multiply.hpp"

#include <cblas.h>

#include <algorithm>
#include <array>
#include <chrono>

namespace summa {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

Product::Buffers::Buffers(std::size_t a_elements, std::size_t b_elements) : a(a_elements), b(b_elements) {
  // Touch the buffers here, so that the product finds all pages.
  std::ranges::fill(a, 0.0);
  std::ranges::fill(b, 0.0);
}

Product::Product(const Grid& grid, const Matrix& a, const Matrix& b, const Matrix& c, std::size_t block,
                 Mode mode)
    : grid_(grid),
      a_(a),
      b_(b),
      c_(c),
      mode_(mode),
      rows_(c.row_band().count),
      columns_(c.column_band().count) {
  // If this rank has no part of C, there is nothing to do.
  if (rows_ == 0 || columns_ == 0) return;
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

void Product::start_gets(const Step& step, Buffers& buffers) {
  const Clock::time_point start = Clock::now();
  // Of A some columns of a block: strided, unless the block is taken whole.
  const Band a_columns = a_.column_band(step.a_column);
  const auto a_offset = static_cast<std::ptrdiff_t>(step.inner.first - a_columns.first);
  const rma::GlobalPtr<double> a_from = a_.block(grid_.row, step.a_column) + a_offset;
  if (step.inner.count == a_columns.count) {
    buffers.a_request = rma::get_nb({buffers.a.data(), rows_ * step.inner.count}, a_from);
  } else {
    const std::array<std::size_t, 2> counts{step.inner.count, rows_};
    const std::array<std::ptrdiff_t, 1> dst_stride{static_cast<std::ptrdiff_t>(step.inner.count)};
    const std::array<std::ptrdiff_t, 1> src_stride{static_cast<std::ptrdiff_t>(a_columns.count)};
    buffers.a_request = rma::get_strided_nb(buffers.a.data(), dst_stride, a_from, src_stride, counts);
  }
  // Of B some rows of a block: contiguous.
  const Band b_rows = b_.row_band(step.b_row);
  const auto b_offset = static_cast<std::ptrdiff_t>((step.inner.first - b_rows.first) * columns_);
  const rma::GlobalPtr<double> b_from = b_.block(step.b_row, grid_.column) + b_offset;
  buffers.b_request = rma::get_nb({buffers.b.data(), step.inner.count * columns_}, b_from);
  cost_.gets += 2;
  cost_.bytes += (rows_ + columns_) * step.inner.count * sizeof(double);
  cost_.communication_seconds += seconds_since(start);
}

void Product::finish_gets(Buffers& buffers) {
  const Clock::time_point start = Clock::now();
  buffers.a_request.wait();
  buffers.b_request.wait();
  cost_.communication_seconds += seconds_since(start);
}

void Product::add(const Step& step, const Buffers& buffers) const {
  const auto rows = static_cast<blasint>(rows_);
  const auto columns = static_cast<blasint>(columns_);
  const auto inner = static_cast<blasint>(step.inner.count);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, columns, inner, 1.0, buffers.a.data(), inner,
              buffers.b.data(), columns, 1.0, c_.local().data(), columns);
}

Cost Product::run() {
  cost_ = {};
  const Clock::time_point start = Clock::now();
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    Buffers& now = buffers_[i % buffers_.size()];
    if (mode_ == Mode::kBlocking || i == 0) start_gets(steps_[i], now);
    finish_gets(now);
    // The other buffers were last read by the dgemm of the step before, which has returned.
    if (mode_ == Mode::kOverlap && i + 1 < steps_.size()) {
      start_gets(steps_[i + 1], buffers_[(i + 1) % buffers_.size()]);
    }
    add(steps_[i], now);
  }
  cost_.seconds = seconds_since(start);
  return cost_;
}

}  // namespace summa
