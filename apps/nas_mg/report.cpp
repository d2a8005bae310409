#include "report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace nas_mg {

namespace {

std::string verdict_text(const Run& run) {
  if (!run.right) return "not verified: no norm is known for this number of iterations";
  if (*run.right)
    return fmt::format("VERIFICATION SUCCESSFUL: relative error {:.2g}",
                       relative_error(run.problem, run.norm));
  return fmt::format("VERIFICATION FAILED: the norm should be {:.13e}", run.problem.norm);
}

}  // namespace

double Run::mops() const { return 1e-6 * operations(problem) * iterations / seconds; }

std::string as_text(const Run& run) {
  const auto& [x, y, z] = run.grid;
  return fmt::format(
      "MG class {}: {} x {} x {} points, {} iterations, on {} ranks ({} x {} x {}), {}\n"
      "  {:.2f} Mop/s ({:.4f} s)\n"
      "  {:.4f} s of each rank spent in exchanges\n"
      "  norm of the residual {:.13e}\n"
      "  {}\n",
      run.problem.name, run.problem.side, run.problem.side, run.problem.side, run.iterations, x * y * z, x, y,
      z, run.communication, run.mops(), run.seconds, run.exchange_seconds, run.norm, verdict_text(run));
}

std::string as_json(const Run& run) {
  const auto& [x, y, z] = run.grid;
  nlohmann::json document{{"class", std::string(1, run.problem.name)},
                          {"side", run.problem.side},
                          {"iterations", run.iterations},
                          {"ranks", x * y * z},
                          {"grid", {{"x", x}, {"y", y}, {"z", z}}},
                          {"communication", run.communication},
                          {"seconds", run.seconds},
                          {"exchange_seconds", run.exchange_seconds},
                          {"mops", run.mops()},
                          {"norm", run.norm},
                          {"verified", nullptr}};
  if (run.right) {
    document["verified"] = *run.right;
    document["relative_error"] = relative_error(run.problem, run.norm);
  }
  return document.dump(2) + "\n";
}

}  // namespace nas_mg
