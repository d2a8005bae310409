#include "rmarun/universe.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "rmarun/needed_libraries.hpp"

namespace rmarun {
namespace {

/// Seats cost the ranks memory for their tables, and a look at each when they poll.
constexpr int kSeatsLeftFree = 16;

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
  if (options.universe || !options.placed.empty()) return;
  if (std::ranges::any_of(options.programs, spawns)) options.universe = options.ranks() + kSeatsLeftFree;
}

}  // namespace rmarun
