/// @file
/// The V-cycle over all ranks.
#ifndef NAS_MG_MULTIGRID_HPP
#define NAS_MG_MULTIGRID_HPP

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "decomposition.hpp"
#include "field.hpp"
#include "gathering.hpp"
#include "halo.hpp"
#include "job.hpp"
#include "problem.hpp"

namespace nas_mg {

/// Solves A u = v for the problem's charges v. Its functions are collective.
class Multigrid {
 public:
  /// u is 0.
  Multigrid(Job& job, const Decomposition& decomposition, const Problem& problem);

  /// r = v - A u.
  void compute_residual();
  /// u = u + M r, by one V-cycle. r is no residual any more.
  void improve();
  /// The L2 norm of r over the points of the whole grid.
  double norm();
  /// u = 0 again.
  void reset();

  /// The seconds that this rank has spent in exchanges of points so far.
  [[nodiscard]] double exchange_seconds() const { return halo_.time().count(); }

  /// The right side, to change it.
  [[nodiscard]] const View& charges() const { return v_; }

 private:
  [[nodiscard]] std::size_t memory_points() const;
  Field& r(std::size_t level);
  Field& u(std::size_t level) { return u_[level - Decomposition::kCoarsest]; }
  // This rank's part of a field of the gathered level.
  [[nodiscard]] View own_part(const View& view) const;
  void go_down();
  void go_up();

  Job& job_;
  Decomposition decomposition_;
  Problem problem_;
  Halo halo_;
  View v_{};
  std::vector<Field> u_;  // from the coarsest on
  std::vector<Field> r_;
  // A rank that is ahead may already gather for its next cycle while another is still at work on this one,
  // but not for the one after the next: each cycle has one gathering, which nobody leaves before everyone has
  // come. So there are two fields that take turns, r_'s and this one.
  std::optional<Field> other_gathered_;
  std::vector<Gathering> gatherings_;  // into r_'s, into the other; none where nothing is distributed
  bool other_turn_ = false;
};

}  // namespace nas_mg

#endif
