#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "util/waiting/wait_board.hpp"

namespace librma {

/// The purpose of a wait, in the words of the code that waits. It is made only for a thread that has waited
/// for long, so it may cost something, and it may throw std::bad_alloc.
struct WaitNote {
  static constexpr int kNobody = -1;
  static constexpr int kAnybody = -2;

  std::string call;   ///< what the wait is called if no call of the program's is on the stack: "a receive"
  std::string about;  ///< the arguments
  std::vector<int> ranks;     ///< awaited ranks
  bool any = false;           ///< one of them is enough
  std::uint64_t meeting = 0;  ///< see WaitRecord
  bool exact =
      false;  ///< calls of any name may have this number; else only those of one name belong together

  /// A message that is awaited, or that waits to be taken. WaitPlaces turns it into the three above.
  struct Message {
    bool sent = false;
    int peer = kNobody;  ///< a rank, or kAnybody
    int tag = kNobody;   ///< or any other negative number for a wildcard
    std::uint32_t context = 0;
  };
  std::optional<Message> message = {};
  std::optional<std::uint64_t> team = {};  ///< the id of the team that meets
};

/// Finds the names of the contexts and teams that notes of waits refer to.
class WaitPlaces {
 public:
  WaitPlaces() = default;
  WaitPlaces(const WaitPlaces&) = delete;
  WaitPlaces& operator=(const WaitPlaces&) = delete;
  virtual ~WaitPlaces() = default;

  /// Completes a note. Waits for no lock, because the thread that waits may hold it.
  virtual void complete(WaitNote& note) = 0;
};

/// Describes a wait.
class WaitSubject {
 public:
  WaitSubject() = default;
  WaitSubject(const WaitSubject&) = delete;
  WaitSubject& operator=(const WaitSubject&) = delete;
  virtual ~WaitSubject() = default;
  virtual void describe(WaitNote& note) const = 0;
};
template <typename Describe>
class WaitSubjectOf final : public WaitSubject {
 public:
  explicit WaitSubjectOf(const Describe& describe) : describe_(describe) {}
  void describe(WaitNote& note) const override { describe_(note); }

 private:
  const Describe describe_;
};

/// A wait of which nothing is said, such as that of a thread of the library's own.
struct NoWaitSubject {
  void operator()(WaitNote& /*note*/) const {}
};

/// The ranks as runs, for a record. They are sorted, and each is there once. Returns false if there are more
/// runs than a record holds.
bool encode_ranks(std::vector<int> ranks, WaitRecord& record);

}  // namespace librma
