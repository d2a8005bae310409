#include "util/waiting/long_wait.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include "util/public_call.hpp"

namespace librma {
namespace {

/// Maps a page of the launcher's file. Returns null if the file does not say that it is there for this rank.
WaitPage* map_page(const std::string& path, int rank, const std::string& job) {
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  const auto map = [&](std::size_t page, int protection) {
    void* const mapped = mmap(nullptr, WaitPage::kBytes, protection, MAP_SHARED, file,
                              static_cast<off_t>(page * WaitPage::kBytes));
    return mapped == MAP_FAILED ? nullptr : mapped;
  };
  WaitPage* page = nullptr;
  struct stat status = {};
  const bool has_head = fstat(file, &status) == 0 && status.st_size >= off_t{WaitPage::kBytes};
  if (void* const mapped = has_head ? map(0, PROT_READ) : nullptr; mapped != nullptr) {
    const auto& head = *static_cast<const WaitBoardHead*>(mapped);
    const auto place = static_cast<std::size_t>(rank);
    const bool right = head.format == WaitBoardHead::kFormat && place < head.ranks &&
                       text_of(head.job) == job &&
                       static_cast<std::size_t>(status.st_size) >= wait_board_bytes(place + 1);
    if (right) page = static_cast<WaitPage*>(map(place + 1, PROT_READ | PROT_WRITE));
    munmap(mapped, WaitPage::kBytes);
  }
  close(file);
  return page;
}

/// This process's way to its page of the launcher's file, which it maps when a wait has become long for the
/// first time.
class OwnPage {
 public:
  void belong_to(int rank, std::string_view job) {
    const std::lock_guard guard(lock_);
    const char* const path = std::getenv(kWaitBoardVariable);
    page_.store(nullptr, std::memory_order_relaxed);
    wanted_.store(path != nullptr && rank >= 0, std::memory_order_relaxed);
    if (path == nullptr) return;
    path_ = path;
    job_ = job;
    rank_ = rank;
  }
  void forget() { wanted_.store(false, std::memory_order_relaxed); }

  WaitPage* get() {
    if (!wanted_.load(std::memory_order_relaxed)) return nullptr;
    if (WaitPage* const page = page_.load(std::memory_order_acquire); page != nullptr) return page;
    const std::lock_guard guard(lock_);
    if (page_.load(std::memory_order_relaxed) == nullptr) {
      WaitPage* const page = map_page(path_, rank_, job_);
      wanted_.store(page != nullptr, std::memory_order_relaxed);
      page_.store(page, std::memory_order_release);
    }
    return page_.load(std::memory_order_relaxed);
  }

 private:
  std::mutex lock_;
  std::string path_;
  std::string job_;
  int rank_ = 0;
  std::atomic<bool> wanted_ = false;       ///< a rank of a job whose launcher has made a file
  std::atomic<WaitPage*> page_ = nullptr;  ///< stays mapped, because a thread may still withdraw its record
};

OwnPage& own_page() {
  static OwnPage* const kPage = new OwnPage;  // threads of the program may wait until the process ends
  return *kPage;
}

constinit std::atomic<WaitPlaces*> places = nullptr;

/// Puts the name of the program's call in front.
void name_call(WaitNote& note) {
  const std::string_view call = public_call();
  if (!call.empty()) {
    // The name of a call that completes requests does not say what these are.
    const bool completes = call.find("ait") != std::string_view::npos;
    if (completes && !note.call.empty()) {
      const char* const joint = note.meeting != 0 ? " of " : " ";
      note.about = "for " + note.call + (note.about.empty() ? "" : joint + note.about);
    }
    note.call = call;
  } else if (note.call.empty()) {
    note.call = "a wait";
  }
  if (note.meeting == 0 || note.exact) return;
  // FNV-1a. The members of a team that are in calls of different names wait for each other.
  for (const char c : note.call)
    note.meeting = (note.meeting ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  note.meeting |= 1U;
}

WaitRecord record_of(const WaitSubject& subject, std::int64_t since) {
  WaitNote note;
  subject.describe(note);
  if (WaitPlaces* const known = places.load(std::memory_order_acquire); known != nullptr)
    known->complete(note);
  name_call(note);
  WaitRecord record = {.since = since,
                       .meeting = note.meeting,
                       .process = getpid(),
                       .thread = gettid(),
                       .any = std::uint8_t{note.any}};
  copy_text(note.call, record.call);
  copy_text(note.about, record.about);
  record.more = encode_ranks(std::move(note.ranks), record) ? 0 : 1;
  return record;
}

}  // namespace

bool encode_ranks(std::vector<int> ranks, WaitRecord& record) {
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  record.run_count = 0;
  for (std::size_t i = 0; i < ranks.size();) {
    if (record.run_count == WaitRecord::kMostRuns) return false;
    RankRun run = {.first = ranks[i], .count = 1};
    if (++i < ranks.size()) run.stride = ranks[i] - run.first;
    // Two ranks at a distance of more than 1 are not joined: the second one may begin a longer run.
    const bool joins = run.stride == 1 || (i + 1 < ranks.size() && ranks[i + 1] - ranks[i] == run.stride);
    for (; joins && i < ranks.size() && ranks[i] == run.first + run.count * run.stride; ++i) ++run.count;
    record.runs[record.run_count++] = run;
  }
  return true;
}

void LongWait::slept() {
  if (subject_ == nullptr) return;
  const std::int64_t now = monotonic_nanoseconds();
  if (now < next_) return;
  next_ = now + kSaidAgain;
  publish();
}

void LongWait::publish() {
  const WaitSubject* const subject = std::exchange(subject_, nullptr);
  if (subject == nullptr) return;
  WaitPage* const page = own_page().get();
  if (page == nullptr) return;
  try {
    const WaitRecord record = record_of(*subject, since_);
    if (slot_ == nullptr) {
      const auto slot =
          std::ranges::find_if(page->slots, [](WaitSlot& wait_slot) { return wait_slot.claim(); });
      if (slot == page->slots.end()) return;
      slot_ = &*slot;
    }
    slot_->write(record);
    subject_ = subject;
  } catch (const std::bad_alloc&) {  // a wait that cannot be described is not shown
  }
}

void LongWait::withdraw() {
  slot_->write({});
  slot_->give_back();
}

void show_waits_of(int rank, std::string_view job) { own_page().belong_to(rank, job); }
void show_no_waits() { own_page().forget(); }
void name_waits_by(WaitPlaces* known) { places.store(known, std::memory_order_release); }

}  // namespace librma
