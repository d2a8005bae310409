#include "rmarun/personality.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "rmarun/installation.hpp"
#include "rmarun/needed_libraries.hpp"

namespace rmarun {
namespace {

constexpr std::size_t kOpenMpi = 0;
constexpr std::size_t kMpich = 1;
constexpr std::array kPersonalities = {Personality{.name = "openmpi",
                                                   .library = "libmpi.so.40",
                                                   .installed = RMA_PERSONALITIES_INSTALLED "openmpi",
                                                   .built = RMA_PERSONALITIES_BUILT "openmpi"},
                                       Personality{.name = "mpich",
                                                   .library = "libmpi.so.12",
                                                   .installed = RMA_PERSONALITIES_INSTALLED "mpich",
                                                   .built = RMA_PERSONALITIES_BUILT "mpich"}};

/// MPICH's libraries by its own names, and by Debian's.
constexpr std::array<std::string_view, 6> kMpichLibraries = {"libmpi.so.12",       "libmpifort.so.12",
                                                             "libmpicxx.so.12",    "libmpich.so.12",
                                                             "libmpichfort.so.12", "libmpichcxx.so.12"};

/// Returns the MPI that has a library of this name for programs, or null.
const Personality* owner_of(std::string_view library) {
  if (library.starts_with("libmpi") && library.ends_with(".so.40")) return &kPersonalities[kOpenMpi];
  if (std::ranges::find(kMpichLibraries, library) != kMpichLibraries.end()) return &kPersonalities[kMpich];
  return nullptr;
}

/// Sets the variables in which scripts and programs for the MPI look for a rank's place.
void describe_place(const Personality& mpi, Environment& environment, const RankPlace& place) {
  const auto set = [&](const char* name, int value) { environment.set(name, std::to_string(value)); };
  if (&mpi == &kPersonalities[kOpenMpi]) {
    set("OMPI_COMM_WORLD_RANK", place.rank);
    set("OMPI_COMM_WORLD_SIZE", place.ranks);
    set("OMPI_COMM_WORLD_LOCAL_RANK", place.local_rank);
    set("OMPI_COMM_WORLD_LOCAL_SIZE", place.local_ranks);
    set("OMPI_COMM_WORLD_NODE_RANK", place.local_rank);
    set("OMPI_UNIVERSE_SIZE", place.ranks);
  } else {
    set("PMI_RANK", place.rank);
    set("PMI_SIZE", place.ranks);
    set("MPI_LOCALRANKID", place.local_rank);
    set("MPI_LOCALNRANKS", place.local_ranks);
  }
}

/// Returns the MPI that RMA_MPI names, or the one that the program needs. Null for none.
const Personality* find_personality(std::string_view setting, const Environment& environment,
                                    const Program& program) {
  if (const auto* const asked = std::ranges::find(kPersonalities, setting, &Personality::name);
      asked != kPersonalities.end())
    return asked;
  const Personality* needed = nullptr;
  static_cast<void>(needs_library(program.path(), environment, [&](std::string_view library) {
    needed = owner_of(library);
    return needed != nullptr;
  }));
  return needed;
}

}  // namespace

std::span<const Personality> personalities() { return kPersonalities; }

librma::Status provide_mpi(Environment& environment, const Program& program, const RankPlace& place) {
  const std::string setting = environment.get(kMpiSetting);
  if (setting == "own") return {};
  const Personality* const mpi = find_personality(setting, environment, program);
  const bool asked = mpi != nullptr && setting == mpi->name;
  if (!asked && !looks_by_itself(environment))
    return {RMA_ERR_SETTING, fmt::format("RMA_MPI is '{}'; it may be auto, openmpi, mpich or own", setting)};
  if (mpi == nullptr) return {};
  const std::filesystem::path folder = find_installed(mpi->installed, mpi->built);
  if (folder.empty()) {
    if (!asked) return {};
    return {RMA_ERR_SETTING, fmt::format("RMA_MPI={} needs {}, which is not there", setting,
                                         installed_path(mpi->installed).string())};
  }
  environment.prepend("LD_LIBRARY_PATH", folder.string());
  environment.set(kMpiSetting, std::string(mpi->name));  // for what the program starts
  describe_place(*mpi, environment, place);
  return {};
}

}  // namespace rmarun
