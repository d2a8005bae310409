#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "util/status.hpp"

namespace rmarun {

/// How far a rank has come in its use of PMIx.
enum class Stage { kNone, kJoined, kLeft };

/// A rank's wish to end the job.
struct AbortRequest {
  int rank = 0;
  int code = 0;
};

/// The PMIx server of one job whose ranks all run here. All its files are in the directory it is given.
///
/// PMIx calls back on a thread of its own. What it says is kept until asked for; wakeup() becomes readable
/// when there is something new. A rank that asks to leave is only let go after that was noted, so stage() is
/// up to date for a rank that has ended.
class PmixServer {
 public:
  struct News;

  static rma::Result<std::unique_ptr<PmixServer>> start(int ranks, const std::string& directory);
  PmixServer(const PmixServer&) = delete;
  PmixServer& operator=(const PmixServer&) = delete;
  ~PmixServer();

  /// What the PMIx client of `rank` needs in its environment, as NAME=VALUE.
  rma::Result<std::vector<std::string>> environment_of(int rank);

  [[nodiscard]] int wakeup() const noexcept;
  /// Makes wakeup() unreadable until there is more news.
  void clear_wakeup();
  [[nodiscard]] Stage stage(int rank) const;
  /// The first abort that was asked for.
  [[nodiscard]] std::optional<AbortRequest> abort_request() const;

 private:
  PmixServer();
  rma::Status register_job(int ranks);

  std::string job_;
  std::unique_ptr<News> news_;  ///< what the callbacks write
  bool initialized_ = false;
};

}  // namespace rmarun
