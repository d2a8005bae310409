#pragma once

#include <fmt/format.h>

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "coarrays/outcome.hpp"
#include "rma/rma.h"

namespace librma::coarrays {

/// A team of images. An image's index in it is one more than its team rank.
struct Team {
  rma_team_t handle = nullptr;
  int number = -1;         ///< as form team gave it; -1: the initial team
  std::vector<int> ranks;  ///< world ranks, in the order of team ranks
  int me = 0;              ///< this image's team rank
  const Team* parent = nullptr;
};

/// The team that is current, as the short paths need it.
struct CurrentTeam {
  const Team* team = nullptr;  ///< null: the runtime has not started
  const int* ranks = nullptr;  ///< Team::ranks
  unsigned images = 0;
};
extern constinit CurrentTeam current;

/// Locks that an image may hold or wait for at a time.
constexpr std::size_t kLockPlaces = 1024;

/// The memory of each image by which the others synchronize with it.
struct Meeting {
  std::uint64_t run;                              ///< of image 1: a random number
  std::uint64_t ended;                            ///< the number of images that have begun to stop, or failed
  std::array<std::uint64_t, kLockPlaces> places;  ///< of the queues of locks (locks.cpp)
  std::array<std::uint64_t, kLockPlaces> fronts;  ///< which place is in front of each
};
/// What an image knows of each rank, behind its Meeting. The ranks write it.
struct Partner {
  std::uint64_t syncs;  ///< how often the rank has executed sync images with this image
  /// 0 while the rank runs. kFailed if it has failed. If it stops, one more than the number of collective
  /// statements of the initial team that it has executed.
  std::uint64_t end;
  std::uint64_t team;  ///< the rank's last form team (teams.cpp)
  /// Of an image that stops: the round of barriers in which it does (Progress::rounds). Of one that fails:
  /// one more than the number of its collective statements, or 0 if that is not known.
  std::uint64_t end_place;
};
constexpr std::uint64_t kFailed = ~std::uint64_t{0};

/// Counts the collective statements that this image has executed in the initial team. An image that has ended
/// takes no part in those behind Partner::end.
struct Progress {
  std::uint64_t statements = 0;
  std::uint64_t rounds = 0;  ///< the barriers of sync all, and those of images that have stopped
};
extern constinit Progress progress;

/// This image's own meeting memory, and the addresses of that of all ranks.
struct Meetings {
  Meeting* mine = nullptr;
  std::vector<void*> all;        ///< by world rank
  std::vector<pid_t> processes;  ///< by world rank; meaningful for ranks of this host

  [[nodiscard]] Partner* partners() const { return partners_of(mine); }
  /// Returns the address of the entry for `about` in the memory of `rank`.
  [[nodiscard]] Partner* partner(int rank, int about) const { return partners_of(of(rank)) + about; }
  [[nodiscard]] Meeting* of(int rank) const {
    return static_cast<Meeting*>(all[static_cast<std::size_t>(rank)]);
  }

 private:
  static Partner* partners_of(Meeting* meeting) { return reinterpret_cast<Partner*>(meeting + 1); }
};
extern Meetings meetings;

/// Joins the job if this process has not. Coarrays of the program's units register before main begins, so the
/// first of them starts the runtime.
void start();

/// Returns this image's world rank.
inline int my_rank() { return current.team->ranks[static_cast<std::size_t>(current.team->me)]; }

/// Returns the world rank of an image of the current team, or -1 if there is no such image.
inline int rank_of(int image) {
  const unsigned place = static_cast<unsigned>(image) - 1;
  return place < current.images ? current.ranks[place] : -1;
}
/// Returns the same for statements in which image 0 is the calling image.
inline int rank_or_self(int image) { return image == 0 ? my_rank() : rank_of(image); }

/// Reports that the team, the current one by default, has no such image.
[[gnu::cold]] void refuse_image(const Outcome& outcome, int image, std::size_t images = current.images);

/// Returns whether form team has made the team.
bool is_team(const Team* team);
/// Makes `team` the current one.
void enter(const Team& team);

/// Loads a word of this image that other images write.
inline std::uint64_t load(const std::uint64_t& word) { return __atomic_load_n(&word, __ATOMIC_ACQUIRE); }

/// Waits until `met()` is true of words of this image that other images write.
template <typename Met>
void wait_until(const Met& met) {
  if (met()) return;
  const auto called = [](void* context) { return (*static_cast<const Met*>(context))() ? 1 : 0; };
  require(rma_wait_for(called, const_cast<Met*>(&met)));  // NOLINT(cppcoreguidelines-pro-type-const-cast)
}

/// Tells all images that this one stops or, with kFailed, that it fails.
void announce_end(std::uint64_t end);
/// Looks which images have died without a word, and notes them as failed.
void find_failed_images();
/// Returns whether the rank is of this host and its process has ended. Calls nothing of librma.
bool process_has_ended(int rank);

/// Draws Meeting::run.
void draw_run_number();

/// Has leave() call a function when no image makes calls of others any more. There is one at most.
void before_leaving(void (*function)());

/// Ends this image's part of the job: says so to the others, waits until all have stopped, and leaves.
void leave();

}  // namespace librma::coarrays
