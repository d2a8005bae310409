/// @file
/// Memory of matrices. It is one interface: memory_rma.cpp takes it from librma's heap, which other ranks can
/// access; memory_mpi.cpp is for the program over MPI.
#ifndef SUMMA_MEMORY_HPP
#define SUMMA_MEMORY_HPP

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "job.hpp"

namespace summa {

/// Memory of one rank: zeros at the start.
using Buffer = std::unique_ptr<double[], void (*)(double*)>;
/// Allocates a buffer. Local.
Buffer make_buffer(std::size_t elements);

/// One rank's block of a matrix.
class Block {
 public:
  /// Allocates this rank's elements. Collective; the numbers of elements may differ.
  Block(apps::Job& job, std::size_t elements);

  [[nodiscard]] std::span<double> local() const { return {elements_.get(), count_}; }
  /// Returns the address of another rank's block, as that rank knows it.
  [[nodiscard]] double* address(int rank) const { return addresses_[static_cast<std::size_t>(rank)]; }

 private:
  Buffer elements_;
  std::size_t count_;
  std::vector<double*> addresses_;
};

}  // namespace summa

#endif
