#pragma once

#include "shmem/job.hpp"

namespace rma::shmem {

/// Returns the addresses of the executable's static data: from the first to the last byte of its writable segments
/// that stays writable. The part that the dynamic linker makes read-only (RELRO) is not among them. Static data of
/// shared libraries are not symmetric (OpenSHMEM 1.5, section 4.2).
Range find_static_data();

}  // namespace rma::shmem
