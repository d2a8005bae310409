#include "rmarun/binding.hpp"

#include <hwloc.h>
#include <hwloc/glibc-sched.h>

#include <cerrno>
#include <cstdlib>
#include <memory>

namespace rmarun {
namespace {

struct TopologyDeleter {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
struct BitmapDeleter {
  void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, BitmapDeleter>;

}  // namespace

librma::Result<std::vector<cpu_set_t>> allowed_cores() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0)
    return librma::system_failure(RMA_ERR_SYSTEM, "hwloc_topology_init", errno);
  const std::unique_ptr<hwloc_topology, TopologyDeleter> topology(raw);
  if (hwloc_topology_load(raw) != 0)
    return librma::system_failure(RMA_ERR_SYSTEM, "hwloc_topology_load", errno);
  // hwloc has left out the cores that the container forbids; a taskset around rmarun narrows the set further.
  const Bitmap allowed(hwloc_bitmap_alloc());
  if (hwloc_get_cpubind(raw, allowed.get(), HWLOC_CPUBIND_PROCESS) != 0) {
    return librma::system_failure(RMA_ERR_SYSTEM, "cannot read this process's own binding", errno);
  }

  std::vector<cpu_set_t> cores;
  const Bitmap mine(hwloc_bitmap_alloc());
  for (hwloc_obj_t core = nullptr;
       (core = hwloc_get_next_obj_by_type(raw, HWLOC_OBJ_CORE, core)) != nullptr;) {
    hwloc_bitmap_and(mine.get(), core->cpuset, allowed.get());
    if (hwloc_bitmap_iszero(mine.get())) continue;
    cpu_set_t set;
    hwloc_cpuset_to_glibc_sched_affinity(raw, mine.get(), &set, sizeof set);
    cores.push_back(set);
  }
  if (cores.empty()) {
    return librma::Status(RMA_ERR_SYSTEM, "hwloc finds no cores on this machine: run with --bind none");
  }
  return cores;
}

void look_for_processors_only() {
  // NOLINTBEGIN(concurrency-mt-unsafe): one thread
  if (std::getenv("HWLOC_COMPONENTS") != nullptr) return;
  ::setenv("HWLOC_COMPONENTS", "linux,x86,no_os,stop", 0);
  // These are built in. hwloc would load its plugins all the same, with libraries such as X11's and OpenCL's.
  ::setenv("HWLOC_PLUGINS_PATH", "/nonexistent", 0);
  // NOLINTEND(concurrency-mt-unsafe)
}

}  // namespace rmarun
