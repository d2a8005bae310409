#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rmarun/hosts/engine.hpp"
#include "rmarun/hosts/way.hpp"
#include "util/status.hpp"

namespace rmarun {

/// Finds the engine: the one that `way` names, else srun in an allocation of Slurm, prterun, Open MPI's
/// mpirun. One that the user names is asked for its version, because launchers of other kinds have the same
/// names.
/// @return RMA_ERR_LAUNCH. If this machine has no engine, the text names a package. If the named program is
/// another one, the text names the three engines.
librma::Result<Engine> find_engine(const Way& way);

/// Returns the kind of the launcher that prints this text for --version, or no value for another
/// program's text.
std::optional<EngineKind> kind_of_version(std::string_view text);

/// Checks that this machine has the remote shell that `way` names, or ssh.
/// @return RMA_ERR_LAUNCH if not. A first word that the shell would change is not checked.
librma::Status check_agent(const Way& way);

}  // namespace rmarun
