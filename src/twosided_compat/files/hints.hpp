#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi.h"
#include "twosided_compat/objects/info.hpp"

namespace librma::mpi {

/// The value of a hint that switches something.
enum class Switch : std::uint8_t { kAutomatic, kEnable, kDisable };

/// The hints of an open file that the library obeys, by the names that the standard and ROMIO have given
/// them. docs/mpi-files.md says what they do. Sizes are in bytes.
struct FileHints {
  int cb_nodes = 0;  ///< the processes that access the file in a collective call; 0: the library chooses
  std::size_t cb_buffer_size = std::size_t{16} << 20U;
  std::size_t ind_rd_buffer_size = std::size_t{512} << 10U;
  std::size_t ind_wr_buffer_size = std::size_t{512} << 10U;
  std::size_t striping_unit = 0;  ///< 0: not known
  Switch romio_cb_read = Switch::kAutomatic;
  Switch romio_cb_write = Switch::kAutomatic;
  Switch romio_ds_read = Switch::kAutomatic;
  Switch romio_ds_write = Switch::kAutomatic;

  /// Takes over the hints of an info that the library knows and whose values are valid. Others have no
  /// effect, as the standard wants it. `info` may be MPI_INFO_NULL.
  void take(MPI_Info info);
  /// Writes the hints that are in use, but not cb_nodes.
  void store(Info& info) const;
};

}  // namespace librma::mpi
