#pragma once

#include <string_view>

namespace rmarun {

/// Whether a variable of the environment is one of the parameters of Open MPI, PRRTE or PMIx that decide on
/// which hosts an engine starts processes, and how: OMPI_MCA_plm, OMPI_MCA_orte_default_hostfile,
/// PRTE_MCA_rmaps_default_mapping_policy. Users set them for their own calls of mpirun. The engine of rmarun
/// must not see them, for they contradict its command line. Parameters of MPI itself stay, and so do the
/// ports and networks of the engine's daemons (OMPI_MCA_oob_tcp_*), unless `interface_given`: the command
/// line names the network then.
bool decides_start(std::string_view variable, bool interface_given);

}  // namespace rmarun
