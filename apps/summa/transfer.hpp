/// @file
/// The movement of matrix elements between ranks. It is one interface: transfer_rma.cpp gets them, one-sided;
/// transfer_messages.cpp sends and receives them by librma's messages, and transfer_mpi.cpp by MPI.
#ifndef SUMMA_TRANSFER_HPP
#define SUMMA_TRANSFER_HPP

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>

#include "memory.hpp"

namespace summa {

/// Returns a short text that says what moves the elements.
const char* communication();

/// Some rows of a part of a block, which one or more ranks need at the same step.
struct Panel {
  const Block* block;  ///< of the matrix: this rank's own, which knows where the others are
  int owner;           ///< the rank that holds the panel
  std::size_t first;   ///< first element in the owner's block
  std::size_t width;   ///< adjacent elements of a row
  std::size_t rows;
  std::size_t stride;          ///< elements from one row to the next, in the owner's block
  std::span<const int> users;  ///< the ranks that need the panel; the owner may be one of them

  [[nodiscard]] std::size_t elements() const { return width * rows; }
  [[nodiscard]] bool contiguous() const { return width == stride || rows == 1; }
  [[nodiscard]] bool used_by(int rank) const { return std::ranges::find(users, rank) != users.end(); }
};

/// The transfers of one step.
class Transfer {
 public:
  Transfer();
  ~Transfer();
  Transfer(Transfer&&) noexcept;
  Transfer& operator=(Transfer&&) = delete;

  /// Starts to bring the panel to this rank, row after row without gaps, if this rank is one of its users.
  /// Two-sided, the owner starts to send it. All owners and users start the same panels in the same order.
  void start(const Panel& panel, double* to);
  /// Waits for everything that was started.
  void finish();

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// Copies a panel that this rank holds and uses.
inline void copy_own(const Panel& panel, double* to) {
  const double* const from = panel.block->local().data() + panel.first;
  for (std::size_t row = 0; row < panel.rows; ++row)
    std::copy_n(from + row * panel.stride, panel.width, to + row * panel.width);
}

}  // namespace summa

#endif
