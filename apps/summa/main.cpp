// summa: C = A x B on a grid of ranks. See README.md and --help.

#include <cblas.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

#include "grid.hpp"
#include "job.hpp"
#include "multiply.hpp"
#include "options.hpp"
#include "report.hpp"
#include "verify.hpp"

namespace {

using namespace summa;

// The first dgemm of a process sets up the buffers of its library, which must not be measured.
void warm_up_dgemm() {
  constexpr blasint kSide = 256;
  const std::vector<double> a(static_cast<std::size_t>(kSide) * kSide, 1.0);
  std::vector<double> c(a.size(), 0.0);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, kSide, kSide, kSide, 1.0, a.data(), kSide, a.data(),
              kSide, 0.0, c.data(), kSide);
}

// Adds a thousandth to one element, on the rank that holds it.
void spoil(const Matrix& c, const Element& element) {
  const Band rows = c.row_band();
  const Band columns = c.column_band();
  if (element.row < rows.first || element.row >= rows.end() || element.column < columns.first ||
      element.column >= columns.end()) {
    return;
  }
  c.local()[(element.row - rows.first) * columns.count + (element.column - columns.first)] += 1e-3;
}

int run(int argc, char** argv) {
  apps::Job job(argc, argv);
  const auto [options, exit_code] = parse_options(argc, argv, job.rank() == 0);
  if (exit_code) return *exit_code;
  // The ranks are the parallelism.
  openblas_set_num_threads(1);
  warm_up_dgemm();

  const Grid grid(job.size(), job.rank(), options.m > options.n);
  const Content a_content{options.seed + 2, compared_exactly(options)};
  const Content b_content{options.seed + 3, compared_exactly(options)};
  Matrix a(job, grid, options.m, options.k);
  Matrix b(job, grid, options.k, options.n);
  Matrix c(job, grid, options.m, options.n);
  a.fill(a_content);
  b.fill(b_content);

  std::vector<Mode> modes;
  if (options.overlap) modes.push_back(Mode::kOverlap);
  if (options.blocking) modes.push_back(Mode::kBlocking);
  std::vector<Run> runs;
  bool right = true;
  for (const Mode mode : modes) {
    c.clear();
    Product product(grid, a, b, c, options.block, mode);
    // Between two barriers: with more ranks than cores a rank's own time says little about all of them.
    job.barrier();
    const auto start = std::chrono::steady_clock::now();
    const Cost cost = product.run();
    job.barrier();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (options.inject_error) spoil(c, *options.inject_error);
    runs.push_back(summarise(job, mode, seconds, cost));
    if (options.verify) {
      runs.back().verdict = verify(job, options, a_content, b_content, grid, a, b, c);
      right = right && runs.back().verdict->right;
    }
  }
  if (job.rank() == 0) {
    std::fputs((options.json ? as_json(options, grid, runs) : as_text(options, grid, runs)).c_str(), stdout);
    std::fflush(stdout);
  }
  // The first rank that exits with a failure ends the job; not before all of the report is out.
  job.barrier();
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "summa: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
