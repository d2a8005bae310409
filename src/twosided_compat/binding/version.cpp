// The library's version, the processor's name and the clock.

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "rma/rma.h"
#include "twosided_compat/calls.hpp"
#include "twosided_compat/objects/errors.hpp"

namespace librma::mpi {
namespace {

/// The binary interface of this library.
#ifdef RMA_MPI_OPENMPI
constexpr char kInterface[] = "the ABI of Open MPI 4.1 and 5.0";
#elif defined(RMA_MPI_MPICH)
constexpr char kInterface[] = "the ABI of MPICH 4.0";
#else
constexpr char kInterface[] = "MPI ABI 1.0";
static_assert(MPI_ABI_VERSION == 1 && MPI_ABI_SUBVERSION == 0);
#endif

double seconds(const timespec& time) {
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

int get_version(int* version, int* subversion) {
  *version = MPI_VERSION;
  *subversion = MPI_SUBVERSION;
  return MPI_SUCCESS;
}

int get_library_version(char* version, int* resultlen) {
  if (version == nullptr || resultlen == nullptr) return failure(MPI_ERR_ARG, "version or resultlen is null");
  const std::string text =
      fmt::format("librma {}, MPI {}.{}, {}", rma_version(), MPI_VERSION, MPI_SUBVERSION, kInterface);
  static_assert(sizeof kInterface + 100 < MPI_MAX_LIBRARY_VERSION_STRING);
  std::memcpy(version, text.c_str(), text.size() + 1);
  *resultlen = static_cast<int>(text.size());
  return MPI_SUCCESS;
}

int get_processor_name(char* name, int* resultlen) {
  if (name == nullptr || resultlen == nullptr) return failure(MPI_ERR_ARG, "name or resultlen is null");
  std::array<char, MPI_MAX_PROCESSOR_NAME> host = {};
  if (gethostname(host.data(), host.size() - 1) != 0) return failure(MPI_ERR_OTHER, std::strerror(errno));
  const std::size_t length = std::strlen(host.data());
  std::memcpy(name, host.data(), length + 1);
  *resultlen = static_cast<int>(length);
  return MPI_SUCCESS;
}

double wtime() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);  // never steps back, as a clock that somebody sets may
  return seconds(now);
}

double wtick() {
  timespec resolution = {};
  clock_getres(CLOCK_MONOTONIC, &resolution);
  return seconds(resolution);
}

// Profilers take this call over; the library itself has nothing to switch.
int pcontrol(const int /*level*/) { return MPI_SUCCESS; }

}  // namespace librma::mpi
