#pragma once

namespace librma {

/// The variable by which rmarun tells programs how many ranks they may count on (MPI_UNIVERSE_SIZE), where
/// that is less than the number of seats.
inline constexpr const char* kUniverseVariable = "RMARUN_UNIVERSE";

}  // namespace librma
