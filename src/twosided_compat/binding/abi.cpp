// The description of the binary interface: its version, and the sizes of C's and Fortran's types.

#include <fmt/format.h>

#include <cstring>
#include <string>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/objects/errors.hpp"
#include "twosided_compat/objects/info.hpp"

namespace librma::mpi {
namespace {

/// gfortran's types on a system with addresses of 64 bits. The library's Fortran interface is built with it.
constexpr int kFortranLogical = 4;
constexpr int kFortranInteger = 4;
constexpr int kFortranReal = 4;
constexpr int kFortranDouble = 8;

void set_supported(Info& info, const char* type, int size) {
  info.set(fmt::format("mpi_{}{}_supported", type, size), "true");
}

bool is_power_of_two(int size) { return size > 0 && (size & (size - 1)) == 0; }

/// Writes `value` as a Fortran LOGICAL of `size` bytes, with this system's order of bytes.
void write_logical(void* out, int size, bool value) {
  std::memset(out, 0, static_cast<std::size_t>(size));
  *static_cast<unsigned char*>(out) = value ? 1 : 0;
}

}  // namespace

int abi_get_version(int* abi_major, int* abi_minor) {
  *abi_major = MPI_ABI_VERSION;
  *abi_minor = MPI_ABI_SUBVERSION;
  return MPI_SUCCESS;
}

int abi_get_info(MPI_Info* info) {
  auto* const made = new Info;
  made->set("mpi_aint_size", std::to_string(sizeof(MPI_Aint)));
  made->set("mpi_count_size", std::to_string(sizeof(MPI_Count)));
  made->set("mpi_offset_size", std::to_string(sizeof(MPI_Offset)));
  *info = made->handle<MPI_Info>();
  return MPI_SUCCESS;
}

int abi_get_fortran_info(MPI_Info* info) {
  auto* const made = new Info;
  made->set("mpi_logical_size", std::to_string(kFortranLogical));
  made->set("mpi_integer_size", std::to_string(kFortranInteger));
  made->set("mpi_real_size", std::to_string(kFortranReal));
  made->set("mpi_double_precision_size", std::to_string(kFortranDouble));
  for (const int size : {1, 2, 4, 8, 16}) set_supported(*made, "logical", size);
  for (const int size : {1, 2, 4, 8, 16}) set_supported(*made, "integer", size);
  // gfortran has no REAL of 2 bytes, but the library sends and combines MPI_REAL2 for compilers that do. A
  // program may ask MPI_Type_size instead, so both have to give the same answer.
  for (const int size : {2, 4, 8, 16}) set_supported(*made, "real", size);
  for (const int size : {4, 8, 16, 32}) set_supported(*made, "complex", size);
  made->set("mpi_double_complex_supported", "true");
  *info = made->handle<MPI_Info>();
  return MPI_SUCCESS;
}

// The library knows its Fortran, so nobody may tell it another one.
int abi_set_fortran_info(MPI_Info /*info*/) {
  return failure(MPI_ERR_ABI, "the library knows the sizes of Fortran's types already");
}

int abi_get_fortran_booleans(int logical_size, void* logical_true, void* logical_false, int* is_set) {
  if (!is_power_of_two(logical_size) || logical_size > 16) {
    return failure(MPI_ERR_ARG, fmt::format("no LOGICAL has {} bytes", logical_size));
  }
  if (logical_true == nullptr || logical_false == nullptr || is_set == nullptr) {
    return failure(MPI_ERR_ARG, "logical_true, logical_false or is_set is null");
  }
  write_logical(logical_true, logical_size, true);
  write_logical(logical_false, logical_size, false);
  *is_set = 1;
  return MPI_SUCCESS;
}

int abi_set_fortran_booleans(int logical_size, void* /*logical_true*/, void* /*logical_false*/) {
  if (!is_power_of_two(logical_size)) {
    return failure(MPI_ERR_ARG, fmt::format("no LOGICAL has {} bytes", logical_size));
  }
  return failure(MPI_ERR_ABI, "the library knows Fortran's .TRUE. and .FALSE. already");
}

}  // namespace librma::mpi
