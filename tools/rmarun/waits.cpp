#include "rmarun/waits.hpp"

#include <fcntl.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): SIGXFSZ is POSIX's
#include <sys/mman.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <fstream>
#include <new>
#include <optional>
#include <string_view>

#include "rmarun/spawn.hpp"
#include "util/wait_board.hpp"

namespace rmarun {
namespace {

/// Returns a text that another process wrote, with nothing in it that a terminal would act on.
template <std::size_t kSize>
std::string printable(const std::array<char, kSize>& from) {
  std::string text(rma::text_of(from));
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  return text;
}

/// Returns the awaited ranks that exist. Nothing in `record` need be true.
std::vector<int> awaited_ranks(const rma::WaitRecord& record, std::size_t ranks) {
  std::vector<int> awaited;
  const std::size_t runs = std::min<std::size_t>(record.run_count, rma::WaitRecord::kMostRuns);
  for (const rma::RankRun& run : std::span(record.runs).first(runs)) {
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

RankState::Process process_state(const Rank& rank) {
  if (!rank.running) return RankState::Process::ended;
  std::ifstream file("/proc/" + std::to_string(rank.pid) + "/stat");
  std::string line;
  std::getline(file, line);
  const auto name_end = line.rfind(')');
  if (name_end == std::string::npos || name_end + 2 >= line.size()) return RankState::Process::sleeps;
  switch (line[name_end + 2]) {
    case 'R':
      return RankState::Process::computes;
    case 'T':
    case 't':
      return RankState::Process::stopped;
    case 'Z':
    case 'X':
      return RankState::Process::ended;
    default:
      return RankState::Process::sleeps;
  }
}

}  // namespace

Waits::~Waits() {
  if (mapped_ != nullptr) ::munmap(mapped_, rma::wait_board_bytes(ranks_));
}

void Waits::make(const std::string& directory, std::size_t ranks, const std::string& job) {
  const std::string path = directory + "/waits";
  const Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.open()) return;
  const auto bytes = static_cast<off_t>(rma::wait_board_bytes(ranks));
  // With all its blocks, because a rank that found none for a page that it writes would be killed. A limit of the
  // size of files is an error then, and no signal.
  struct sigaction before {};
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGXFSZ, &ignore, &before);
  const bool has_room = ::posix_fallocate(file.get(), 0, bytes) == 0;
  ::sigaction(SIGXFSZ, &before, nullptr);
  if (!has_room) return;
  void* const mapped =
      ::mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (mapped == MAP_FAILED) return;
  auto& head = *new (mapped) rma::WaitBoardHead;
  head.ranks = ranks;
  rma::copy_text(job, head.job);
  path_ = path;
  mapped_ = mapped;
  ranks_ = ranks;
}

std::string Waits::assignment() const {
  return path_.empty() ? "" : std::string(rma::kWaitBoardVariable) + "=" + path_;
}

const rma::WaitPage& Waits::page(std::size_t rank) const {
  return *reinterpret_cast<const rma::WaitPage*>(static_cast<const std::byte*>(mapped_) +
                                                 (rank + 1) * rma::WaitPage::kBytes);
}

std::vector<RankState> Waits::look(const std::vector<Rank>& ranks) const {
  std::vector<RankState> states(ranks.size());
  using Records = std::array<std::optional<rma::WaitRecord>, rma::WaitPage::kSlots>;
  const auto read = [&](std::size_t rank) {
    Records records;
    std::ranges::transform(page(rank).slots, records.begin(),
                           [](const rma::WaitSlot& one) { return one.read(); });
    return records;
  };
  const std::size_t shown = std::min(ranks.size(), ranks_);
  std::vector<Records> before(shown);
  for (std::size_t rank = 0; rank < shown; ++rank) before[rank] = read(rank);
  const std::int64_t now = monotonic_nanoseconds();
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    states[rank].process = process_state(ranks[rank]);
    if (rank >= shown) continue;
    const Records after = read(rank);
    for (std::size_t slot = 0; slot < after.size(); ++slot) {
      const auto& record = before[rank][slot];
      // Only what was so at one moment for all ranks: a cycle of waits that were never there together is none.
      const bool stays = record && after[slot] && record->thread != 0 &&
                         record->since == after[slot]->since && record->thread == after[slot]->thread;
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
