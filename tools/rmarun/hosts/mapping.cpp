#include "rmarun/hosts/mapping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "rmarun/hosts/host_ranges.hpp"

namespace rmarun {
namespace {

/// The most ranks that a host takes.
int most_ranks(const Host& host) { return host.max_slots.value_or(kMostSlots); }

/// Adds `ranks` to the hosts of `chosen` in equal parts, as far as these take more. The first ones get what
/// remains. Returns the number of ranks without a place.
int share_evenly(std::vector<Placed>& placed, std::vector<std::size_t> chosen, int ranks) {
  while (ranks > 0) {
    std::erase_if(chosen, [&](std::size_t i) { return placed[i].ranks >= most_ranks(placed[i].host); });
    if (chosen.empty()) return ranks;
    const int share = std::max(1, ranks / static_cast<int>(chosen.size()));
    for (const std::size_t i : chosen) {
      const int more = std::min({share, ranks, most_ranks(placed[i].host) - placed[i].ranks});
      placed[i].ranks += more;
      ranks -= more;
    }
  }
  return ranks;
}

/// Returns the number of ranks that a host gets before all that have no such number share the rest.
std::optional<int> slots_of(const Host& host, const Wanted& wanted) {
  const auto slots = wanted.per_host ? wanted.per_host : host.slots;
  return slots ? std::optional(std::min(*slots, most_ranks(host))) : std::nullopt;
}

librma::Status wrong_number(std::string text) { return {RMA_ERR_ARGUMENT, std::move(text)}; }

}  // namespace

librma::Result<std::vector<Placed>> place(const std::vector<Host>& hosts, const Wanted& wanted,
                                          const std::string& source) {
  std::vector<Placed> placed;
  std::vector<std::size_t> all;
  std::vector<std::size_t> unlimited;
  int slots = 0;
  for (const Host& host : hosts) {
    if (wanted.per_host && *wanted.per_host > most_ranks(host)) {
      return wrong_number(fmt::format("{} ranks on each host are more than max_slots={} of host {} allows",
                                      *wanted.per_host, most_ranks(host), host.name));
    }
    all.push_back(placed.size());
    placed.push_back({host, 0});
    const auto own = slots_of(host, wanted);
    if (!own) unlimited.push_back(all.back());
    slots += own.value_or(wanted.ranks ? 0 : 1);
  }
  const int ranks = wanted.ranks.value_or(slots);
  if (ranks < 1) return wrong_number(fmt::format("the hosts of {} have no slots", source));
  if (ranks > slots && unlimited.empty() && !wanted.oversubscribe) {
    return wrong_number(
        fmt::format("{} ranks are more than the {} slots of {}: give it more slots, or use --oversubscribe",
                    ranks, slots, source));
  }
  int left = ranks;
  for (Placed& each : placed) {
    each.ranks = std::min(left, slots_of(each.host, wanted).value_or(wanted.ranks ? 0 : 1));
    left -= each.ranks;
  }
  left = share_evenly(placed, unlimited, left);
  if (unlimited.empty() || wanted.oversubscribe) left = share_evenly(placed, all, left);
  if (left > 0) {
    return wrong_number(fmt::format("{} ranks are more than the {} that max_slots of {} allows", ranks,
                                    ranks - left, source));
  }
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
