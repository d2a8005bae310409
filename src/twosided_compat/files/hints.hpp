#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

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
  std::size_t ind_rd_buffer_size = std::size_t{4} << 20U;
  std::size_t ind_wr_buffer_size = std::size_t{512} << 10U;
  std::size_t striping_unit = 0;  ///< 0: not known
  Switch romio_cb_read = Switch::kAutomatic;
  Switch romio_cb_write = Switch::kAutomatic;
  Switch romio_ds_read = Switch::kAutomatic;
  Switch romio_ds_write = Switch::kAutomatic;
  bool romio_no_indep_rw = false;  ///< has no effect

  /// Takes over the hints of an info that the library knows and whose values are valid. Others have no
  /// effect, as the standard wants it. `info` may be MPI_INFO_NULL.
  void take(MPI_Info info);
  /// Does the same with the hints of the file that the environment variable ROMIO_HINTS names, one a line:
  /// the key and the value. They count more than those of the program. A file that cannot be read has no
  /// effect.
  void take_from_environment();
  /// Writes the hints that are in use, but not cb_nodes.
  void store(Info& info) const;

 private:
  /// Returns the value that is given for a key, if there is one.
  using Given = std::function<std::optional<std::string>(const char* key)>;
  void take_given(const Given& given);
};

}  // namespace librma::mpi
