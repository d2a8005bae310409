#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "twosided_compat/communicators/collective_transfers.hpp"
#include "twosided_compat/communicators/communicator.hpp"

namespace librma::mpi {

/// The colour and key of a process in MPI_Comm_split, as the processes tell them to each other.
struct Choice {
  int color = MPI_UNDEFINED;
  int key = 0;
};

/// Gives `mine` of the first member of each group to all members of the other group. All processes call it.
[[nodiscard]] int exchange_with_remote(const Communicator& inter, CollectiveTag tag, const void* mine,
                                       std::size_t bytes, void* theirs, std::size_t their_bytes);

/// Makes the intercommunicator of a group and one of other processes, `theirs`, with a context that both
/// know. Where they did not start together, they meet first. All processes of both groups call it.
/// MPI_ERR_COMM if a process is in both groups.
[[nodiscard]] int make_intercommunicator(const Communicator& local, std::vector<int> theirs,
                                         std::uint32_t context, MPI_Comm* made);

/// Agrees on the context of a new communicator of all processes of an intercommunicator. All of them call it.
[[nodiscard]] int agree_on_context(const Communicator& inter, std::uint32_t& context);

/// Splits an intercommunicator: members of a colour meet those of the other group that have the same colour.
/// A colour that only one group has makes no communicator.
[[nodiscard]] int split_intercommunicator(const Communicator& inter, Choice own, MPI_Comm* made);

}  // namespace librma::mpi
