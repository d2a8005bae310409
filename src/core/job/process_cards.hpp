#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "bootstrap/bootstrap.hpp"
#include "core/job/process_card.hpp"
#include "core/network/network_card.hpp"
#include "util/status.hpp"

namespace librma {

/// The cards of the job's processes: this one's, and those of others, which the
/// launcher delivers. Thread-safe.
class ProcessCards {
 public:
  /// `bootstrap` outlives this.
  explicit ProcessCards(Bootstrap& bootstrap) : bootstrap_(bootstrap) {}

  /// Returns this process's card. It may be changed until it is published.
  [[nodiscard]] ProcessCard& own() { return own_; }
  [[nodiscard]] const ProcessCard& own() const { return own_; }

  /// Returns the card of `rank`. Asks the launcher once for each rank. RMA_ERR_LAUNCH, RMA_ERR_VERSION, and
  /// RMA_ERR_SETTING if the rank and this process would misunderstand each other. So two processes compare
  /// their settings before they use anything of each other's. The own card is complete before the first call
  /// for another rank.
  [[nodiscard]] Result<ProcessCard> of(int rank);
  /// Takes the card that `rank` shows when it meets this process later than at the start.
  [[nodiscard]] Result<ProcessCard> take(int rank, std::span<const std::byte> bytes);
  /// Returns the network's part of it.
  [[nodiscard]] Result<NetworkCard> network(int rank);
  /// Returns the part of `rank`, which is on this host, for the transport within the host.
  [[nodiscard]] Result<std::vector<std::byte>> local(int rank);

 private:
  /// Returns RMA_ERR_SETTING if a process with `card` cannot work with this one.
  [[nodiscard]] Status fits(const ProcessCard& card, int rank) const;

  Bootstrap& bootstrap_;
  ProcessCard own_;
  std::mutex lock_;                    // guards others_; one thread at a time asks the launcher
  std::map<int, ProcessCard> others_;  // cards of other ranks that were needed
};

}  // namespace librma
