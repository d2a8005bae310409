// Views of files.

#include "twosided_compat/files/file_view.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "twosided_compat/binding/checked_arithmetic.hpp"
#include "twosided_compat/objects/errors.hpp"

namespace librma::mpi {

FileView::FileView()
    : etype_(*find<Datatype>(MPI_BYTE)),
      filetype_(*etype_),
      representation_(&native_representation()),
      tile_(etype_->layout().bytes()) {}

FileView::FileView(const Made& made)
    : displacement_(made.displacement),
      etype_(*made.etype),
      filetype_(*made.filetype),
      representation_(made.representation),
      etype_bytes_(std::max<MPI_Count>(made.file_etype->size(), 1)),
      tile_(made.file_filetype->layout().bytes()),
      tile_bytes_(std::max<MPI_Count>(tile_.size(), 1)),
      extent_(made.file_filetype->bounds().extent),
      shortest_part_(made.parts.shortest) {
  contiguous_ = tile_.is_block() && tile_.size() == extent_;
  ascending_ = !made.parts.overlap && extent_ >= tile_.high() - tile_.low();
}

MPI_Count FileView::parts_of(MPI_Count bytes) const {
  if (contiguous_ || bytes == 0) return 1;
  const MPI_Count tiles = (bytes - 1) / tile_bytes_ + 1;
  return tiles * tile_.blocks();
}

bool FileView::reaches(MPI_Offset position, MPI_Count bytes) const {
  bool overflows = false;
  const MPI_Offset end = plus(position, bytes, overflows);
  if (overflows || !has_data()) return !overflows;
  const MPI_Count tile_end = plus(displacement_, times(end / tile_bytes_ + 1, extent_, overflows), overflows);
  static_cast<void>(plus(tile_end, tile_.high(), overflows));
  return !overflows;
}

MPI_Offset FileView::offset_of(MPI_Offset position) const {
  if (!has_data()) return displacement_;
  MPI_Offset found = 0;
  visit(position, position + 1, [&](MPI_Offset offset, std::size_t) { found = offset; });
  return found;
}

MPI_Offset FileView::position_of(MPI_Offset offset) const {
  const MPI_Offset distance = offset - displacement_ - tile_.low();
  if (distance <= 0 || !has_data()) return 0;
  if (contiguous_) return distance;
  // The tiles before the first one that ends behind the offset. Tiles may reach into the next ones.
  const MPI_Offset span = tile_.high() - tile_.low();
  const MPI_Offset tiles = distance < span ? 0 : (distance - span) / extent_ + 1;
  // The first byte of this tile that is not below the offset. Parts may overlap if the view is not ascending:
  // their bytes are in no order that a binary search could use.
  if (!ascending_) {
    MPI_Offset position = tiles * tile_bytes_;
    bool found = false;
    visit(position, position + tile_bytes_, [&](MPI_Offset at, std::size_t bytes) {
      if (found) return;
      const MPI_Offset below = std::clamp<MPI_Offset>(offset - at, 0, static_cast<MPI_Offset>(bytes));
      position += below;
      found = below < static_cast<MPI_Offset>(bytes);
    });
    return position;
  }
  MPI_Count low = 0;
  MPI_Count high = tile_bytes_;
  while (low < high) {
    const MPI_Count middle = low + (high - low) / 2;
    if (offset_of(tiles * tile_bytes_ + middle) < offset) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return tiles * tile_bytes_ + low;
}

int check_in_file(const TypeMap& map, const char* name, PartsInFile& parts) {
  if (map.low() < 0)
    return failure(MPI_ERR_IO, fmt::format("the {} has the negative displacement {}", name, map.low()));
  MPI_Offset begin = 0;  // of the part that the visit is in
  MPI_Offset last = 0;   // the offset of the block before
  MPI_Offset end = 0;    // of that block
  bool descends = false;
  const auto finish_part = [&] {
    if (end != begin) parts.shortest = std::min(parts.shortest, end - begin);
  };
  map.visit(0, 0, map.size(), [&](const std::byte* at, MPI_Count bytes, const PredefinedType&) {
    const auto offset = static_cast<MPI_Offset>(reinterpret_cast<std::uintptr_t>(at));
    descends = descends || offset < last;
    parts.overlap = parts.overlap || offset < end;
    if (offset != end) {
      finish_part();
      begin = offset;
    }
    last = offset;
    end = offset + bytes;
  });
  finish_part();
  return descends ? failure(MPI_ERR_IO, fmt::format("the displacements of the {} descend", name))
                  : MPI_SUCCESS;
}

}  // namespace librma::mpi
