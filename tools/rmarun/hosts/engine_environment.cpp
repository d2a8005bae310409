#include "rmarun/hosts/engine_environment.hpp"

#include <algorithm>
#include <array>

namespace rmarun {
namespace {

/// The component frameworks of ORTE and PRRTE, and the general parameters of both.
constexpr std::array<std::string_view, 17> kFrameworks = {
    "orte", "prte", "plm",    "rmaps",   "ras",  "ess",    "oob", "rml",  "routed",
    "odls", "iof",  "errmgr", "grpcomm", "regx", "schizo", "rtc", "state"};
/// How hwloc's part of them binds processes. The engine binds none.
constexpr std::array<std::string_view, 3> kBinding = {"hwloc_base_bind", "hwloc_base_cpu", "hwloc_base_slot"};
/// The networks and ports of daemons. A site with a firewall needs them.
constexpr std::array<std::string_view, 2> kOfNetworks = {"oob_tcp_", "prte_if_"};
constexpr std::string_view kChoice = "_if_";  ///< in the names of those that --interface contradicts

}  // namespace

bool decides_start(std::string_view variable, bool interface_given) {
  constexpr std::array<std::string_view, 3> kPrefixes = {"OMPI_MCA_", "PRTE_MCA_", "PMIX_MCA_"};
  const auto* const prefix =
      std::ranges::find_if(kPrefixes, [&](std::string_view each) { return variable.starts_with(each); });
  if (prefix == kPrefixes.end()) return false;
  const std::string_view parameter = variable.substr(prefix->size());
  const auto begins = [&](std::string_view each) { return parameter.starts_with(each); };
  if (std::ranges::any_of(kOfNetworks, begins))
    return interface_given && parameter.find(kChoice) != parameter.npos;
  if (std::ranges::any_of(kBinding, begins)) return true;
  const std::string_view framework = parameter.substr(0, parameter.find('_'));
  return std::ranges::find(kFrameworks, framework) != kFrameworks.end();
}

}  // namespace rmarun
