// dgemm-control: the same product as summa's by one dgemm call of several threads, and how fast that is.

#include <cblas.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>
#include <vector>

namespace {

std::vector<double> random_matrix(std::size_t elements, std::uint32_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  std::vector<double> matrix(elements);
  for (double& element : matrix) element = uniform(random);
  return matrix;
}

double seconds_of_dgemm(blasint m, blasint n, blasint k) {
  const auto elements = [](blasint rows, blasint columns) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  };
  const std::vector<double> a = random_matrix(elements(m, k), 1);
  const std::vector<double> b = random_matrix(elements(k, n), 2);
  std::vector<double> c(elements(m, n), 0.0);
  // As summa does: a small product first, so that the library's own buffers and threads are there.
  const blasint small = std::min({m, n, k, blasint{256}});
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, small, small, small, 1.0, a.data(), k, b.data(), n,
              1.0, c.data(), n);
  const auto start = std::chrono::steady_clock::now();
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.0, a.data(), k, b.data(), n, 1.0,
              c.data(), n);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

int run(int argc, char** argv) {
  blasint m = 1024;
  blasint n = 1024;
  blasint k = 1024;
  int threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  bool json = false;
  CLI::App app("C = A x B by one dgemm call.");
  app.add_option("--m", m, "rows of A and C")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--n", n, "columns of B and C")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--k", k, "columns of A, rows of B")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--threads", threads, "threads of the call")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_flag("--json", json, "print JSON instead of text");
  CLI11_PARSE(app, argc, argv);

  openblas_set_num_threads(threads);
  const double seconds = seconds_of_dgemm(m, n, k);
  const double gflops =
      2e-9 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) / seconds;
  const std::string text =
      json ? nlohmann::json{{"m", m},          {"n", n}, {"k", k}, {"threads", threads}, {"seconds", seconds},
                            {"gflops", gflops}}
                     .dump(2) +
                 "\n"
           : fmt::format("dgemm of {} x {} x {} on {} threads: {:.2f} GFLOP/s ({:.4f} s)\n", m, n, k, threads,
                         gflops, seconds);
  std::fputs(text.c_str(), stdout);
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "dgemm-control: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
