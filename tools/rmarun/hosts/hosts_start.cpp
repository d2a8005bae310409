#include "rmarun/hosts/hosts_start.hpp"

#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <system_error>
#include <utility>

#include "rmarun/environment.hpp"
#include "rmarun/hosts/description.hpp"
#include "rmarun/hosts/engine_environment.hpp"
#include "rmarun/hosts/engine_names.hpp"
#include "rmarun/hosts/engine_search.hpp"
#include "rmarun/hosts/host_list.hpp"
#include "rmarun/installation.hpp"
#include "rmarun/version.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace rmarun {
namespace {

/// Whether rank 0 may read rmarun's stdin: not in the background of a terminal, where reading stops the
/// reader.
bool may_read_stdin() { return ::isatty(STDIN_FILENO) == 0 || ::tcgetpgrp(STDIN_FILENO) == ::getpgrp(); }

Description describe(const Options& options, const Engine& engine, const Environment& environment) {
  Description description;
  description.version = version();
  description.origin = own_host_name();
  std::error_code error;
  description.directory = std::filesystem::current_path(error).string();
  description.carriage = engine.carriage();
  description.descriptor = engine.descriptor();
  description.bind = options.bind;
  description.stdin_for_first = may_read_stdin();
  description.programs = options.programs;
  description.hosts = hosts_by_rank(options.placed, options.way.by_node);
  for (std::string& entry : environment.entries()) {
    if (goes_to_other_hosts(entry.substr(0, entry.find('='))))
      description.environment.push_back(std::move(entry));
  }
  return description;
}

}  // namespace

librma::Result<HostsStart> prepare_hosts(const Options& options, const std::string& directory) {
  HostsStart start;
  RMA_TRY_ASSIGN(engine, find_engine(options.way));
  start.engine = std::move(engine);
  if (start.engine.kind != EngineKind::kSrun) RMA_TRY(check_agent(options.way));
  if (options.bind == Bind::kNone)
    start.engine.keeper = find_installed(RMA_KEEPER_INSTALLED, RMA_KEEPER_BUILT).string();
  RMA_TRY_ASSIGN(files, write_engine_files(start.engine, options.way, options.placed, directory));
  Environment environment = Environment::inherited();
  Description description = describe(options, start.engine, environment);
  for (const std::string& entry : environment.entries()) {
    const std::string name = entry.substr(0, entry.find('='));
    if (decides_start(name, !options.way.interface.empty())) environment.remove(name);
  }
  // The system limits the size of all together, and the engine gets those of the ranks packed.
  constexpr std::size_t kLarge = std::size_t{16} << 10U;
  for (const std::string& entry : description.environment) {
    if (entry.size() > kLarge) environment.remove(entry.substr(0, entry.find('=')));
  }
  std::vector<std::string> carried;
  // The keeper itself needs these to start.
  for (const char* const name : {"PATH", "LD_LIBRARY_PATH"}) {
    if (!environment.get(name).empty()) carried.emplace_back(name);
  }
  for (const std::string& variable : packed(description)) {
    environment.set(variable);
    carried.push_back(variable.substr(0, variable.find('=')));
  }
  if (start.engine.kind == EngineKind::kSrun) {
    environment.set("SLURM_HOSTFILE", files.hosts);
  } else {
    environment.set(kTmpdirVariable, environment.get("TMPDIR"));
    environment.set("TMPDIR", directory);
  }
  start.command = engine_command(start.engine, options.way, options.placed, files, carried);
  start.environment = environment.entries();
  start.with_stdin = description.stdin_for_first;
  start.hosts = std::move(description.hosts);
  const std::string own = own_host_name();
  for (const Placed& each : options.placed)
    start.hosts_of_names.emplace(engine_name(each.host, own), each.host.name);
  return start;
}

}  // namespace rmarun
