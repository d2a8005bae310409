/// @file
/// What the program needs to know of the other ranks, apart from their grid points (halo.hpp). Implemented
/// over librma and over MPI; a program is linked with one of the two.
#ifndef NAS_MG_JOB_HPP
#define NAS_MG_JOB_HPP

#include <cstddef>
#include <span>

namespace nas_mg {

/// Joins the job when made, leaves it when destroyed. Its calls are collective, and throw or end the job
/// where they fail.
class Job {
 public:
  Job(int& argc, char**& argv);
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  [[nodiscard]] int rank() const;
  [[nodiscard]] int size() const;
  /// What moves the grid points, in a few words.
  static const char* communication();

  void barrier();
  [[nodiscard]] double sum(double mine);
  [[nodiscard]] double max(double mine);
  /// Everyone's `mine`, equally long, one after the other by rank.
  void gather(std::span<const std::byte> mine, std::span<std::byte> all);
};

}  // namespace nas_mg

#endif
