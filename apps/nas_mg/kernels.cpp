#include "kernels.hpp"

#include <algorithm>
#include <array>

namespace nas_mg {

namespace {

// One value for each point along x, ghosts included.
using Line = std::array<double, kLongestSide + 2>;

// Computes the surroundings of the line (y, z) for the points 0 to `last`: the sums of the four lines that
// share a face with it, and of the four lines that share an edge.
struct Around {
  Line faces;
  Line edges;

  void add(const View& view, std::size_t y, std::size_t z, std::size_t last) {
    const double* const here = view.line(y, z);
    const double* const low = here - view.plane;
    const double* const high = here + view.plane;
    const auto row = static_cast<std::ptrdiff_t>(view.row);
    for (std::size_t x = 0; x <= last; ++x) {
      const auto i = static_cast<std::ptrdiff_t>(x);
      faces[x] = here[i - row] + here[i + row] + low[i] + high[i];
      edges[x] = low[i - row] + low[i + row] + high[i - row] + high[i + row];
    }
  }
};

// `right` is v's, or the same pointer as r's: a parameter of its own would keep the loop from being
// vectorised.
template <bool kInPlace>
void subtract(const View& u, const View& v, const View& r, const Stencil& a) {
  const auto [nx, ny, nz] = u.sides;
  Around around;
  for (std::size_t z = 1; z <= nz; ++z) {
    for (std::size_t y = 1; y <= ny; ++y) {
      around.add(u, y, z, nx + 1);
      const Line& faces = around.faces;
      const Line& edges = around.edges;
      const double* __restrict const here = u.line(y, z);
      double* __restrict const result = r.line(y, z);
      const double* const right = kInPlace ? result : v.line(y, z);
      for (std::size_t x = 1; x <= nx; ++x) {
        result[x] = right[x] - a.center * here[x] - a.edge * (edges[x] + faces[x - 1] + faces[x + 1]) -
                    a.corner * (edges[x - 1] + edges[x + 1]);
      }
    }
  }
}

template <bool kAdd>
void interpolate(const View& fine, const View& coarse) {
  const auto [nx, ny, nz] = coarse.sides;
  // Sums with the next line along y, along z, and of all four.
  Line next_y;
  Line next_z;
  Line four;
  const auto write = [nx = nx](double* __restrict to, const double* __restrict sums, double weight) {
    for (std::size_t x = 0; x <= nx; ++x) {
      const double even = weight * sums[x];
      const double odd = 0.5 * weight * (sums[x] + sums[x + 1]);
      to[2 * x] = kAdd ? to[2 * x] + even : even;
      to[2 * x + 1] = kAdd ? to[2 * x + 1] + odd : odd;
    }
  };
  for (std::size_t z = 0; z <= nz; ++z) {
    for (std::size_t y = 0; y <= ny; ++y) {
      const double* const here = coarse.line(y, z);
      const double* const along_y = here + coarse.row;
      const double* const along_z = here + coarse.plane;
      const double* const along_both = along_z + coarse.row;
      for (std::size_t x = 0; x <= nx + 1; ++x) {
        next_y[x] = along_y[x] + here[x];
        next_z[x] = along_z[x] + here[x];
        four[x] = along_both[x] + along_z[x] + next_y[x];
      }
      write(fine.line(2 * y, 2 * z), here, 1.0);
      write(fine.line(2 * y + 1, 2 * z), next_y.data(), 0.5);
      write(fine.line(2 * y, 2 * z + 1), next_z.data(), 0.5);
      write(fine.line(2 * y + 1, 2 * z + 1), four.data(), 0.25);
    }
  }
}

}  // namespace

void residual(const View& u, const View& v, const View& r, const Stencil& a) { subtract<false>(u, v, r, a); }

void subtract_product(const View& u, const View& r, const Stencil& a) { subtract<true>(u, r, r, a); }

void smooth(const View& r, const View& u, const Stencil& s) {
  const auto [nx, ny, nz] = u.sides;
  Around around;
  for (std::size_t z = 1; z <= nz; ++z) {
    for (std::size_t y = 1; y <= ny; ++y) {
      around.add(r, y, z, nx + 1);
      const Line& faces = around.faces;
      const Line& edges = around.edges;
      const double* __restrict const here = r.line(y, z);
      double* __restrict const result = u.line(y, z);
      for (std::size_t x = 1; x <= nx; ++x) {
        result[x] = result[x] + s.center * here[x] + s.face * (here[x - 1] + here[x + 1] + faces[x]) +
                    s.edge * (edges[x] + faces[x - 1] + faces[x + 1]);
      }
    }
  }
}

void restrict_to(const View& coarse, const View& fine) {
  const auto [nx, ny, nz] = coarse.sides;
  Around around;
  for (std::size_t z = 1; z <= nz; ++z) {
    for (std::size_t y = 1; y <= ny; ++y) {
      around.add(fine, 2 * y, 2 * z, 2 * nx + 1);
      const Line& faces = around.faces;
      const Line& edges = around.edges;
      const double* __restrict const here = fine.line(2 * y, 2 * z);
      double* __restrict const result = coarse.line(y, z);
      for (std::size_t x = 1; x <= nx; ++x) {
        const std::size_t i = 2 * x;
        result[x] = 0.5 * here[i] + 0.25 * (here[i - 1] + here[i + 1] + faces[i]) +
                    0.125 * (faces[i - 1] + faces[i + 1] + edges[i]) + 0.0625 * (edges[i - 1] + edges[i + 1]);
      }
    }
  }
}

void interpolate_into(const View& fine, const View& coarse) { interpolate<false>(fine, coarse); }

void interpolate_onto(const View& fine, const View& coarse) { interpolate<true>(fine, coarse); }

double sum_of_squares(const View& r) {
  const auto [nx, ny, nz] = r.sides;
  double sum = 0;
  for (std::size_t z = 1; z <= nz; ++z) {
    for (std::size_t y = 1; y <= ny; ++y) {
      const double* const here = r.line(y, z);
      for (std::size_t x = 1; x <= nx; ++x) sum += here[x] * here[x];
    }
  }
  return sum;
}

void wrap_around(const View& view, std::size_t axis) {
  const auto [nx, ny, nz] = view.sides;
  if (axis == 0) {
    for (std::size_t z = 1; z <= nz; ++z) {
      for (std::size_t y = 1; y <= ny; ++y) {
        double* const line = view.line(y, z);
        line[0] = line[nx];
        line[nx + 1] = line[1];
      }
    }
  } else if (axis == 1) {
    for (std::size_t z = 1; z <= nz; ++z) {
      std::copy_n(view.line(ny, z), nx + 2, view.line(0, z));
      std::copy_n(view.line(1, z), nx + 2, view.line(ny + 1, z));
    }
  } else {
    for (std::size_t y = 0; y <= ny + 1; ++y) {
      std::copy_n(view.line(y, nz), nx + 2, view.line(y, 0));
      std::copy_n(view.line(y, 1), nx + 2, view.line(y, nz + 1));
    }
  }
}

}  // namespace nas_mg
