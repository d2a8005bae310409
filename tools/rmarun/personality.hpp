#pragma once

#include <span>
#include <string>
#include <string_view>

#include "rmarun/environment.hpp"
#include "rmarun/options.hpp"
#include "util/status.hpp"

namespace rmarun {

/// The values of RMA_MPI and of --mpi, which sets it for the ranks.
inline constexpr const char* kMpiSetting = "RMA_MPI";

/// A rank's place in its job.
struct RankPlace {
  int rank = 0;
  int ranks = 1;
  int local_rank = 0;  ///< among the ranks of its host
  int local_ranks = 1;
};

/// An MPI whose libraries librma stands in for, in a folder of its own.
struct Personality {
  std::string_view name;       ///< the value of RMA_MPI
  std::string_view library;    ///< the library of librma
  std::string_view installed;  ///< the folder's place from that of rmarun (find_installed)
  std::string_view built;
};
/// All of them.
[[nodiscard]] std::span<const Personality> personalities();

/// Gives a rank the MPI that its program was linked with. RMA_MPI in `environment` says which that is:
///  - openmpi: librma's libmpi.so.40, which stands in for Open MPI's. Its folder comes first in
///    LD_LIBRARY_PATH, and the variables OMPI_COMM_WORLD_RANK and the like are set.
///  - mpich: librma's libmpi.so.12, which stands in for MPICH's and Intel MPI's, with PMI_RANK and the like.
///  - auto, or nothing: one of these if the program needs a library that it has (needs_library), and the
///    folder is there.
///  - own: the one that the dynamic linker finds.
/// @return RMA_ERR_SETTING for another value, and if a folder is asked for and not there.
[[nodiscard]] librma::Status provide_mpi(Environment& environment, const Program& program,
                                         const RankPlace& place);

/// Returns whether RMA_MPI leaves the choice to rmarun. After provide_mpi() that means: as far as rmarun can
/// see, the program does not need a library of the personalities.
[[nodiscard]] inline bool looks_by_itself(const Environment& environment) {
  const std::string setting = environment.get(kMpiSetting);
  return setting.empty() || setting == "auto";
}

}  // namespace rmarun
