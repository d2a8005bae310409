#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "twosided_compat/collectives/collective_arguments.hpp"
#include "twosided_compat/datatypes/buffer.hpp"

namespace librma::mpi {

/// Copies of a collective call's buffers, for those that rma/collectives.h cannot use where they lie, because
/// their data are not contiguous. The copies exist as long as this, and keep the datatypes that they need.
class StagedBuffers {
 public:
  StagedBuffers() = default;
  ~StagedBuffers();
  StagedBuffers(const StagedBuffers&) = delete;
  StagedBuffers& operator=(const StagedBuffers&) = delete;

  /// Returns memory of zeros.
  [[nodiscard]] std::byte* memory(std::size_t bytes);
  /// Makes the data contiguous: `buffer` becomes that of a copy, unless it is contiguous. `result`: whether
  /// store() copies back. Throws std::bad_alloc, as all functions here.
  void stage(Buffer& buffer, bool result);
  /// Does the same for a block of each of `members` members. If `array`, the blocks follow each other
  /// afterwards.
  void stage(Blocks& blocks, int members, bool array, bool result);
  /// Makes an array of `count` elements that follow each other without gaps in between, for a reduction.
  /// `address` becomes the beginning of the array, unless the type is a predefined one without holes. In the
  /// array each element begins at aligned_begin(). The type separates() its elements.
  [[nodiscard]] int stage_elements(void*& address, MPI_Count count, MPI_Datatype type, bool result);

  /// Returns the displacement that is aligned as malloc aligns in the copies that an operator of the program
  /// sees. It is the address that the operator gets, if the type begins there, as the types of C's structures
  /// do. Otherwise it is the first byte of data, as in MPICH and Open MPI.
  [[nodiscard]] static MPI_Count aligned_begin(const Bounds& bounds) {
    return bounds.lower == 0 ? 0 : bounds.true_lower;
  }

  /// Returns whether the data of each element of a type lie inside its bounds.
  [[nodiscard]] static bool separates(MPI_Datatype type);

  /// Memory with all the elements of a reduction, at the distances that they have in the program's memory.
  struct Whole {
    std::byte* memory = nullptr;
    std::size_t bytes = 0;
    MPI_Count begin = 0;  ///< the displacement, from the first element's address, at which the memory begins
  };
  /// Copies `count` elements into such memory.
  [[nodiscard]] int stage_whole(const void* address, MPI_Count count, MPI_Datatype type, Whole& whole);
  /// Makes such memory for `count` elements. Of these, `result_count` elements from number `first` on are
  /// stored at `address`.
  [[nodiscard]] int stage_whole_result(void* address, MPI_Count first, MPI_Count result_count,
                                       MPI_Count count, MPI_Datatype type, Whole& whole);

  /// Copies the program's data to the copies. Called before each start.
  void load() const;
  /// Copies the results to the program's buffers. Called when an operation has ended well.
  void store() const;

 private:
  struct Staged {
    Buffer original;
    Buffer copy;
    bool result;
  };
  [[nodiscard]] Whole whole_memory(const Datatype& type, MPI_Count count);
  [[nodiscard]] int add_whole(const void* address, MPI_Count first, MPI_Count count, MPI_Datatype type,
                              bool result, const Whole& whole);
  void add(const Buffer& original, const Buffer& copy, bool result);

  std::vector<std::unique_ptr<std::byte[]>> memory_;  // NOLINT(cppcoreguidelines-avoid-c-arrays)
  std::vector<Staged> staged_;
  std::vector<Datatype*> types_;
};

}  // namespace librma::mpi
