#include "collectives/team/team_hierarchy.hpp"

#include <algorithm>
#include <utility>

namespace rma {

TeamHierarchy::TeamHierarchy(Job& job, RankView ranks, int member, const std::uint64_t& id,
                             std::function<Status()> given_up)
    : job_(job),
      ranks_(ranks),
      member_(member),
      hosts_(ranks.size()),
      mates_([&] {
        std::vector<int> mates;
        std::copy_if(ranks.begin(), ranks.end(), std::back_inserter(mates),
                     [&](int rank) { return job.mapped(rank); });
        return mates;
      }()),
      cards_(static_cast<std::size_t>(ranks.size())),
      roster_(job, mates_, id, std::move(given_up)) {
  leader_ = static_cast<std::int32_t>(
      std::distance(ranks.begin(), std::find(ranks.begin(), ranks.end(), mates_.front())));
}

TeamHierarchy::~TeamHierarchy() {
  if (scratch_ == nullptr) return;
  static_cast<void>(job_.memory().allocator().free(MemoryKind::internal, scratch_).ok());
}

Status TeamHierarchy::provide(Messages* messages, std::uint32_t context) {
  constexpr std::size_t kBytes = HierarchicalExchange::kScratch + PointToPointExchange::kScratch;
  auto memory = job_.memory().allocator().allocate(MemoryKind::internal, kBytes, alignof(TeamBlock));
  if (!memory.ok()) return std::move(memory).status();
  scratch_ = memory.value();
  exchange_.emplace(hosts_, member_, scratch_);
  if (messages != nullptr) {
    own_transport_.emplace(job_, *messages, ranks_.list(), context);
  }
  return {};
}

void TeamHierarchy::meet_in(TeamBlock& block, const HostMemory& host, ScratchPool& scratch) {
  const auto place = static_cast<int>(std::find(mates_.begin(), mates_.end(), job_.rank()) - mates_.begin());
  buffers_.emplace(job_, mates_, host, scratch);
  within_.emplace(block, place, job_.wait_policy(), *buffers_, roster_);
}

bool TeamHierarchy::open(TeamTransport* team) {
  const bool right = hosts_.fill([&](int member) { return cards_[static_cast<std::size_t>(member)].leader; });
  if (!right || hosts_.hosts() == hosts_.members()) return false;
  if (leader_ == member_) {
    TeamTransport* const transport = own_transport_ != std::nullopt ? &*own_transport_ : team;
    if (transport == nullptr) return false;  // an attached team has one of its own
    leaders_.emplace(*transport, hosts_);
    p2p_.emplace(hosts_.host_of(member_), hosts_.hosts(), job_.rank(), *leaders_);
    between_.emplace(*p2p_, scratch_ + HierarchicalExchange::kScratch);
  }
  exchange_->open(within_ != std::nullopt ? &*within_ : nullptr,
                  between_ != std::nullopt ? &*between_ : nullptr);
  return true;
}

}  // namespace rma
