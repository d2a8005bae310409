/**
 * @file report.hpp
 * The results of one run: rows with median and spread, as a table to read and as JSON for compare_table.py.
 */
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/stats.hpp"

namespace rma::bench {

/** The name of a row. It is the same in every program, because rows are joined by it. */
struct RowName {
  std::string suite;
  std::string row;
  std::string form;       ///< the form of the operation, if the library has several; else empty
  std::size_t bytes = 0;  ///< bytes that one operation moves, for the bandwidth; 0: none
};

struct Row {
  RowName name;
  std::string unit;
  Spread spread;
  double crossing = 0;  ///< placement.h: while the row was measured; 0 if it is not known
};

/** One program's results. */
struct Report {
  std::string backend;
  int ranks = 0;
  std::vector<Row> rows;

  /** Prints a table to standard output. */
  void print() const;
  /** Writes {"backend", "ranks", "rows": [{"suite", "row", "form", "unit", "bytes", "median", "min", "q1",
   * "q3", "samples", "crossing"}]} to `file`, or to standard output for "-". Returns false if it cannot be
   * written. */
  [[nodiscard]] bool write_json(const std::string& file) const;
};

}  // namespace rma::bench
