/// @file
/// How grid points get to other ranks. One interface; halo_rma.cpp writes them to where they belong,
/// one-sided, halo_mpi.cpp sends and receives them.
///
/// Every rank has equally much memory, laid out alike, and describes the same swaps in the same order. A swap
/// sends some boxes of points and waits for as many. It has its own copy of nothing: points go from grid to
/// grid.
///
/// One-sided, a box may arrive as soon as its sender has it, also before its target begins the same swap.
/// Nobody asks whether the target still reads what was there: that is for the caller to rule out. It is,
/// where between reading the points and swapping them again a rank makes any other swap with the same ranks:
/// the sender cannot be through with that one before its target has come as far.
#ifndef NAS_MG_HALO_HPP
#define NAS_MG_HALO_HPP

#include <array>
#include <cstddef>
#include <memory>
#include <span>

#include "job.hpp"

namespace nas_mg {

/// counts[0] points side by side, counts[1] times at a distance of strides[0] points, all that counts[2]
/// times at a distance of strides[1].
struct Shape {
  std::array<std::size_t, 3> counts;
  std::array<std::size_t, 2> strides;
};

/// A box that goes to one rank, and its counterpart, of the same shape, that comes from another.
struct Message {
  std::size_t channel;  ///< the two ends of a message name the same; no two messages of one swap do
  int to;
  std::size_t source;       ///< first point of the box here
  std::size_t destination;  ///< and where it goes, in the memory of `to`
  int from;
  std::size_t arrival;  ///< where the counterpart goes, in the memory here
  Shape shape;
};

class Halo {
 public:
  /// Makes the memory of this rank, `points` zeros. Collective.
  Halo(Job& job, std::size_t points, std::size_t channels);
  ~Halo();
  Halo(const Halo&) = delete;
  Halo& operator=(const Halo&) = delete;

  [[nodiscard]] double* memory() const;

  using Swap = std::size_t;
  /// Describes a swap that will be made many times.
  [[nodiscard]] Swap describe(std::span<const Message> messages);
  /// Makes it: when this returns, what was to come is here, and what was sent may be changed.
  void make(Swap swap);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace nas_mg

#endif
