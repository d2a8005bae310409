// The job over MPI, whose errors end it.

#include <mpi.h>

#include <exception>

#include "job.hpp"

namespace apps {

namespace {

double all_reduce(double mine, MPI_Op operation) {
  double result = 0;
  MPI_Allreduce(&mine, &result, 1, MPI_DOUBLE, operation, MPI_COMM_WORLD);
  return result;
}

}  // namespace

Job::Job(int& argc, char**& argv) { MPI_Init(&argc, &argv); }

Job::~Job() {
  // While an exception ends this rank, the others do not make the collective call.
  if (std::uncaught_exceptions() == 0) MPI_Finalize();
}

int Job::rank() const {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int Job::size() const {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

void Job::barrier() { MPI_Barrier(MPI_COMM_WORLD); }
double Job::sum(double mine) { return all_reduce(mine, MPI_SUM); }
void Job::sum(std::span<double> values) {
  MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM,
                MPI_COMM_WORLD);
}
double Job::max(double mine) { return all_reduce(mine, MPI_MAX); }
void Job::gather(std::span<const std::byte> mine, std::span<std::byte> all) {
  const int bytes = static_cast<int>(mine.size());
  MPI_Allgather(mine.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, MPI_COMM_WORLD);
}

}  // namespace apps
