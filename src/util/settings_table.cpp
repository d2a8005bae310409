// The one place where a setting is declared. Environment variables, their checks, `rma-info --settings` and
// docs/settings.md all follow from this table.

#include <limits>

#include "util/settings.hpp"

namespace rma {
namespace {

constexpr std::uint64_t kTebi = std::uint64_t{1} << 40;
constexpr std::array<std::string_view, 3> kHugePages = {"off", "transparent", "hugetlb"};
constexpr std::array<std::string_view, 2> kCma = {"auto", "off"};
constexpr std::array<std::string_view, 3> kStatistics = {"off", "table", "json"};

template <auto member>
Choice choice(std::span<const std::string_view> words) {
  using Enum = std::remove_reference_t<decltype(std::declval<Settings>().*member)>;
  return {words, [](Settings& settings, std::size_t word) { settings.*member = static_cast<Enum>(word); },
          [](const Settings& settings) { return static_cast<std::size_t>(settings.*member); }};
}

}  // namespace

std::span<const SettingInfo> setting_table() {
  static const std::array table = {
      SettingInfo{
          "RMA_HEAP_SIZE", &Settings::heap_size, "0", 0, 64 * kTebi, "bytes",
          "Most memory that one rank's heap may hold; 0 takes half of what the machine and its control "
          "groups allow, divided by its ranks"},
      SettingInfo{"RMA_HUGE_PAGES", choice<&Settings::huge_pages>(kHugePages), "off", 0, 0, "",
                  "Back the heap with huge pages: transparent asks the kernel, hugetlb needs reserved pages"},
      SettingInfo{"RMA_MAX_REGIONS", &Settings::max_regions, "1024", 8, 65536, "regions",
                  "Memory regions (rma_register) that one rank can have registered at once"},
      SettingInfo{
          "RMA_CMA", choice<&Settings::cma>(kCma), "auto", 0, 0, "",
          "Reach registered memory outside the heap by process_vm_readv and process_vm_writev when allowed"},
      SettingInfo{
          "RMA_SPIN", &Settings::spins, "2000", 0, 1000000, "polls",
          "Polls before a waiting rank yields or sleeps; none when there are more ranks than processors"},
      SettingInfo{"RMA_YIELDS", &Settings::yields, "64", 0, 1000000, "yields",
                  "Times a waiting rank gives its processor away before it sleeps"},
      SettingInfo{"RMA_COLL_FLAT_RANKS", &Settings::flat_ranks, "8", 1, 4096, "ranks",
                  "Teams up to this size meet by one flag per member; larger ones, and all where ranks do "
                  "not poll, by a counter"},
      SettingInfo{"RMA_COLL_DIRECT", &Settings::direct_collective, "32K", 0, kTebi, "bytes",
                  "Collectives from this size on read the other members' buffers in place"},
      SettingInfo{"RMA_LOG", &Settings::log, "warn", 0, 0, "",
                  "Least serious message to print: trace, debug, info, warn, error or off"},
      SettingInfo{"RMA_STATS", choice<&Settings::statistics>(kStatistics), "off", 0, 0, "",
                  "Print operation counts when a rank finalizes"},
      SettingInfo{"RMA_STATS_FILE", &Settings::statistics_file, "", 0, 0, "",
                  "Write the counts to this file instead of standard error; %r is the rank"},
      SettingInfo{"RMA_TRACE", &Settings::trace, "", 0, 0, "",
                  "Write a Chrome-trace JSON of every call to this file (opens in Perfetto); %r is the rank"},
  };
  return table;
}

}  // namespace rma
