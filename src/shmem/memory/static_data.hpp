#pragma once

#include <cstdint>

#include "shmem/job/job.hpp"

namespace librma::shmem {

/// Returns the addresses of the executable's static data (find_program_data). Static data of shared libraries
/// are not symmetric (OpenSHMEM 1.5, section 4.2).
Range find_static_data();

/// Returns a number that differs, in all likelihood, between executables that the linker did not make in one
/// piece: the FNV-1a hash of the executable's notes, of which its build ID is one. Executables without notes
/// have the same number.
std::uint64_t identify_program();

}  // namespace librma::shmem
