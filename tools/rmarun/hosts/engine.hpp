#pragma once

#include <unistd.h>

#include <string>
#include <vector>

#include "rmarun/hosts/frames.hpp"
#include "rmarun/hosts/mapping.hpp"
#include "rmarun/hosts/way.hpp"
#include "util/status.hpp"

namespace rmarun {

/// The launchers that can start a job's keepers on its hosts.
enum class EngineKind {
  kSrun,     ///< Slurm's, inside an allocation
  kPrterun,  ///< of PRRTE, which Open MPI 5 brings
  kMpirun,   ///< of Open MPI 4 (ORTE)
};

/// A launcher of this machine.
struct Engine {
  EngineKind kind = EngineKind::kMpirun;
  std::string path;
  std::string keeper{};  ///< the path of the program that keeps a rank; empty: rmarun does

  [[nodiscard]] Carriage carriage() const {
    return kind == EngineKind::kMpirun ? Carriage::kTagged : Carriage::kLines;
  }
  /// The stream in which it carries the frames of keepers. PRRTE gives its processes a terminal as stdout,
  /// from which it reads pieces of any size, and mixes those of several ranks; stderr is a pipe.
  [[nodiscard]] int descriptor() const {
    return kind == EngineKind::kPrterun ? STDERR_FILENO : STDOUT_FILENO;
  }
};

/// The files of a job that its engine reads, in rmarun's directory.
struct EngineFiles {
  std::string hosts;  ///< the host file
  std::string agent;  ///< the remote shell's wrapper; empty: the engine uses its own way
  std::string directory;
};

/// Writes the host file in the engine's grammar, and the wrapper of the remote shell (agent_script.hpp).
librma::Result<EngineFiles> write_engine_files(const Engine& engine, const Way& way,
                                               const std::vector<Placed>& placed,
                                               const std::string& directory);

/// Returns the command that starts a keeper for each rank. `variables` are the names of those that the engine
/// has to carry from its own environment to the keepers.
std::vector<std::string> engine_command(const Engine& engine, const Way& way,
                                        const std::vector<Placed>& placed, const EngineFiles& files,
                                        const std::vector<std::string>& variables);

/// Whether srun passes a signal on to the ranks.
bool srun_passes_on(int signal);
/// Returns the command that sends a signal to the ranks of all steps of this Slurm allocation.
std::vector<std::string> slurm_signal_command(int signal);

}  // namespace rmarun
