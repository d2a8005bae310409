#include "rmarun/environment.hpp"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

namespace rmarun {
namespace {

/// PMIX_NAMESPACE, PMIX_RANK, PMIX_SERVER_URI and similar variables belong to the outer job. The variables
/// that begin with PMIX_MCA_ are the user's settings for PMIx itself, and stay. Open MPI's mpirun, which may
/// be rmarun's engine, tells its processes by others that they are of its job, and refuses to run in one.
bool belongs_to_outer_job(std::string_view name) {
  if (name.starts_with("PMIX_")) return !name.starts_with("PMIX_MCA_");
  constexpr std::array<std::string_view, 7> kOfMpirun = {
      "OMPI_COMM_WORLD_",          "OMPI_UNIVERSE_SIZE", "OMPI_MCA_ess",
      "OMPI_MCA_orte_ess",         "OMPI_MCA_orte_hnp",  "OMPI_MCA_orte_local",
      "OMPI_MCA_orte_precondition"};
  return std::ranges::any_of(kOfMpirun, [name](std::string_view start) { return name.starts_with(start); });
}

}  // namespace

Environment Environment::inherited() {
  Environment environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!belongs_to_outer_job(*entry)) environment.set(std::string(*entry));
  }
  return environment;
}

void Environment::set(const std::string& assignment) {
  const auto equals = assignment.find('=');
  if (equals != std::string::npos) set(assignment.substr(0, equals), assignment.substr(equals + 1));
}

std::vector<std::string> Environment::entries() const {
  std::vector<std::string> result;
  result.reserve(variables_.size());
  for (const auto& [name, value] : variables_) {
    std::string entry = name;
    entry += '=';
    entry += value;
    result.push_back(std::move(entry));
  }
  return result;
}

bool has_value(const char* variable) {
  const char* const value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): nothing changes it
  return value != nullptr && *value != '\0';
}

void provide_home() {
  // NOLINTBEGIN(concurrency-mt-unsafe): one thread
  if (std::getenv("HOME") == nullptr && ::getpwuid(::geteuid()) == nullptr) ::setenv("HOME", "/", 0);
  // NOLINTEND(concurrency-mt-unsafe)
}

}  // namespace rmarun
