#pragma once

#include <pmix.h>

namespace rma {

/// Tells rmarun that this process has left its job, while it stays connected. Its end then disturbs nobody,
/// however it comes: exit codes, crashes in destructors and _exit() after MPI_Finalize end no other rank.
///
/// PMIx has no word for this. So the process publishes a name, which rmarun's PMIx server takes for the
/// goodbye. Other launchers are told nothing, and see a process leave when it exits. `self` is the process's
/// PMIx name. The call waits up to 2 s for the answer.
/// @return false if there is no answer yet, because rmarun is stopped or slow. It will still read the
/// goodbye.
bool say_goodbye(const pmix_proc_t& self) noexcept;

/// Takes it back: this process joins its job again.
void take_goodbye_back(const pmix_proc_t& self) noexcept;

}  // namespace rma
