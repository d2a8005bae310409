#include "harness/report.hpp"

#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

namespace rma::bench {

void Report::print() const {
  std::printf("%s, %d ranks\n", backend.c_str(), ranks);
  std::printf("%-44s %12s %12s %12s %12s  %-6s %9s\n", "row", "median", "min", "quartile 1", "quartile 3",
              "unit", "GB/s");
  for (const Row& row : rows) {
    const std::string label =
        row.name.form.empty() ? row.name.row : row.name.row + " (" + row.name.form + ")";
    const Spread& spread = row.spread;
    std::printf("%-44s %12.2f %12.2f %12.2f %12.2f  %-6s", label.c_str(), spread.median, spread.min,
                spread.lower_quartile, spread.upper_quartile, row.unit.c_str());
    // Bytes per nanosecond are GB/s.
    if (row.name.bytes > 0 && row.unit == "ns")
      std::printf(" %9.2f", static_cast<double>(row.name.bytes) / spread.median);
    std::printf("\n");
  }
}

bool Report::write_json(const std::string& file) const {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Row& row : rows) {
    list.push_back({{"suite", row.name.suite},
                    {"row", row.name.row},
                    {"form", row.name.form},
                    {"unit", row.unit},
                    {"bytes", row.name.bytes},
                    {"median", row.spread.median},
                    {"min", row.spread.min},
                    {"q1", row.spread.lower_quartile},
                    {"q3", row.spread.upper_quartile},
                    {"samples", row.spread.samples},
                    {"crossing", row.crossing}});
  }
  const nlohmann::ordered_json all = {{"backend", backend}, {"ranks", ranks}, {"rows", list}};
  if (file == "-") {
    std::cout << all.dump(2) << std::endl;
    return true;
  }
  std::ofstream out(file);
  out << all.dump(2) << '\n';
  out.flush();
  return out.good();
}

}  // namespace rma::bench
