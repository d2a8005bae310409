#pragma once

#include <cstdint>
#include <string_view>

#include "util/clock.hpp"
#include "util/waiting/wait_note.hpp"

namespace librma {

/// A thread that has slept for so many nanoseconds in one wait says what it waits for. Waits that are over
/// before cost nothing.
constexpr std::int64_t kLongWait = 100'000'000;
/// If it wakes then, it says it again after so many: the holder of a lock changes.
constexpr std::int64_t kSaidAgain = 1'000'000'000;

/// One thread's sleeping wait. It publishes what it waits for once it has become long, and withdraws that in
/// the end. The thread asks after each of its sleeps.
class LongWait {
 public:
  /// `subject` is null for a wait that is never published.
  explicit LongWait(const WaitSubject* subject)
      : subject_(subject),
        since_(subject == nullptr ? 0 : monotonic_nanoseconds()),
        next_(since_ + kLongWait) {}
  /// A wait that began at that monotonic time, in nanoseconds.
  LongWait(const WaitSubject* subject, std::int64_t since)
      : subject_(subject), since_(since), next_(since + kLongWait) {}
  ~LongWait() {
    if (slot_ != nullptr) withdraw();
  }
  LongWait(const LongWait&) = delete;
  LongWait& operator=(const LongWait&) = delete;

  /// Publishes the wait if it has become long.
  void slept();
  /// Publishes the wait now, however long it has lasted.
  void publish();
  /// Returns whether slept() has to publish the wait yet: then the thread sleeps no longer than kLongWait at
  /// once.
  [[nodiscard]] bool pending() const { return subject_ != nullptr && slot_ == nullptr; }

 private:
  void withdraw();

  const WaitSubject* subject_;  ///< null also if the wait cannot be published
  std::int64_t since_ = 0;      ///< 0 without a subject
  std::int64_t next_ = 0;       ///< when slept() publishes it again
  WaitSlot* slot_ = nullptr;    ///< while the wait is published
};

/// Holds the subject that `describe` makes, or none for NoWaitSubject.
template <typename Describe>
class DescribedWait : public LongWait {
 public:
  // clang-tidy 14 does not see that the base has a constructor.
  // NOLINTNEXTLINE(clang-analyzer-optin.cplusplus.UninitializedObject)
  explicit DescribedWait(const Describe& describe) : LongWait(&subject_), subject_(describe) {}

 private:
  WaitSubjectOf<Describe> subject_;
};
template <>
class DescribedWait<NoWaitSubject> : public LongWait {
 public:
  explicit DescribedWait(NoWaitSubject /*describe*/) : LongWait(nullptr) {}
};

/// Says which rank of which job this process is, so that its long waits are shown if its launcher has made a
/// file for them (kWaitBoardVariable). Called before the first wait of a job, and again by each job of this
/// process.
void show_waits_of(int rank, std::string_view job);
/// Says that the process is no rank any more.
void show_no_waits();
/// Says who knows the names of places; null at the job's end.
void name_waits_by(WaitPlaces* places);

}  // namespace librma
