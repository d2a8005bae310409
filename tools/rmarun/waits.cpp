#include "rmarun/waits.hpp"

#include <fcntl.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): SIGXFSZ is POSIX's
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "rmarun/processes.hpp"
#include "util/waiting/wait_board.hpp"

namespace rmarun {
namespace {

/// Returns a text that another process wrote, with nothing in it that a terminal would act on.
template <std::size_t kSize>
std::string printable(const std::array<char, kSize>& from) {
  std::string text(librma::text_of(from));
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  return text;
}

/// Returns the awaited ranks that exist. Nothing in `record` need be true.
std::vector<int> awaited_ranks(const librma::WaitRecord& record, std::size_t ranks) {
  std::vector<int> awaited;
  const std::size_t runs = std::min<std::size_t>(record.run_count, librma::WaitRecord::kMostRuns);
  for (const librma::RankRun& run : std::span(record.runs).first(runs)) {
    const auto count = std::min<std::int64_t>(run.count, static_cast<std::int64_t>(ranks));
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t rank = run.first + i * run.stride;
      if (rank >= 0 && static_cast<std::size_t>(rank) < ranks && awaited.size() < ranks)
        awaited.push_back(static_cast<int>(rank));
    }
  }
  return awaited;
}

std::int64_t monotonic_nanoseconds() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

using Records = std::array<std::optional<librma::WaitRecord>, librma::WaitPage::kSlots>;

/// Returns the records of a rank, without those that it is writing.
Records read_page(int file, std::size_t rank) {
  Records records;
  librma::WaitPage page{};
  const auto at = static_cast<off_t>((rank + 1) * librma::WaitPage::kBytes);
  if (::pread(file, &page, sizeof page, at) != static_cast<ssize_t>(sizeof page)) return records;
  std::ranges::transform(page.slots, records.begin(), [](const librma::WaitSlot& one) { return one.read(); });
  return records;
}

RankState::Process state_of(const Rank& rank) {
  if (!rank.running) return RankState::Process::ended;
  switch (process_state(rank.pid)) {
    case 'R':
      return RankState::Process::computes;
    case 'T':
    case 't':
      return RankState::Process::stopped;
    case 'Z':
    case 'X':
    case '\0':
      return RankState::Process::ended;
    default:
      return RankState::Process::sleeps;
  }
}

}  // namespace

void Waits::make(const std::string& directory, std::size_t ranks, const std::string& job) {
  const std::string path = directory + "/waits";
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.open()) return;
  const auto bytes = static_cast<off_t>(librma::wait_board_bytes(ranks));
  // With all its blocks, because a rank that found none for a page that it writes would be killed. A limit of
  // the size of files is an error then, and no signal.
  struct sigaction before {};
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGXFSZ, &ignore, &before);
  const bool has_room = ::posix_fallocate(file.get(), 0, bytes) == 0;
  ::sigaction(SIGXFSZ, &before, nullptr);
  if (!has_room) return;
  librma::WaitBoardHead head;
  head.ranks = ranks;
  librma::copy_text(job, head.job);
  if (::pwrite(file.get(), &head, sizeof head, 0) != static_cast<ssize_t>(sizeof head)) return;
  path_ = path;
  file_ = std::move(file);
}

std::string Waits::assignment() const {
  return path_.empty() ? "" : std::string(librma::kWaitBoardVariable) + "=" + path_;
}

std::vector<RankState> Waits::look(const std::vector<Rank>& ranks) const {
  std::vector<RankState> states(ranks.size());
  std::vector<Records> before(ranks.size());
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) before[rank] = read_page(file_.get(), rank);
  const std::int64_t now = monotonic_nanoseconds();
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    states[rank].process = state_of(ranks[rank]);
    const Records after = read_page(file_.get(), rank);
    for (std::size_t slot = 0; slot < after.size(); ++slot) {
      const auto& record = before[rank][slot];
      // Only what was so at one moment for all ranks: a cycle of waits that were never there together is
      // none. And a record that its owner wrote while it was read is not the same the second time.
      const bool stays = record && after[slot] && record->thread != 0 &&
                         std::memcmp(&*record, &*after[slot], sizeof *record) == 0;
      if (!stays) continue;
      states[rank].waits.push_back(
          {.call = printable(record->call),
           .about = printable(record->about),
           .seconds = static_cast<double>(std::clamp<std::int64_t>(now - record->since, 0, now)) / 1e9,
           .meeting = record->meeting,
           .any = record->any != 0,
           .more = record->more != 0,
           .ranks = awaited_ranks(*record, ranks.size())});
    }
  }
  return states;
}

std::string value_in(const std::vector<std::string>& environment, const std::string& name) {
  for (const std::string& assignment : environment) {
    if (assignment.starts_with(name + "=")) return assignment.substr(name.size() + 1);
  }
  return "";
}

}  // namespace rmarun
