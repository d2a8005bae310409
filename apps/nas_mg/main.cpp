// nas_mg: the NAS benchmark MG. See README.md and --help.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "decomposition.hpp"
#include "halo.hpp"
#include "job.hpp"
#include "multigrid.hpp"
#include "options.hpp"
#include "problem.hpp"
#include "report.hpp"

namespace {

using namespace nas_mg;

// The seconds that the iterations took, from the common start until every rank was done. As the benchmark has
// it, with the residual and the norm of the start.
double iterate(Job& job, Multigrid& multigrid, int iterations, double& norm) {
  job.barrier();
  const auto start = std::chrono::steady_clock::now();
  multigrid.compute_residual();
  norm = multigrid.norm();
  for (int i = 0; i < iterations; ++i) {
    multigrid.improve();
    multigrid.compute_residual();
  }
  norm = multigrid.norm();
  return job.max(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

int run(int argc, char** argv) {
  Job job(argc, argv);
  const auto [options, exit_code] = parse_options(argc, argv, job.rank() == 0);
  if (exit_code) return *exit_code;
  const Problem& chosen = problem(options.problem);
  if (const std::string reason = why_not(job.size(), options.grid, chosen.side); !reason.empty()) {
    if (job.rank() == 0) std::fprintf(stderr, "nas_mg: %s\n", reason.c_str());
    job.barrier();  // the first rank that exits with a failure ends the job
    return EXIT_FAILURE;
  }
  const Decomposition decomposition(options.grid.value_or(default_grid(job.size())), job.rank(), chosen.side);
  Multigrid multigrid(job, decomposition, chosen);
  if (options.inject_error) multigrid.charges().line(1, 1)[1] += 1e-3;

  // The first iteration touches memory for the first time and meets the other ranks: not what is to be
  // measured.
  double norm = 0;
  iterate(job, multigrid, 1, norm);
  multigrid.reset();

  const int iterations = options.iterations.value_or(chosen.iterations);
  Run result{.problem = chosen,
             .grid = decomposition.grid(),
             .communication = Halo::communication(),
             .iterations = iterations,
             .seconds = 0,
             .exchange_seconds = 0,
             .norm = 0,
             .right = std::nullopt};
  const double before = multigrid.exchange_seconds();
  result.seconds = iterate(job, multigrid, iterations, result.norm);
  result.exchange_seconds = job.sum(multigrid.exchange_seconds() - before) / job.size();
  if (iterations == chosen.iterations) result.right = is_right(chosen, result.norm);
  if (job.rank() == 0) {
    std::fputs((options.json ? as_json(result) : as_text(result)).c_str(), stdout);
    std::fflush(stdout);
  }
  // Not before all of the report is out.
  job.barrier();
  return result.right.value_or(true) ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "nas_mg: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
