#include "rmarun/hosts/mapping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace rmarun {
namespace {

/// Adds `ranks` to the hosts of `chosen` in equal parts. The first ones get what remains.
void share_evenly(std::vector<Placed>& placed, const std::vector<std::size_t>& chosen, int ranks) {
  const int count = static_cast<int>(chosen.size());
  for (int i = 0; i < count; ++i) {
    placed[chosen[static_cast<std::size_t>(i)]].ranks += ranks / count + (i < ranks % count ? 1 : 0);
  }
}

}  // namespace

librma::Result<std::vector<Placed>> place(const std::vector<Host>& hosts, const Wanted& wanted,
                                          const std::string& source) {
  std::vector<Placed> placed;
  std::vector<std::size_t> all;
  std::vector<std::size_t> unlimited;
  int slots = 0;
  for (const Host& host : hosts) {
    all.push_back(placed.size());
    placed.push_back({host, 0});
    const auto own = wanted.per_host ? wanted.per_host : host.slots;
    if (!own) unlimited.push_back(all.back());
    slots += own.value_or(wanted.ranks ? 0 : 1);
  }
  int left = wanted.ranks.value_or(slots);
  if (left < 1) return librma::Status(RMA_ERR_ARGUMENT, fmt::format("the hosts of {} have no slots", source));
  if (left > slots && unlimited.empty() && !wanted.oversubscribe) {
    return librma::Status(
        RMA_ERR_ARGUMENT,
        fmt::format("{} ranks are more than the {} slots of {}: give it more slots, or use --oversubscribe",
                    left, slots, source));
  }
  for (Placed& each : placed) {
    const auto own = wanted.per_host ? wanted.per_host : each.host.slots;
    each.ranks = std::min(left, own.value_or(wanted.ranks ? 0 : 1));
    left -= each.ranks;
  }
  share_evenly(placed, unlimited.empty() ? all : unlimited, left);
  std::erase_if(placed, [](const Placed& each) { return each.ranks == 0; });
  return placed;
}

std::vector<std::string> hosts_by_rank(const std::vector<Placed>& placed, bool by_node) {
  std::vector<std::string> hosts;
  if (!by_node) {
    for (const Placed& each : placed)
      hosts.insert(hosts.end(), static_cast<std::size_t>(each.ranks), each.host.name);
    return hosts;
  }
  std::size_t before = 0;
  int round = 0;
  do {
    before = hosts.size();
    for (const Placed& each : placed) {
      if (each.ranks > round) hosts.push_back(each.host.name);
    }
    ++round;
  } while (hosts.size() > before);
  return hosts;
}

}  // namespace rmarun
