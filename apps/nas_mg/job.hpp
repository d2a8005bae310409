/// @file
/// The communication of the program, apart from grid points (halo.hpp). It is implemented over librma and
/// over MPI; a program is linked with one of the two.
#ifndef NAS_MG_JOB_HPP
#define NAS_MG_JOB_HPP

#include <cstddef>
#include <span>

namespace nas_mg {

/// The constructor joins the job, and the destructor leaves it. The calls are collective. After a failure
/// they throw or end the job.
class Job {
 public:
  Job(int& argc, char**& argv);
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  [[nodiscard]] int rank() const;
  [[nodiscard]] int size() const;
  /// Returns a short text that says what moves the grid points.
  static const char* communication();

  void barrier();
  [[nodiscard]] double sum(double mine);
  [[nodiscard]] double max(double mine);
  /// Returns every rank's `mine`, which have the same length, in the order of ranks.
  void gather(std::span<const std::byte> mine, std::span<std::byte> all);
};

}  // namespace nas_mg

#endif
