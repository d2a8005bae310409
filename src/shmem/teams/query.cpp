#include "shmem/teams/query.hpp"

#include "shmem/job/job.hpp"
#include "shmem/teams/teams.hpp"

namespace librma::shmem {

int pe_accessible(Call call, int pe) {
  require_initialized(call);
  return static_cast<unsigned>(pe) < job.n_pes ? 1 : 0;
}

int addr_accessible(Call call, const void* address, int pe) {
  if (pe_accessible(call, pe) == 0) return 0;
  return job.heap.contains(address, 1) || job.data.contains(address, 1) ? 1 : 0;
}

void* pointer(Call call, const void* address, int pe) {
  require_initialized(call);
  return here(address, 1, pe);
}

void* team_pointer(Call call, shmem_team_t team, const void* address, int pe) {
  const Team* const members = find_team(team);
  if (members == nullptr || pe < 0 || static_cast<std::size_t>(pe) >= members->ranks.size()) return nullptr;
  return pointer(call, address, members->ranks[static_cast<std::size_t>(pe)]);
}

}  // namespace librma::shmem
