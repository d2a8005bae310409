// Nonblocking operations on files while the system gives one rank no more threads: that rank takes part all
// the same. The pthread_create of this program, which the library uses too, fails on demand.

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <vector>

#include "check.hpp"
#include "file_case.hpp"

namespace {

std::atomic<bool> refuses_threads = false;
std::atomic<int> refused = 0;

}  // namespace

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                              void* argument) {
  if (refuses_threads) {
    ++refused;
    return EAGAIN;
  }
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  return create(thread, attributes, run, argument);
}

namespace {

using namespace mpi_test;

constexpr int kInts = 1000;

/// Writes and reads by each kind of operation that a thread executes. `victim` gets no threads.
void test_operations(const TestFile& path, int victim) {
  const OpenFile file(path, MPI_MODE_CREATE | MPI_MODE_RDWR);
  const int rank = rank_in(MPI_COMM_WORLD);
  SUCCEEDS(
      MPI_File_set_view(file.get(), MPI_Offset{4} * kInts * rank, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  std::vector<int> written(kInts, rank + 1);
  std::vector<int> read(kInts, 0);
  const auto comes_back = [&] {
    const bool same = read == written;
    for (int& one : written) ++one;
    return same;
  };
  MPI_Request request = MPI_REQUEST_NULL;
  refused = 0;
  refuses_threads = rank == victim;
  SUCCEEDS(MPI_File_iwrite_at_all(file.get(), 0, written.data(), kInts, MPI_INT, &request));
  SUCCEEDS(MPI_Wait(&request, MPI_STATUS_IGNORE));
  SUCCEEDS(MPI_File_iread_at_all(file.get(), 0, read.data(), kInts, MPI_INT, &request));
  SUCCEEDS(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK(comes_back());
  SUCCEEDS(MPI_File_write_at_all_begin(file.get(), 0, written.data(), kInts, MPI_INT));
  SUCCEEDS(MPI_File_write_at_all_end(file.get(), written.data(), MPI_STATUS_IGNORE));
  SUCCEEDS(MPI_File_read_at_all_begin(file.get(), 0, read.data(), kInts, MPI_INT));
  SUCCEEDS(MPI_File_read_at_all_end(file.get(), read.data(), MPI_STATUS_IGNORE));
  CHECK(comes_back());
  SUCCEEDS(MPI_File_iwrite_at(file.get(), 0, written.data(), kInts, MPI_INT, &request));
  SUCCEEDS(MPI_Wait(&request, MPI_STATUS_IGNORE));
  SUCCEEDS(MPI_File_iread_at(file.get(), 0, read.data(), kInts, MPI_INT, &request));
  SUCCEEDS(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK(comes_back());
  refuses_threads = false;
  CHECK((refused > 0) == (rank == victim));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const TestFile path("file-threads");
    for (const int victim : {0, size_of(MPI_COMM_WORLD) - 1}) test_operations(path, victim);
  }
  const int code = result();
  MPI_Finalize();
  return code;
}
