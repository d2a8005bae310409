#pragma once

namespace librma {

/// Makes the alias that rma_alias_at_init has asked for, if the process has none yet. Called by rma_init,
/// before it starts a thread. Returns false if it was refused; rma_alias returns the reason from then on.
[[nodiscard]] bool make_requested_alias();

}  // namespace librma
