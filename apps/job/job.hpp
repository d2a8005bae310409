/// @file
/// A job of ranks, as the applications need it besides their own communication. It is implemented over librma
/// and over MPI; a program is linked with one of the two.
#ifndef APPS_JOB_HPP
#define APPS_JOB_HPP

#include <cstddef>
#include <span>

namespace apps {

/// The constructor joins the job, and the destructor leaves it. The calls are collective, but for rank() and
/// size(). After a failure they throw or end the job.
class Job {
 public:
  Job(int& argc, char**& argv);
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  [[nodiscard]] int rank() const;
  [[nodiscard]] int size() const;

  void barrier();
  [[nodiscard]] double sum(double mine);
  /// Replaces each element by its sum over all ranks, whose spans have the same length.
  void sum(std::span<double> values);
  [[nodiscard]] double max(double mine);
  /// Returns every rank's `mine`, which have the same length, in the order of ranks.
  void gather(std::span<const std::byte> mine, std::span<std::byte> all);
};

}  // namespace apps

#endif
