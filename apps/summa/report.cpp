#include "report.hpp"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "transfer.hpp"

namespace summa {

namespace {

const char* name(Mode mode) { return mode == Mode::kOverlap ? "overlap" : "blocking"; }

// How much less time the first run (overlap) took than the second (blocking), as a fraction of the second's.
double gain(const std::vector<Run>& runs) { return 1.0 - runs[0].seconds / runs[1].seconds; }

std::string verdict_text(const Verdict& verdict) {
  if (verdict.right) {
    return fmt::format("verified: {} rounds of Freivalds' check, worst error {:.2g} of its bound{}",
                       verdict.rounds, verdict.worst,
                       verdict.exact ? "; equal to the serial product in every element" : "");
  }
  std::string text = fmt::format("WRONG: {} rows beyond the bound in {} rounds of Freivalds' check",
                                 verdict.wrong_rows, verdict.rounds);
  if (verdict.exact)
    text += fmt::format("; {} elements differ from the serial product", verdict.wrong_elements);
  return text;
}

}  // namespace

double Run::gflops(const Options& options) const {
  return 2e-9 * static_cast<double>(options.m) * static_cast<double>(options.n) *
         static_cast<double>(options.k) / seconds;
}

Run summarise(apps::Job& job, Mode mode, double seconds, const Cost& mine) {
  const double all_seconds = job.sum(mine.seconds);
  const double communication = job.sum(mine.communication_seconds);
  // Counts are exact as doubles.
  const double panels = job.sum(static_cast<double>(mine.panels));
  const double bytes = job.sum(static_cast<double>(mine.bytes));
  return {.mode = mode,
          .seconds = job.max(seconds),
          .communication_seconds = communication / job.size(),
          .communication_share = communication / all_seconds,
          .panels = static_cast<std::size_t>(panels),
          .bytes = static_cast<std::size_t>(bytes),
          .verdict = std::nullopt};
}

std::string as_text(const Options& options, const Grid& grid, const std::vector<Run>& runs) {
  std::string text =
      fmt::format("C ({} x {}) = A ({} x {}) x B ({} x {}) on a grid of {} x {} ranks, steps of {}, {}\n",
                  options.m, options.n, options.m, options.k, options.k, options.n, grid.rows, grid.columns,
                  options.block, communication());
  auto out = std::back_inserter(text);
  for (const Run& run : runs) {
    fmt::format_to(out, "{}:\n  {:.2f} GFLOP/s ({:.4f} s)\n", name(run.mode), run.gflops(options),
                   run.seconds);
    fmt::format_to(out, "  {:.1f} MB moved in {} panels\n", static_cast<double>(run.bytes) * 1e-6,
                   run.panels);
    fmt::format_to(out, "  {:.4f} s of each rank spent in communication, {:.1f} % of its time\n",
                   run.communication_seconds, 100 * run.communication_share);
    fmt::format_to(out, "  {}\n", run.verdict ? verdict_text(*run.verdict) : "not verified (--verify)");
  }
  if (runs.size() == 2)
    fmt::format_to(out, "gain from overlap: {:.1f} % of blocking's time\n", 100 * gain(runs));
  return text;
}

std::string as_json(const Options& options, const Grid& grid, const std::vector<Run>& runs) {
  nlohmann::json list = nlohmann::json::array();
  for (const Run& run : runs) {
    nlohmann::json entry{{"mode", name(run.mode)},
                         {"seconds", run.seconds},
                         {"gflops", run.gflops(options)},
                         {"bytes", run.bytes},
                         {"panels", run.panels},
                         {"communication_seconds", run.communication_seconds},
                         {"communication_share", run.communication_share},
                         {"verified", nullptr}};
    if (run.verdict) {
      entry["verified"] = run.verdict->right;
      entry["freivalds"] = {{"rounds", run.verdict->rounds},
                            {"wrong_rows", run.verdict->wrong_rows},
                            {"worst_error_of_bound", run.verdict->worst}};
      if (run.verdict->exact) entry["exact"] = {{"wrong_elements", run.verdict->wrong_elements}};
    }
    list.push_back(std::move(entry));
  }
  nlohmann::json document{{"m", options.m},
                          {"n", options.n},
                          {"k", options.k},
                          {"block", options.block},
                          {"seed", options.seed},
                          {"communication", communication()},
                          {"ranks", grid.rows * grid.columns},
                          {"grid", {{"rows", grid.rows}, {"columns", grid.columns}}},
                          {"runs", std::move(list)}};
  if (runs.size() == 2) document["gain"] = gain(runs);
  return document.dump(2) + "\n";
}

}  // namespace summa
