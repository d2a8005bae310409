#pragma once

#include <optional>
#include <string>

namespace librma {

/// Returns a text if the environment says that a launcher has started this process as one of several, by
/// variables other than PMIx's. Each of the processes would otherwise become a job of its own, which computes
/// something else than its user means. The text says which variables, and which command works instead.
///
/// No text for a process that is alone: a launcher's only one, a batch script, an interactive shell.
[[nodiscard]] std::optional<std::string> find_foreign_launcher();

}  // namespace librma
