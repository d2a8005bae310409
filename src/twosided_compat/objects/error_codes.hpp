#pragma once

#include <optional>
#include <string>

namespace librma::mpi {

/// Returns the text of an error class or code, or nothing if there is no such code.
[[nodiscard]] std::optional<std::string> error_text(int code);

/// Returns the class of an error code, or nothing if there is no such code.
[[nodiscard]] std::optional<int> class_of(int code);

/// Returns the value of the attribute MPI_LASTUSEDCODE: the largest class or code that exists, or
/// MPI_ERR_LASTCODE.
[[nodiscard]] int last_used_code();

/// A class of the standard. The name is that of its constant, without "MPI_".
struct StandardClass {
  int value;
  const char* name;
  const char* text;
};

/// Returns the class of the standard with this value, or null.
[[nodiscard]] const StandardClass* standard_class(int value);

}  // namespace librma::mpi
