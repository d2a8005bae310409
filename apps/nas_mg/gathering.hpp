/// @file
/// How every rank gets all points of a level of which each has computed its own.
#ifndef NAS_MG_GATHERING_HPP
#define NAS_MG_GATHERING_HPP

#include <vector>

#include "decomposition.hpp"
#include "halo.hpp"

namespace nas_mg {

/// By doubling: in each step a rank swaps all that it has with the one at twice the distance, along x first.
class Gathering {
 public:
  /// Of the gathered level, in a field at `offset` in the halo's memory, with this many channels from
  /// `first_channel` on.
  Gathering(const Decomposition& decomposition, Halo& halo, std::size_t offset, std::size_t first_channel);

  /// Collective. No rank leaves before every rank has come.
  void make();

  /// Channels that a gathering uses: one for each step. Two gatherings may share them.
  static std::size_t channels(const Decomposition& decomposition);

 private:
  Halo& halo_;
  std::vector<Halo::Swap> steps_;
};

}  // namespace nas_mg

#endif
