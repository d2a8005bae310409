#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "mpi.h"
#include "twosided_compat/datatypes/datatypes.hpp"
#include "twosided_compat/files/type_in_file.hpp"

namespace librma::mpi {

/// How data lie in a file (MPI 4.1, section 14.5): as in memory, in the format external32, or as functions of
/// the program write and read them. Representations live until the process ends.
class Representation {
 public:
  /// A function of the program, in one of its two forms. Null: no conversion is needed.
  using Conversion = std::variant<MPI_Datarep_conversion_function*, MPI_Datarep_conversion_function_c*>;
  enum class Kind : std::uint8_t { kNative, kExternal32, kProgram };

  Representation(Kind kind, std::string name) : kind_(kind), name_(std::move(name)) {}
  /// Makes a representation that the program has registered (MPI_Register_datarep).
  Representation(std::string name, Conversion read, Conversion write, MPI_Datarep_extent_function* extent,
                 void* extra)
      : kind_(Kind::kProgram),
        name_(std::move(name)),
        read_(read),
        write_(write),
        extent_(extent),
        extra_(extra) {}

  [[nodiscard]] const std::string& name() const { return name_; }
  /// Returns whether data lie in the file as they lie in memory.
  [[nodiscard]] bool is_native() const { return kind_ == Kind::kNative; }

  /// Makes the datatype that describes how `type` lies in the file.
  [[nodiscard]] int find_type(Datatype& type, HeldType& made) const;
  /// Converts `count` elements of a type to contiguous memory, which has room for what they are in the file.
  /// MPI_ERR_CONVERSION, or the code of the program's function.
  [[nodiscard]] int write(const void* memory, MPI_Count count, const Datatype& type, std::byte* file,
                          std::size_t bytes) const;
  /// Converts contiguous memory, which holds `count` elements as they are in the file, to elements of a type.
  [[nodiscard]] int read(void* memory, MPI_Count count, const Datatype& type, std::byte* file,
                         std::size_t bytes) const;

 private:
  [[nodiscard]] int bytes_of(Datatype& predefined, MPI_Count& bytes) const;
  [[nodiscard]] int convert(const Conversion& conversion, void* memory, MPI_Count count, const Datatype& type,
                            std::byte* file) const;

  Kind kind_;
  std::string name_;
  Conversion read_;
  Conversion write_;
  MPI_Datarep_extent_function* extent_ = nullptr;
  void* extra_ = nullptr;
};

[[nodiscard]] const Representation& native_representation();
/// Finds a representation by its name, or returns null.
[[nodiscard]] const Representation* find_representation(std::string_view name);

}  // namespace librma::mpi
