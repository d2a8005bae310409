#include "rmarun/rank_starter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <utility>

#include "rmarun/descriptors.hpp"
#include "rmarun/exit_codes.hpp"
#include "rmarun/process_heap.hpp"
#include "rmarun/spawn.hpp"

namespace rmarun {

RankStarter::RankStarter(const Options& options, Environment inherited, const rlimit& descriptors,
                         std::vector<Rank>& ranks, Forwarder& forwarder)
    : options_(options),
      inherited_(std::move(inherited)),
      descriptors_(descriptors),
      ranks_(ranks),
      forwarder_(forwarder) {}

std::optional<Verdict> RankStarter::start_job(Prepared prepared, const std::string& directory) {
  rank_server_ = prepared.ranks;
  cores_ = std::move(prepared.cores);
  environments_ = std::move(prepared.environments);
  const std::vector<int> programs = options_.programs_of_ranks();
  waits_.make(directory, static_cast<size_t>(options_.seats()),
              value_in(environments_.front(), "PMIX_NAMESPACE"));
  ranks_.reserve(static_cast<size_t>(options_.seats()));
  for (size_t at = 0; at < programs.size(); ++at) {
    const Program& program = options_.programs[static_cast<size_t>(programs[at])];
    const auto rank = static_cast<int>(at);
    if (auto why = start_rank(rank, program, {rank, options_.ranks(), rank, options_.ranks()})) return why;
  }
  return std::nullopt;
}

SpawnOutcome RankStarter::start_asked(const SpawnAsked& asked) {
  const auto room = static_cast<int>(static_cast<size_t>(options_.seats()) - ranks_.size());
  const int asker = std::min(asked.rank, options_.ranks() - 1);
  const int number = options_.programs_of_ranks()[static_cast<size_t>(asker)];
  const SpawnPlan plan =
      plan_spawn(asked.call, options_.programs[static_cast<size_t>(number)].environment, room, inherited_);
  if (!plan.why_none.empty()) return {.started = {}, .why_none = plan.why_none};
  return start_world(asked.call, plan);
}

/// Starts a rank, the next one of `ranks_`. Returns why it has not started.
std::optional<Verdict> RankStarter::start_rank(int rank, const Program& program, const RankPlace& place) {
  Environment environment = inherited_;
  const auto at = static_cast<size_t>(rank);
  for (const std::string& assignment : environments_[std::min(at, environments_.size() - 1)])
    environment.set(assignment);
  environment.set("PMIX_RANK", std::to_string(rank));
  if (const std::string waits = waits_.assignment(); !waits.empty()) environment.set(waits);
  for (const auto& [name, value] : program.environment) environment.set(name, value);
  if (const librma::Status status = provide_mpi(environment, program, place); !status.ok())
    return Verdict{kExitFailure, std::string(status.text())};
  if (looks_by_itself(environment)) other_mpi_.watch(environment);
  if (const librma::Status status = preload_process_heap(environment); !status.ok())
    return Verdict{kExitFailure, std::string(status.text())};
  const cpu_set_t* const core = cores_.empty() ? nullptr : &cores_[at % cores_.size()];
  return run_program(rank, program, environment, core);
}

std::optional<Verdict> RankStarter::run_program(int rank, const Program& program,
                                                const Environment& environment, const cpu_set_t* core) {
  Spawned spawned = spawn({.command = program.command,
                           .environment = environment.entries(),
                           .directory = program.directory.empty() ? nullptr : program.directory.c_str(),
                           .takes_stdin = rank == 0,
                           .cores = core,
                           .descriptors = descriptors_});
  if (spawned.pid < 0) {
    const char* const why = std::strerror(spawned.error);
    if (spawned.at_directory)
      return Verdict{kExitFailure,
                     fmt::format("cannot start in the directory '{}': {}", program.directory, why)};
    if (!spawned.at_exec)
      return Verdict{kExitFailure, fmt::format("cannot start rank {} of {}: {}", rank, options_.ranks(),
                                               describe_refusal(spawned.error))};
    const bool missing = spawned.error == ENOENT || spawned.error == ENOTDIR;
    return Verdict{missing ? kExitNotFound : kExitNotExecutable,
                   fmt::format("cannot run '{}': {}", program.command.front(), why)};
  }
  ranks_.push_back({.pid = spawned.pid, .running = true});
  forwarder_.add_rank(rank, std::move(spawned.out), std::move(spawned.err));
  return std::nullopt;
}

/// Starts all ranks of a plan, or none.
SpawnOutcome RankStarter::start_world(const librma::SpawnCall& call, const SpawnPlan& plan) {
  RankServer::World world = {.first = static_cast<int>(ranks_.size()),
                             .number = call.number,
                             .parents = call.parents,
                             .programs = {}};
  SpawnOutcome outcome = {.first = world.first, .started = {}, .why_none = {}};
  for (const Program& program : plan.programs) {
    world.programs.insert(world.programs.end(), static_cast<size_t>(program.ranks),
                          static_cast<int>(outcome.started.size()));
    outcome.started.push_back(program.ranks);
  }
  world.count = static_cast<int>(world.programs.size());
  rank_server_->add_world(world);
  for (int at = 0; at < world.count; ++at) {
    const Program& program = plan.programs[static_cast<size_t>(world.programs[static_cast<size_t>(at)])];
    const auto why = start_rank(world.first + at, program, {at, world.count, at, world.count});
    if (!why) continue;
    outcome.why_none = why->why;
    for (size_t rank = static_cast<size_t>(world.first); rank < ranks_.size(); ++rank) {
      ranks_[rank].unwanted = true;
      ::kill(ranks_[rank].pid, SIGKILL);
    }
    break;
  }
  return outcome;
}

}  // namespace rmarun
