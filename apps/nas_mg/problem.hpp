/// @file
/// The definitions of the benchmark: the classes, their coefficients, and the norms that a
/// correct program computes.
///
/// D. Bailey et al., "The NAS Parallel Benchmarks", RNR-94-007, section 2.4, and the classes of NPB 3.
#ifndef NAS_MG_PROBLEM_HPP
#define NAS_MG_PROBLEM_HPP

#include <array>
#include <cstddef>
#include <span>

namespace nas_mg {

/// The coefficients of a stencil of 27 points that only depend on how far a point is from the center: the
/// center itself, the 6 points that share a face, the 12 that share an edge, the 8 corners.
struct Stencil {
  double center;
  double face;
  double edge;
  double corner;
};

/// The discrete Laplace operator A of A u = v. Its faces are 0, and the kernels leave them out.
constexpr Stencil kLaplace{-8.0 / 3.0, 0.0, 1.0 / 6.0, 1.0 / 12.0};

struct Problem {
  char name;         ///< the class
  std::size_t side;  ///< points in each direction, a power of two
  int iterations;
  Stencil smoother;  ///< its corners are 0, and the kernels leave them out
  double norm;       ///< of the residual after the iterations
};

std::span<const Problem> problems();
/// The class of this name, which there is.
const Problem& problem(char name);

/// Whether `norm` is the class's, within the benchmark's relative error of 1e-8.
bool is_right(const Problem& problem, double norm);
double relative_error(const Problem& problem, double norm);

/// Points of the whole grid.
double points(const Problem& problem);
/// Floating-point operations of one iteration, as the benchmark counts them.
double operations(const Problem& problem);

}  // namespace nas_mg

#endif
