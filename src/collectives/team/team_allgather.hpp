#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "atomics/accumulate.hpp"
#include "collectives/rdma/job_allgather_port.hpp"
#include "collectives/rdma/rdma_allgather.hpp"
#include "messages/messages.hpp"
#include "util/settings.hpp"
#include "util/status.hpp"

namespace librma {

class Team;

/// The allgathers by RDMA of one team, as this process sees it. The members set up what RdmaAllgather needs
/// during one of their allgathers: all of them, or none if one has no memory for it. One thread at a time
/// uses it.
class TeamAllgather {
 public:
  TeamAllgather() = default;
  ~TeamAllgather();
  TeamAllgather(const TeamAllgather&) = delete;
  TeamAllgather& operator=(const TeamAllgather&) = delete;

  /// Lets run() use RDMA. The arguments outlive the object. Called before the first run().
  void enable(Accumulator& accumulator, Messages& messages) {
    accumulator_ = &accumulator;
    messages_ = &messages;
  }

  /// Executes an allgather of `team`, and sets `done`; or leaves both to the caller, who then uses messages.
  /// All members do the same. Returns RMA_ERR_PEER_LOST if a member is lost.
  [[nodiscard]] Status run(Team& team, void* dst, const void* src, std::size_t bytes, bool& done);

 private:
  enum class State { closed, open, refused };

  /// Returns whether the team's allgathers are to use RDMA from this call on.
  [[nodiscard]] bool wanted(const Team& team) const;
  /// Sets everything up, at all members or at none. Collective.
  [[nodiscard]] Status open(Team& team);

  Accumulator* accumulator_ = nullptr;
  Messages* messages_ = nullptr;
  State state_ = State::closed;
  std::uint64_t calls_ = 0;
  std::unique_ptr<JobAllgatherPort> port_;
  std::unique_ptr<RdmaAllgather> allgather_;
};

}  // namespace librma
