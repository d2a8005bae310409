#include "figures/measured.hpp"

#include "suites/buffers.hpp"

namespace rma::bench {

std::string row_name(const Case& each, const std::string& quantity) {
  return std::string(each.put ? "put " : "get ") + each.layout + " " + size_text(each.named) + ": " +
         quantity;
}

void Samples::add(const std::string& row, const std::string& unit, std::size_t bytes, double value) {
  for (Row& each : rows_) {
    if (each.name != row) continue;
    each.values.push_back(value);
    return;
  }
  rows_.push_back({.name = row, .unit = unit, .bytes = bytes, .values = {value}});
}

void Samples::give(Report& report, const std::string& form) {
  for (Row& each : rows_) {
    report.rows.push_back({.name = {.suite = suite_, .row = each.name, .form = form, .bytes = each.bytes},
                           .unit = each.unit,
                           .spread = summarize(std::move(each.values))});
  }
  rows_.clear();
}

}  // namespace rma::bench
