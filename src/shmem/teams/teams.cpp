#include "shmem/teams/teams.hpp"

#include <algorithm>
#include <memory>

#include "shmem/job/handles.hpp"
#include "shmem/job/job.hpp"

namespace librma::shmem {
namespace {

constexpr std::size_t kWorld = 1;  // the number of SHMEM_TEAM_WORLD

using Teams = Handles<Team, shmem_team_t>;
std::unique_ptr<Teams> teams;

/// The result of a split that fails.
constexpr int kFailed = -1;

/// Splits `parent`; a negative color gives no team. Returns 0 or kFailed, on all members alike.
int split(Call call, const Team& parent, int color, int key, const shmem_team_config_t* config, long mask,
          shmem_team_t* made) {
  *made = SHMEM_TEAM_INVALID;
  rma_team_t team = nullptr;
  const rma_status_t status = rma_team_split(parent.team, color, key, &team);
  if (status == RMA_ERR_NO_MEMORY) return kFailed;
  require(status, call);
  if (team == nullptr) return 0;
  auto described = std::make_unique<Team>(describe_team(team, call));
  if (config != nullptr && (mask & SHMEM_TEAM_NUM_CONTEXTS) != 0) described->config = *config;
  *made = teams->add(std::move(described));
  return *made != SHMEM_TEAM_INVALID ? 0 : kFailed;
}

/// Returns the first PE of this PE's host.
int first_of_host() {
  int first = 0;
  while (first != job.me && rma_same_host(first) == 0) ++first;
  return first;
}

}  // namespace

Team describe_team(rma_team_t team, Call call) {
  Team described;
  described.team = team;
  int size = 0;
  require(rma_team_info(team, &described.me, &size), call);
  described.ranks.resize(static_cast<std::size_t>(size));
  for (int pe = 0; pe < size; ++pe) {
    require(rma_team_world_rank(team, pe, &described.ranks[static_cast<std::size_t>(pe)]), call);
  }
  return described;
}

void open_teams() {
  const Call call = "shmem_init";
  teams = std::make_unique<Teams>(kWorld);
  auto world = std::make_unique<Team>(describe_team(rma_team_world(), call));
  const Team& everyone = *world;
  if (teams->add(std::move(world)) != SHMEM_TEAM_WORLD)
    die(call, "the world has another handle than it must");
  shmem_team_t shared = SHMEM_TEAM_INVALID;
  if (split(call, everyone, first_of_host(), job.me, nullptr, 0, &shared) != 0 ||
      shared != SHMEM_TEAM_SHARED) {
    die(call, "the team of this host could not be made");
  }
}

void close_teams() { teams.reset(); }

Team* find_team(shmem_team_t handle) { return teams ? teams->find(handle) : nullptr; }

Team& team_of(Call call, shmem_team_t handle) {
  require_initialized(call);
  Team* const found = find_team(handle);
  if (found == nullptr) {
    die(call, handle == SHMEM_TEAM_INVALID
                  ? "the team is SHMEM_TEAM_INVALID"
                  : fmt::format("there is no team {}: it was destroyed, or never made",
                                static_cast<void*>(handle)));
  }
  return *found;
}

int team_my_pe(Call call, shmem_team_t handle) {
  require_initialized(call);
  const Team* const team = find_team(handle);
  return team != nullptr ? team->me : -1;
}

int team_n_pes(Call call, shmem_team_t handle) {
  require_initialized(call);
  const Team* const team = find_team(handle);
  return team != nullptr ? team->size() : -1;
}

int team_get_config(Call call, shmem_team_t handle, long mask, shmem_team_config_t* config) {
  require_initialized(call);
  const Team* const team = find_team(handle);
  if (team == nullptr) return kFailed;
  if (mask != 0 && config == nullptr) die(call, "config is null");
  if ((mask & SHMEM_TEAM_NUM_CONTEXTS) != 0) config->num_contexts = team->config.num_contexts;
  return 0;
}

int team_translate_pe(Call call, shmem_team_t from, int pe, shmem_team_t to) {
  require_initialized(call);
  const Team* const source = find_team(from);
  const Team* const target = find_team(to);
  if (source == nullptr || target == nullptr || pe < 0 || pe >= source->size()) return -1;
  const int world = source->ranks[static_cast<std::size_t>(pe)];
  const auto found = std::find(target->ranks.begin(), target->ranks.end(), world);
  return found != target->ranks.end() ? static_cast<int>(found - target->ranks.begin()) : -1;
}

int team_split_strided(Call call, shmem_team_t parent, int start, int stride, int size,
                       const shmem_team_config_t* config, long mask, shmem_team_t* made) {
  require_initialized(call);
  *made = SHMEM_TEAM_INVALID;
  const Team* const from = find_team(parent);
  if (from == nullptr) return kFailed;
  // All members give the same numbers, so all refuse them or none does.
  const long last = start + static_cast<long>(stride) * (static_cast<long>(size) - 1);
  if (size < 1 || start < 0 || start >= from->size() || last < 0 || last >= from->size()) return kFailed;
  if (stride == 0 && size > 1) return kFailed;
  const int distance = from->me - start;
  const int place = stride != 0 ? distance / stride : 0;
  const bool member = place >= 0 && place < size && place * stride == distance;
  return split(call, *from, member ? 0 : -1, place, config, mask, made);
}

int team_split_2d(Call call, shmem_team_t parent, int xrange, const shmem_team_config_t* xaxis_config,
                  long xaxis_mask, shmem_team_t* xaxis, const shmem_team_config_t* yaxis_config,
                  long yaxis_mask, shmem_team_t* yaxis) {
  require_initialized(call);
  *xaxis = SHMEM_TEAM_INVALID;
  *yaxis = SHMEM_TEAM_INVALID;
  const Team* const from = find_team(parent);
  if (from == nullptr || xrange < 1) return kFailed;
  const int range = std::min(xrange, from->size());
  const int x = from->me % range;
  const int y = from->me / range;
  // The PEs of one row, which differ in x, make the team along the x axis.
  const int row = split(call, *from, y, x, xaxis_config, xaxis_mask, xaxis);
  const int column = split(call, *from, x, y, yaxis_config, yaxis_mask, yaxis);
  return row == 0 && column == 0 ? 0 : kFailed;
}

void team_destroy(Call call, shmem_team_t handle) {
  require_initialized(call);
  if (handle == SHMEM_TEAM_INVALID) return;
  if (handle == SHMEM_TEAM_WORLD || handle == SHMEM_TEAM_SHARED)
    die(call, "a predefined team cannot be destroyed");
  team_of(call, handle);
  const std::unique_ptr<Team> team = teams->remove(handle);
  require(rma_team_free(&team->team), call);
}

}  // namespace librma::shmem
