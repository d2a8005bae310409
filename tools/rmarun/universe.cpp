#include "rmarun/universe.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <string_view>

#include "rmarun/descriptors.hpp"
#include "rmarun/needed_libraries.hpp"
#include "util/system/universe_variable.hpp"

namespace rmarun {
namespace {

/// Programs may start so many ranks one after the other, because a seat is not used again. A seat costs each
/// rank 1.3 KiB for its tables.
constexpr int kSeatsLeftFree = 256;
/// Of these a program sees so many: programs start as many workers at once as MPI_UNIVERSE_SIZE leaves free.
constexpr int kSeatsShown = 16;

/// The beginnings of these functions' names in C and in Fortran.
constexpr std::array<std::string_view, 2> kSpawning = {"MPI_Comm_spawn", "mpi_comm_spawn"};

/// Returns whether the ranks of a program share memory, which ranks that start later need.
bool shares_memory(const Program& program) {
  Environment environment = Environment::inherited();
  for (const auto& [name, value] : program.environment) environment.set(name, value);
  return environment.get("RMA_SHM") != "off";
}

bool spawns(const Program& program) {
  return shares_memory(program) && std::ranges::any_of(kSpawning, [&](std::string_view name) {
           return names_function(program.path(), name);
         });
}

}  // namespace

void leave_room_for_spawning(Options& options) {
  // Of another job, if one of its ranks has started this rmarun.
  ::unsetenv(librma::kUniverseVariable);
  if (options.universe || !options.placed.empty()) return;
  if (std::ranges::none_of(options.programs, spawns)) return;
  const int seats = std::min(options.ranks() + kSeatsLeftFree, most_ranks_with_room());
  options.universe = std::max(options.ranks(), seats);
  const int shown = std::min(options.ranks() + kSeatsShown, *options.universe);
  for (Program& program : options.programs)
    program.environment.emplace_back(librma::kUniverseVariable, std::to_string(shown));
}

}  // namespace rmarun
