/// @file
/// Gathers a level: every rank gets all points, of which each rank has computed its own.
#ifndef NAS_MG_GATHERING_HPP
#define NAS_MG_GATHERING_HPP

#include <vector>

#include "decomposition.hpp"
#include "halo.hpp"

namespace nas_mg {

/// Works by doubling: in each step a rank exchanges all points that it has with the rank at twice the
/// distance, along x first.
class Gathering {
 public:
  /// Of the gathered level, in a field at `offset` in the halo's memory, with this many channels from
  /// `first_channel` on.
  Gathering(const Decomposition& decomposition, Halo& halo, std::size_t offset, std::size_t first_channel);

  /// Gathers. Collective. No rank returns before every rank has called it.
  void make();

  /// Channels that a gathering uses: one for each step. Two gatherings may share them.
  static std::size_t channels(const Decomposition& decomposition);

 private:
  Halo& halo_;
  std::vector<Halo::Swap> steps_;
};

}  // namespace nas_mg

#endif
