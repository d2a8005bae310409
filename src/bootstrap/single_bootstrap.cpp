#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "bootstrap/backends.hpp"

namespace librma {
namespace {

class SingleBootstrap final : public Bootstrap {
 public:
  explicit SingleBootstrap(std::string remark)
      : Bootstrap(JobInfo{.rank = 0,
                          .size = 1,
                          .local_ranks = {0},
                          .job_id = fmt::format("single-{}", ::getpid()),
                          .remark = std::move(remark)}) {}

  Status publish(std::span<const std::byte> card) override {
    card_.assign(card.begin(), card.end());
    published_ = true;
    return {};
  }

  Status fence() override { return {}; }

  Result<std::vector<std::byte>> card_of(int rank) override {
    if (rank != 0) return Status(RMA_ERR_RANK, fmt::format("no rank {} in a job of one", rank));
    if (!published_) return Status(RMA_ERR_LAUNCH, "rank 0 has published no card");
    return card_;
  }

  [[noreturn]] void abort(int exit_code, std::string_view text) override {
    print_last_words(text);
    std::_Exit(exit_code);
  }

 private:
  std::vector<std::byte> card_;
  bool published_ = false;
};

}  // namespace

std::unique_ptr<Bootstrap> open_single_bootstrap(std::string remark) {
  return std::make_unique<SingleBootstrap>(std::move(remark));
}

void print_last_words(std::string_view text) {
  if (text.empty()) return;
  std::string line(text);
  if (line.back() != '\n') line += '\n';
  // The process ends next, so an error of this write has no consequence.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace librma
