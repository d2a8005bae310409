/// @file
/// Grid points of one level with up-to-date ghosts.
#ifndef NAS_MG_FIELD_HPP
#define NAS_MG_FIELD_HPP

#include <array>
#include <cstddef>
#include <optional>

#include "decomposition.hpp"
#include "halo.hpp"
#include "view.hpp"

namespace nas_mg {

/// Returns the number of points, including ghosts, that a field of this rank has on the level.
std::size_t field_points(const Decomposition& decomposition, std::size_t level);

class Field {
 public:
  /// At `offset` in the halo's memory, where it takes field_points().
  Field(const Decomposition& decomposition, Halo& halo, std::size_t level, std::size_t offset);

  [[nodiscard]] const View& view() const { return view_; }
  /// Updates the ghosts, one axis after the other, so that edges and corners are updated too.
  void refresh();

  /// Channels of a halo that fields use: one for each direction.
  static constexpr std::size_t kChannels = 6;

 private:
  Halo& halo_;
  View view_;
  /// None where this rank is its own neighbour.
  std::array<std::optional<Halo::Swap>, 3> swaps_;
};

}  // namespace nas_mg

#endif
