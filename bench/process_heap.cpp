/**
 * @file process_heap.cpp
 * heap-bench: what a program's memory costs. One process; bench/process_heap.sh runs it with and without the
 * process heap.
 */
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "harness/clock.hpp"
#include "rma/rma.h"

namespace {

using rma::bench::now_ns;

constexpr std::size_t kMebi = std::size_t{1} << 20U;
constexpr std::size_t kPage = 4096;

/** As the program sees it: the compiler must not know what it returns. */
void* (*volatile const allocate)(std::size_t) = std::malloc;

void touch(void* block, std::size_t bytes) {
  auto* const pages = static_cast<volatile unsigned char*>(block);
  for (std::size_t at = 0; at < bytes; at += kPage) pages[at] = 1;
}

/** Returns the nanoseconds for a first store to each page of 512 MiB, in blocks of `bytes`. */
double first_touch(std::size_t bytes) {
  const double begin = now_ns();
  for (std::size_t done = 0; done < 512 * kMebi; done += bytes) touch(allocate(bytes), bytes);
  return now_ns() - begin;
}

/** Returns the nanoseconds of a[i] = b[i] + s * c[i] over 768 MiB in blocks of `bytes`: the best of 5. */
double triad(std::size_t bytes) {
  struct Blocks {
    double* a;
    double* b;
    double* c;
  };
  const std::size_t length = bytes / sizeof(double);
  std::vector<Blocks> all(256 * kMebi / bytes);
  for (Blocks& blocks : all) {
    for (double** const block : {&blocks.a, &blocks.b, &blocks.c}) {
      *block = static_cast<double*>(allocate(bytes));
      std::fill_n(*block, length, 1.0);
    }
  }
  double best = 1e18;
  for (int round = 0; round < 5; ++round) {
    const double begin = now_ns();
    for (const Blocks& blocks : all) {
      for (std::size_t i = 0; i < length; ++i) blocks.a[i] = blocks.b[i] + 3 * blocks.c[i];
    }
    best = std::min(best, now_ns() - begin);
  }
  return best;
}

/** Returns the nanoseconds of 3 million steps of a random cycle over the cache lines of 512 MiB. */
double random_walk(std::size_t bytes) {
  constexpr std::size_t kLine = 64;
  constexpr int kSteps = 3'000'000;
  const std::size_t per_block = bytes / kLine;
  std::vector<std::uint32_t> order(512 * kMebi / bytes * per_block);
  std::iota(order.begin(), order.end(), 0U);
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  std::vector<unsigned char*> blocks(512 * kMebi / bytes);
  for (unsigned char*& block : blocks) block = static_cast<unsigned char*>(allocate(bytes));
  const auto line = [&](std::uint32_t index) {
    return reinterpret_cast<void**>(blocks[index / per_block] + index % per_block * kLine);
  };
  for (std::size_t i = 0; i < order.size(); ++i) *line(order[i]) = line(order[(i + 1) % order.size()]);
  void** at = line(0);
  const double begin = now_ns();
  for (int step = 0; step < kSteps; ++step) at = static_cast<void**>(*at);
  const double taken = now_ns() - begin;
  return at != nullptr ? taken : 0;
}

/** Returns the nanoseconds of 10 million pairs of free and malloc, of 16 to `bytes` bytes and of 64 live
 * blocks. */
double pairs(std::size_t bytes) {
  std::array<void*, 64> live = {};
  std::minstd_rand random(1);
  const double begin = now_ns();
  for (int i = 0; i < 10'000'000; ++i) {
    void*& block = live[random() % live.size()];
    std::free(block);
    block = allocate(16 + random() % bytes);
  }
  return now_ns() - begin;
}

/** Returns the nanoseconds of a fork of a program that has 2 GiB in blocks of `bytes`, until the child has
 * ended. */
double fork_2_gib(std::size_t bytes) {
  for (std::size_t done = 0; done < 2048 * kMebi; done += bytes) touch(allocate(bytes), bytes);
  const double begin = now_ns();
  const pid_t child = fork();
  if (child == 0) _exit(0);
  int status = 0;
  waitpid(child, &status, 0);
  return now_ns() - begin;
}

/** Returns the nanoseconds of a whole job. */
double job(std::size_t /*bytes*/) {
  const double begin = now_ns();
  if (rma_init() != RMA_SUCCESS || rma_finalize() != RMA_SUCCESS) std::abort();
  return now_ns() - begin;
}

}  // namespace

int main(int argc, char** argv) {
  static const std::map<std::string, double (*)(std::size_t)> kMeasurements = {
      {"touch", first_touch}, {"triad", triad},     {"walk", random_walk},
      {"pairs", pairs},       {"fork", fork_2_gib}, {"job", job}};
  CLI::App app("Measures what a program's memory costs, in milliseconds.");
  std::string what;
  std::size_t bytes = kMebi;
  std::vector<std::string> names;
  names.reserve(kMeasurements.size());
  for (const auto& [name, measure] : kMeasurements) names.push_back(name);
  app.add_option("MEASUREMENT", what, "What to measure")->required()->check(CLI::IsMember(names));
  app.add_option("BYTES", bytes, "The size of a block")->transform(CLI::AsSizeValue(false));
  CLI11_PARSE(app, argc, argv);
  std::printf("%.3f\n", kMeasurements.at(what)(bytes) / 1e6);
}
