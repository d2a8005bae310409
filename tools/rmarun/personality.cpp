#include "rmarun/personality.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "rmarun/installation.hpp"
#include "rmarun/needed_libraries.hpp"

namespace rmarun {
namespace {

constexpr std::string_view kOpenMpi = "openmpi";

/// Whether a library is one of Open MPI's for programs: libmpi.so.40, libmpi_mpifh.so.40 and others.
bool is_openmpi(std::string_view library) {
  return library.starts_with("libmpi") && library.ends_with(".so.40");
}

/// Sets the variables in which scripts and programs for Open MPI look for a rank's place.
void describe_place(Environment& environment, const RankPlace& place) {
  environment.set("OMPI_COMM_WORLD_RANK", std::to_string(place.rank));
  environment.set("OMPI_COMM_WORLD_SIZE", std::to_string(place.ranks));
  environment.set("OMPI_COMM_WORLD_LOCAL_RANK", std::to_string(place.local_rank));
  environment.set("OMPI_COMM_WORLD_LOCAL_SIZE", std::to_string(place.local_ranks));
  environment.set("OMPI_COMM_WORLD_NODE_RANK", std::to_string(place.local_rank));
  environment.set("OMPI_UNIVERSE_SIZE", std::to_string(place.ranks));
}

}  // namespace

librma::Status provide_mpi(Environment& environment, const Program& program, const RankPlace& place) {
  const std::string setting = environment.get(kMpiSetting);
  if (setting == "own") return {};
  const bool asked = setting == kOpenMpi;
  if (!asked && !looks_by_itself(environment))
    return {RMA_ERR_SETTING, fmt::format("RMA_MPI is '{}'; it may be auto, openmpi or own", setting)};
  const std::filesystem::path folder = find_installed(RMA_OPENMPI_INSTALLED, RMA_OPENMPI_BUILT);
  if (folder.empty()) {
    if (!asked) return {};
    return {RMA_ERR_SETTING, fmt::format("RMA_MPI=openmpi needs {}, which is not there",
                                         installed_path(RMA_OPENMPI_INSTALLED).string())};
  }
  if (!asked && !needs_library(program.path(), environment, is_openmpi)) return {};
  environment.prepend("LD_LIBRARY_PATH", folder.string());
  environment.set(kMpiSetting, std::string(kOpenMpi));  // for what the program starts
  describe_place(environment, place);
  return {};
}

}  // namespace rmarun
