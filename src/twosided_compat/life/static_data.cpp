#include "twosided_compat/life/static_data.hpp"

#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "rma/rma.h"
#include "util/system/program_data.hpp"

namespace librma::mpi {
namespace {

// Less static data hold no buffers that are worth it.
constexpr std::size_t kLeast = std::size_t{64} << 10U;
// A first touch of a shared page takes about 0.3 us longer than that of a private one
// (bench/process_heap.sh): for this many bytes, 20 ms.
constexpr std::size_t kMost = std::size_t{256} << 20U;

/// Returns whether the system gives huge pages to private memory unasked. Shared memory would go without.
bool private_memory_is_huge() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string modes;
  std::getline(file, modes);
  return modes.find("[always]") != std::string::npos;
}

std::string_view value_of(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr ? value : "";
}

/// Returns whether the launcher says that all ranks are on this host. To devices between hosts, shared memory
/// is registered anew for each transfer.
bool starts_on_one_host() {
  if (value_of("PMIX_NAMESPACE").find("-rmarun-") != std::string_view::npos) return true;
  if (const std::string_view nodes = value_of("SLURM_STEP_NUM_NODES"); !nodes.empty()) return nodes == "1";
  const std::string_view ranks = value_of("OMPI_COMM_WORLD_SIZE");
  return !ranks.empty() && ranks == value_of("OMPI_COMM_WORLD_LOCAL_SIZE");
}

}  // namespace

void share_static_data() {
  // An interpreter, which loads this library later, has no buffers in its static data. The libraries of all
  // MPIs that a program may have been linked with begin so, and those of Fortran: libmpi_abi, libmpich,
  // libmpi_mpifh.
  if (!program_needs("libmpi")) return;
  const ProgramData data = find_program_data();
  if (data.bytes < kLeast || data.bytes > kMost) return;
  if (!starts_on_one_host() || private_memory_is_huge()) return;
  // OpenSHMEM in the same program may have asked for the same, and a program for something else.
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the executable's segment
  static_cast<void>(rma_alias_at_init(reinterpret_cast<void*>(data.base), data.bytes));
}

}  // namespace librma::mpi
