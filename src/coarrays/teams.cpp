// Teams.

#include <algorithm>
#include <memory>
#include <vector>

#include "coarrays/entry_points.hpp"
#include "coarrays/images.hpp"
#include "coarrays/memory.hpp"
#include "coarrays/sync.hpp"
#include "rma/direct.h"

namespace librma::coarrays {
namespace {

/// All teams of this image. A team exists until the program ends, because team variables may be copied.
std::vector<std::unique_ptr<Team>>& teams() {
  static std::vector<std::unique_ptr<Team>> all;
  return all;
}

/// How often this image has executed form team.
std::uint32_t teams_formed = 0;

/// Tells the images of the current team that live which team this one wants, where an image was lost and the
/// team has no collective calls any more. Returns those that want the same one.
std::vector<int> living_with(int number) {
  const auto wanted = static_cast<std::uint32_t>(number);
  const std::uint64_t mine = static_cast<std::uint64_t>(teams_formed) << 32U | wanted;
  const auto ended = [](int rank) { return load(meetings.partners()[rank].end) != 0; };
  for (const int rank : current.team->ranks) {
    if (!ended(rank)) require(rma_put8(&meetings.partner(rank, rma_rank())->team, mine, rank));
  }
  std::vector<int> same;
  for (const int rank : current.team->ranks) {
    const std::uint64_t& theirs = meetings.partners()[rank].team;
    wait_until([&] { return load(theirs) >> 32U >= teams_formed || ended(rank); });
    if (!ended(rank) && static_cast<std::uint32_t>(load(theirs)) == wanted) same.push_back(rank);
  }
  return same;
}

}  // namespace

bool is_team(const Team* team) {
  return std::ranges::any_of(teams(), [team](const auto& made) { return made.get() == team; });
}

void caf_form_team(int number, Team** team, int index) {
  ++teams_formed;
  auto made = std::make_unique<Team>();
  made->number = number;
  made->parent = current.team;
  // An image of the initial team that has stopped takes part in barriers only (leave()).
  int why = 0;
  const bool all_live =
      current.team->parent == nullptr ? meet_all({.stat = &why}) : load(meetings.mine->ended) == 0;
  if (why == kStoppedImage) die("form team: an image of the team has stopped");
  if (all_live) {
    const int key = index != 0 ? index : current.team->me + 1;
    const rma_status_t status = rma_team_split(current.team->handle, number, key, &made->handle);
    if (status != RMA_ERR_PEER_LOST) require(status);
  }
  if (made->handle == nullptr) {
    find_failed_images();
    const std::vector<int> living = living_with(number);
    require(rma_team_create(living.data(), static_cast<int>(living.size()), &made->handle));
  }
  int size = 0;
  require(rma_team_info(made->handle, &made->me, &size));
  made->ranks.resize(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i)
    require(rma_team_world_rank(made->handle, i, &made->ranks[static_cast<std::size_t>(i)]));
  *team = made.get();
  teams().push_back(std::move(made));
}

// change team and end team synchronize the images of the team. At end team, coarrays that the construct has
// allocated are deallocated. No compiler known so far does that itself.
void caf_change_team(Team** team, int /*unused*/) {
  enter(**team);
  require(rma_barrier(current.team->handle));
}

void caf_end_team(Team** /*team*/) {
  deallocate_coarrays_of_team();
  require(rma_barrier(current.team->handle));
  enter(*current.team->parent);
}

void caf_sync_team(Team** team, int /*unused*/) { require(rma_barrier((*team)->handle)); }

int caf_team_number(const Team* team) { return (team != nullptr ? team : current.team)->number; }

}  // namespace librma::coarrays
