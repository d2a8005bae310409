#include "collectives/team/team_hierarchy.hpp"

#include <algorithm>
#include <utility>

#include "util/try_assign.hpp"

namespace librma {

TeamHierarchy::TeamHierarchy(Job& job, RankView ranks, int member, const std::uint64_t& id,
                             std::function<Status()> given_up)
    : job_(job),
      member_(member),
      hosts_(ranks.size()),
      mates_([&] {
        std::vector<int> mates;
        std::copy_if(ranks.begin(), ranks.end(), std::back_inserter(mates),
                     [&](int rank) { return job.mapped(rank); });
        return mates;
      }()),
      leaders_(static_cast<std::size_t>(ranks.size())),
      roster_(job, mates_, id, std::move(given_up)) {
  leader_ = static_cast<std::int32_t>(
      std::distance(ranks.begin(), std::find(ranks.begin(), ranks.end(), mates_.front())));
}

Status TeamHierarchy::provide() {
  RMA_TRY_ASSIGN(memory, take_internal(job_, HierarchicalExchange::kScratch));
  scratch_ = std::move(memory);
  exchange_.emplace(hosts_, member_, scratch_.get());
  return {};
}

void TeamHierarchy::meet_in(TeamBlock& block, const HostMemory& host, ScratchPool& scratch) {
  const auto place = static_cast<int>(std::find(mates_.begin(), mates_.end(), job_.rank()) - mates_.begin());
  buffers_.emplace(job_, mates_, host, scratch);
  within_.emplace(block, place, job_.wait_policy(), *buffers_, roster_);
}

bool TeamHierarchy::open(TeamCarrier& team, std::byte* scratch) {
  const bool right = hosts_.fill([&](int member) { return leaders_[static_cast<std::size_t>(member)]; });
  if (!right || hosts_.hosts() == hosts_.members()) return false;
  if (leader_ == member_) {
    between_.emplace(team, hosts_.host_of(member_), hosts_.hosts(), scratch, &hosts_);
  }
  exchange_->open(within_ != std::nullopt ? &*within_ : nullptr,
                  between_ != std::nullopt ? &*between_ : nullptr);
  return true;
}

}  // namespace librma
