#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>

#include "mpi.h"
#include "twosided_compat/datatypes/datatypes.hpp"
#include "twosided_compat/files/representations.hpp"

namespace librma::mpi {

/// The contiguous parts of a type, as check_in_file() finds them. Neighbouring parts count as one.
struct PartsInFile {
  bool overlap = false;
  MPI_Count shortest = std::numeric_limits<MPI_Count>::max();  ///< bytes
};

/// The bytes of a file that a process sees, and their order (MPI 4.1, section 14.3): from a displacement on,
/// the file is tiled with filetypes, and the data of the tiles follow each other. A position is a number of
/// such bytes, as they are in the file. A view never changes. Operations that are under way hold it.
class FileView {
 public:
  /// Makes the view of a newly opened file: all its bytes.
  FileView();
  struct Made {
    MPI_Offset displacement;  ///< in bytes
    Datatype* etype;
    Datatype* filetype;
    const Representation* representation;
    const Datatype* file_etype;     ///< the etype as it lies in the file
    const Datatype* file_filetype;  ///< the filetype as it lies in the file; check_in_file() has accepted it
    PartsInFile parts;              ///< of the filetype; the overlap also of the etype
  };
  explicit FileView(const Made& made);

  [[nodiscard]] MPI_Offset displacement() const { return displacement_; }
  [[nodiscard]] Datatype& etype() const { return *etype_; }
  [[nodiscard]] Datatype& filetype() const { return *filetype_; }
  [[nodiscard]] const Representation& representation() const { return *representation_; }

  /// Returns the bytes of an etype in the file, in which the program counts. 1 if the etype has no data.
  [[nodiscard]] MPI_Count etype_bytes() const { return etype_bytes_; }
  /// Returns whether the bytes that the process sees are all from some offset on.
  [[nodiscard]] bool is_contiguous() const { return contiguous_; }
  /// Returns whether a byte at a greater position has a greater offset.
  [[nodiscard]] bool is_ascending() const { return ascending_; }
  /// Returns whether the filetype has data, without which nothing can be read or written.
  [[nodiscard]] bool has_data() const { return !tile_.empty(); }
  /// Returns the bytes of the shortest contiguous part of the filetype. One that goes on in the next tile is
  /// two parts here.
  [[nodiscard]] MPI_Count shortest_part() const { return shortest_part_; }
  /// Returns the contiguous parts of `bytes` bytes, about.
  [[nodiscard]] MPI_Count parts_of(MPI_Count bytes) const;

  /// Returns whether the offsets of `bytes` bytes at `position` fit into an MPI_Offset.
  [[nodiscard]] bool reaches(MPI_Offset position, MPI_Count bytes) const;
  /// Returns the offset of the byte at a position.
  [[nodiscard]] MPI_Offset offset_of(MPI_Offset position) const;
  /// Returns the first position whose byte has the offset `offset` or a greater one. If the view is
  /// ascending, the process sees so many bytes at lower offsets.
  [[nodiscard]] MPI_Offset position_of(MPI_Offset offset) const;

  /// Calls visit(offset, bytes) for the contiguous parts of the positions [from, to), in order. Neighbouring
  /// parts are one.
  template <class Visit>
  void visit(MPI_Offset from, MPI_Offset to, const Visit& visit) const;

 private:
  MPI_Offset displacement_ = 0;
  HeldType etype_;
  HeldType filetype_;
  const Representation* representation_;
  MPI_Count etype_bytes_ = 1;
  TypeMap tile_;
  MPI_Count tile_bytes_ = 1;  // of a tile's data; 1 also if a tile has no data
  MPI_Count extent_ = 1;
  MPI_Count shortest_part_ = 1;
  bool contiguous_ = true;
  bool ascending_ = true;
};

/// Checks that a type may be the etype or filetype of a view: its displacements are not negative, and do not
/// descend. `name` is that of the parameter. Stores what it finds out about the parts. MPI_ERR_IO.
[[nodiscard]] int check_in_file(const TypeMap& map, const char* name, PartsInFile& parts);

template <class Visit>
void FileView::visit(MPI_Offset from, MPI_Offset to, const Visit& visit) const {
  if (from >= to) return;
  if (contiguous_) {
    visit(displacement_ + tile_.low() + from, static_cast<std::size_t>(to - from));
    return;
  }
  const MPI_Count size = tile_bytes_;
  const MPI_Offset first = from / size;
  const MPI_Offset tiles = (to - 1) / size - first + 1;
  MPI_Offset offset = 0;  // of the part that is not visited yet
  std::size_t bytes = 0;
  tile_.repeated(tiles, extent_)
      .visit(static_cast<std::uintptr_t>(displacement_ + first * extent_), from - first * size,
             to - first * size, [&](const std::byte* at, MPI_Count part, const PredefinedType&) {
               const auto begin = static_cast<MPI_Offset>(reinterpret_cast<std::uintptr_t>(at));
               if (bytes != 0 && begin == offset + static_cast<MPI_Offset>(bytes)) {
                 bytes += static_cast<std::size_t>(part);
                 return;
               }
               if (bytes != 0) visit(offset, bytes);
               offset = begin;
               bytes = static_cast<std::size_t>(part);
             });
  visit(offset, bytes);
}

}  // namespace librma::mpi
