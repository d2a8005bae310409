#include "rmarun/waits.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <span>
#include <string_view>
#include <utility>

#include "rmarun/processes.hpp"

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

/// Makes the pages of `count` ranks with all their blocks: a rank that found no block for a page that it
/// writes would be killed.
bool has_pages(const Descriptor& file, std::size_t first, std::size_t count) {
  return file.open() && ::posix_fallocate(file.get(), static_cast<off_t>(librma::wait_board_bytes(first)),
                                          static_cast<off_t>(count * librma::WaitPage::kBytes)) == 0;
}

bool has_head(const Descriptor& file, std::size_t ranks, const std::string& job) {
  librma::WaitBoardHead head;
  head.ranks = ranks;
  librma::copy_text(job, head.job);
  return ::pwrite(file.get(), &head, sizeof head, 0) == static_cast<ssize_t>(sizeof head);
}

}  // namespace

std::int64_t time_of_waits() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
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

void Waits::make(const std::string& directory, std::size_t ranks, const std::string& job) {
  std::string path = directory + "/waits";
  file_ = Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (has_pages(file_, 0, ranks) && has_head(file_, ranks, job)) path_ = std::move(path);
}

void Waits::make_for(std::size_t rank, std::size_t ranks, const std::string& job) {
  file_ = Descriptor(::memfd_create("rmarun-waits", MFD_CLOEXEC));
  if (has_pages(file_, rank, 1) && has_head(file_, ranks, job))
    path_ = fmt::format("/proc/{}/fd/{}", ::getpid(), file_.get());
}

std::string Waits::assignment() const {
  return path_.empty() ? "" : std::string(librma::kWaitBoardVariable) + "=" + path_;
}

WaitRecords Waits::read(std::size_t rank) const {
  WaitRecords records;
  librma::WaitPage page{};
  const auto at = static_cast<off_t>(librma::wait_board_bytes(rank));
  if (::pread(file_.get(), &page, sizeof page, at) != static_cast<ssize_t>(sizeof page)) return records;
  std::ranges::transform(page.slots, records.begin(),
                         [](const librma::WaitSlot& slot) { return slot.read(); });
  return records;
}

std::vector<RankState> Waits::look(const std::vector<Rank>& ranks) const {
  std::vector<RankState> states(ranks.size());
  std::vector<WaitRecords> before(ranks.size());
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) before[rank] = read(rank);
  const std::int64_t now = time_of_waits();
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    states[rank].process = state_of(ranks[rank]);
    states[rank].waits = lasting_waits(before[rank], read(rank), now, ranks.size());
  }
  return states;
}

std::vector<RankWait> lasting_waits(const WaitRecords& before, const WaitRecords& after, std::int64_t now,
                                    std::size_t ranks) {
  std::vector<RankWait> waits;
  for (std::size_t slot = 0; slot < after.size(); ++slot) {
    const auto& record = before[slot];
    const bool stays = record && after[slot] && record->thread != 0 &&
                       std::memcmp(&*record, &*after[slot], sizeof *record) == 0;
    if (!stays) continue;
    const std::int64_t since = std::clamp<std::int64_t>(record->since, 0, now);
    waits.push_back({.call = printable(record->call),
                     .about = printable(record->about),
                     .seconds = static_cast<double>(now - since) / 1e9,
                     .meeting = record->meeting,
                     .any = record->any != 0,
                     .more = record->more != 0,
                     .ranks = awaited_ranks(*record, ranks)});
  }
  return waits;
}

std::string value_in(const std::vector<std::string>& environment, const std::string& name) {
  for (const std::string& assignment : environment) {
    if (assignment.starts_with(name + "=")) return assignment.substr(name.size() + 1);
  }
  return "";
}

}  // namespace rmarun
