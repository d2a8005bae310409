/// @file
/// The exchange of grid points between ranks. It is one interface: halo_rma.cpp puts the points in their
/// places, one-sided; halo_messages.cpp sends and receives them by librma's messages, and halo_mpi.cpp by
/// MPI.
///
/// Every rank has the same amount of memory with the same layout, and describes the same swaps in the
/// same order. A swap sends some boxes of points and waits for as many. It makes no copies: points go
/// from grid to grid.
///
/// One-sided, a box may arrive as soon as its sender has it, even before its target begins the same swap. The
/// swap does not check whether the target still reads the old points; the caller must rule this out. One way
/// is that each rank makes another swap with the same ranks between reading the points and swapping them
/// again: the sender cannot complete that swap before its target has begun it.
#ifndef NAS_MG_HALO_HPP
#define NAS_MG_HALO_HPP

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <span>

#include "job.hpp"

namespace nas_mg {

using apps::Job;

/// counts[0] adjacent points, repeated counts[1] times at a distance of strides[0] points; all of that is
/// repeated counts[2] times at a distance of strides[1].
struct Shape {
  std::array<std::size_t, 3> counts;
  std::array<std::size_t, 2> strides;
};

/// A box that goes to one rank, and its counterpart, of the same shape, that comes from another.
struct Message {
  std::size_t channel;  ///< both ends of a message use the same channel; each message of a swap has its own
  int to;
  std::size_t source;       ///< first point of the box here
  std::size_t destination;  ///< first point of the box in the memory of `to`
  int from;
  std::size_t arrival;  ///< first point of the counterpart in this rank's memory
  Shape shape;
};

class Halo {
 public:
  /// Allocates this rank's memory: `points` zeros. Collective.
  Halo(Job& job, std::size_t points, std::size_t channels);
  ~Halo();
  Halo(const Halo&) = delete;
  Halo& operator=(const Halo&) = delete;

  /// Returns a short text that says what moves the grid points.
  static const char* communication();

  [[nodiscard]] double* memory() const;

  using Swap = std::size_t;
  /// Describes a swap that will be made many times.
  [[nodiscard]] Swap describe(std::span<const Message> messages);
  /// Executes the swap. When this returns, all boxes for this rank have arrived, and the sent points
  /// may be changed.
  void make(Swap swap) {
    const auto start = std::chrono::steady_clock::now();
    exchange(swap);
    time_ += std::chrono::steady_clock::now() - start;
  }
  /// Returns the time that all swaps took together, with waiting for the others.
  [[nodiscard]] std::chrono::duration<double> time() const { return time_; }

 private:
  void exchange(Swap swap);

  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
  std::chrono::duration<double> time_{};
};

}  // namespace nas_mg

#endif
