#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rma/rma.h"
#include "util/status.hpp"

namespace rma {

/// This process's place in its job, and the one moment at which processes that know nothing of each other yet
/// can exchange data: the launcher carries each process's *card* (its transport addresses) to whoever asks
/// for it.
///
/// Nothing here is meant for the data path. Calls are made by one thread at a time, abort() by any.
class Bootstrap {
 public:
  Bootstrap(const Bootstrap&) = delete;
  Bootstrap& operator=(const Bootstrap&) = delete;
  /// Leaves the job politely: a process that exits while its Bootstrap is still open counts as failed.
  virtual ~Bootstrap() = default;

  /// The world rank of this process, 0 to size() - 1.
  [[nodiscard]] int rank() const noexcept { return place_.rank; }
  /// Number of processes of the job.
  [[nodiscard]] int size() const noexcept { return place_.size; }
  /// World ranks of the processes on this host, ascending, this one included.
  [[nodiscard]] const std::vector<int>& local_ranks() const noexcept { return place_.local_ranks; }
  /// A name of the job that no other job on these hosts has.
  [[nodiscard]] const std::string& job_id() const noexcept { return place_.job_id; }

  /// Makes `card` what card_of(rank()) returns everywhere once a fence() has followed. Local; once per
  /// Bootstrap.
  virtual Status publish(std::span<const std::byte> card) = 0;

  /// Collective over the job. Afterwards every card published before it can be read.
  virtual Status fence() = 0;

  /// The card of `rank`, which published it before the last fence(). Local: only that one card is fetched.
  /// RMA_ERR_RANK without such a rank, RMA_ERR_LAUNCH when the launcher has no such card.
  virtual Result<std::vector<std::byte>> card_of(int rank) = 0;

  /// Writes `text` to stderr and ends all processes of the job; its launcher exits with `exit_code`.
  [[noreturn]] virtual void abort(int exit_code, std::string_view text) = 0;

 protected:
  struct Place {
    int rank = 0;
    int size = 1;
    std::vector<int> local_ranks;
    std::string job_id;
  };
  explicit Bootstrap(Place place) : place_(std::move(place)) {}

 private:
  Place place_;
};

/// Finds this process's job: by `given` unless that is null, by PMIx when a launcher offers it
/// (PMIX_NAMESPACE and PMIX_RANK are in the environment), else a job of one.
/// @param incarnation  how often this process has joined its job before; the same on all ranks, so that the
///        cards of one round are never taken for those of another.
/// @return RMA_ERR_LAUNCH when the environment promises a launcher that cannot be used.
Result<std::unique_ptr<Bootstrap>> open_bootstrap(int incarnation, const rma_bootstrap_t* given = nullptr);

}  // namespace rma
