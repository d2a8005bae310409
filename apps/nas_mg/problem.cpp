#include "problem.hpp"

#include <algorithm>
#include <cmath>

namespace nas_mg {

namespace {

constexpr Stencil kSmallSmoother{-3.0 / 8.0, 1.0 / 32.0, -1.0 / 64.0, 0.0};
constexpr Stencil kLargeSmoother{-3.0 / 17.0, 1.0 / 33.0, -1.0 / 61.0, 0.0};

constexpr std::array kProblems{
    Problem{'S', 32, 4, kSmallSmoother, 0.5307707005734e-04},
    Problem{'W', 128, 4, kSmallSmoother, 0.6467329375339e-05},
    Problem{'A', 256, 4, kSmallSmoother, 0.2433365309069e-05},
    Problem{'B', 256, 20, kLargeSmoother, 0.1800564401355e-05},
    Problem{'C', 512, 20, kLargeSmoother, 0.5706732285740e-06},
};

constexpr double kTolerance = 1e-8;

}  // namespace

std::span<const Problem> problems() { return kProblems; }

const Problem& problem(char name) {
  return *std::find_if(kProblems.begin(), kProblems.end(), [&](const Problem& p) { return p.name == name; });
}

double relative_error(const Problem& problem, double norm) {
  return std::abs(norm - problem.norm) / problem.norm;
}

// The comparison is false if the norm is a NaN.
bool is_right(const Problem& problem, double norm) { return relative_error(problem, norm) <= kTolerance; }

double points(const Problem& problem) {
  const auto side = static_cast<double>(problem.side);
  return side * side * side;
}

double operations(const Problem& problem) { return 58.0 * points(problem); }

}  // namespace nas_mg
