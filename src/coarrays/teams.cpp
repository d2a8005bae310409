// Teams.

#include <memory>
#include <vector>

#include "coarrays/entry_points.hpp"
#include "coarrays/images.hpp"

namespace librma::coarrays {
namespace {

/// All teams of this image. A team exists until the program ends, because team variables may be copied.
std::vector<std::unique_ptr<Team>>& teams() {
  static std::vector<std::unique_ptr<Team>> all;
  return all;
}

}  // namespace

void caf_form_team(int number, Team** team, int index) {
  const int key = index != 0 ? index : current.team->me + 1;
  auto made = std::make_unique<Team>();
  require(rma_team_split(current.team->handle, number, key, &made->handle));
  int size = 0;
  require(rma_team_info(made->handle, &made->me, &size));
  made->number = number;
  made->parent = current.team;
  made->ranks.resize(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i)
    require(rma_team_world_rank(made->handle, i, &made->ranks[static_cast<std::size_t>(i)]));
  *team = made.get();
  teams().push_back(std::move(made));
}

// change team and end team synchronize the images of the team.
void caf_change_team(Team** team, int /*unused*/) {
  enter(**team);
  require(rma_barrier(current.team->handle));
}

void caf_end_team(Team** /*team*/) {
  require(rma_barrier(current.team->handle));
  enter(*current.team->parent);
}

void caf_sync_team(Team** team, int /*unused*/) { require(rma_barrier((*team)->handle)); }

int caf_team_number(const Team* team) { return (team != nullptr ? team : current.team)->number; }

}  // namespace librma::coarrays
