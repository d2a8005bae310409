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

bool spawns(const Program& program) {
  return std::ranges::any_of(kSpawning,
                             [&](std::string_view name) { return names_function(program.path(), name); });
}

}  // namespace

void leave_room_for_spawning(Options& options) {
  if (options.universe || !options.placed.empty()) return;
  if (std::ranges::any_of(options.programs, spawns)) options.universe = options.ranks() + kSeatsLeftFree;
}

}  // namespace rmarun
