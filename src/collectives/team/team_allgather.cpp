#include "collectives/team/team_allgather.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "collectives/schedules/allgather_steps.hpp"
#include "collectives/team/collectives.hpp"
#include "collectives/team/team.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma {
namespace {

/// With RMA_ALLGATHER=auto a team's first call goes by messages: many teams make only one.
constexpr std::uint64_t kCallsByMessages = 1;

}  // namespace

TeamAllgather::~TeamAllgather() {
  if (allgather_ == nullptr) return;
  allgather_->settle();
  if (allgather_->failed()) port_->keep_block();
}

bool TeamAllgather::wanted(const Team& team) const {
  if (accumulator_ == nullptr || team.size() == 1) return false;
  if (team.size() > 1 << AllgatherBlock::kSteps) return false;
  const Job& job = accumulator_->job();
  switch (job.settings().allgather) {
    case AllgatherSetting::p2p:
      return false;
    case AllgatherSetting::automatic:
      return calls_ > kCallsByMessages && job.has_network() &&
             !std::ranges::all_of(team.ranks(), [&](int rank) { return job.mapped(rank); });
    case AllgatherSetting::rdma:
    case AllgatherSetting::ring:
      break;
  }
  return true;
}

Status TeamAllgather::run(Team& team, void* dst, const void* src, std::size_t bytes, bool& done) {
  ++calls_;
  if (state_ == State::closed && wanted(team)) {
    RMA_TRY(open(team));
  }
  if (state_ != State::open || bytes == 0) return {};
  done = true;
  return allgather_->run(static_cast<std::byte*>(dst), static_cast<const std::byte*>(src), bytes);
}

Status TeamAllgather::open(Team& team) {
  using Card = JobAllgatherPort::BlockCard;
  Card mine;
  Status ready = unless_exhausted([&]() -> Status {
    if (team.channel() == nullptr) return {RMA_ERR_NO_MEMORY, "the team has no schedules"};
    port_ = std::make_unique<JobAllgatherPort>(*accumulator_, *messages_, team.channel());
    RdmaAllgather::Limits limits;
    if (accumulator_->job().settings().allgather == AllgatherSetting::ring) {
      limits.ring_bytes = 0;
      limits.ring_members = 0;
    }
    allgather_ = std::make_unique<RdmaAllgather>(*port_, limits);
    // The partners of both ways.
    std::vector<int> partners;
    for (const bool ring : {false, true}) {
      const AllgatherSteps steps(team.rank(), team.size(), ring);
      for (std::size_t k = 0; k < (ring ? 1 : steps.number()); ++k) {
        partners.push_back(steps.step(k).to);
        partners.push_back(steps.step(k).from);
      }
    }
    RMA_TRY_ASSIGN(opened, port_->open(partners));
    mine = opened;
    return {};
  });
  // A member that cannot take part tells the others, which then use messages too.
  const rma_status_t code = ready.code();
  Status agreed = agree(team, code == RMA_SUCCESS || code == RMA_ERR_NO_MEMORY
                                  ? std::move(ready)
                                  : Status(RMA_ERR_NO_MEMORY, std::string(ready.text())));
  if (agreed.ok()) {
    rma_collective_t cards = {};
    cards.kind = RMA_COLLECTIVE_ALLGATHER;
    cards.dst = port_->cards().data();
    cards.src = &mine;
    cards.bytes = sizeof mine;
    RMA_TRY(team.run_by_messages(cards));
    state_ = State::open;
    return {};
  }
  state_ = State::refused;
  allgather_.reset();
  port_.reset();
  return agreed.code() == RMA_ERR_NO_MEMORY ? Status() : std::move(agreed);
}

}  // namespace librma
