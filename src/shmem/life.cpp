// The beginning and the end of the job.

#include "shmem/life.hpp"

#include <sys/auxv.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

#include "rma/rma.h"
#include "shmem.h"
#include "shmem/active_sets.hpp"
#include "shmem/heap.hpp"
#include "shmem/job.hpp"
#include "shmem/options.hpp"
#include "shmem/static_data.hpp"
#include "shmem/teams.hpp"

namespace rma::shmem {
namespace {

std::mutex life_lock;  // guards the members below, and beginning and ending the job
int nesting = 0;
int thread_level = SHMEM_THREAD_SINGLE;
bool ends_at_exit = false;
std::vector<Peer> peers;

/// What the PEs tell each other.
struct Memory {
  std::uintptr_t heap;
  std::uintptr_t data;
  std::size_t data_bytes;
  std::uintptr_t entry;  ///< the distance from the data to the program's entry point
};

/// Static data lie at the same places of the executable's image on all PEs, if they run the same executable. The image
/// itself may lie elsewhere (ASLR).
void check_same_program(const std::vector<Memory>& all, const Memory& mine) {
  for (const Memory& other : all) {
    if (other.data_bytes == mine.data_bytes && other.entry == mine.entry) continue;
    die("shmem_init",
        fmt::format("this PE and PE {} do not run the same executable: {} and {} bytes of static data",
                    &other - all.data(), mine.data_bytes, other.data_bytes));
  }
}

View view_of(std::uintptr_t theirs, std::uintptr_t mine) {
  return {.mapped = 0, .here = 0, .there = static_cast<std::ptrdiff_t>(theirs - mine)};
}

/// Fills in how this PE reaches `pe`.
void look_at(int pe, const Memory& theirs, const Memory& mine) {
  Peer& peer = peers[static_cast<std::size_t>(pe)];
  peer.heap = view_of(theirs.heap, mine.heap);
  peer.data = view_of(theirs.data, mine.data);
  void* here = nullptr;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of the other PE
  if (rma_map(reinterpret_cast<void*>(theirs.heap), job.heap.bytes, pe, &here) == RMA_SUCCESS) {
    peer.heap.mapped = job.heap.bytes;
    peer.heap.here = static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(here) - mine.heap);
  }
  if (pe == job.me) peer.data = {.mapped = job.data.bytes, .here = 0, .there = 0};
}

void say(const Options& options) {
  if (job.me != 0) return;
  if (options.version || options.info) {
    std::printf("%s, OpenSHMEM %d.%d\n", SHMEM_VENDOR_STRING, SHMEM_MAJOR_VERSION, SHMEM_MINOR_VERSION);
  }
  if (options.info) std::fputs(describe(options, job.heap.bytes).c_str(), stdout);
  std::fflush(stdout);
}

/// Begins the job. The caller holds life_lock.
void begin(Call call) {
  require(rma_init(), call);
  const Options options = read_options();
  const HeapRange heap = open_heap(options);
  job.me = rma_rank();
  job.debug = options.debug;
  job.heap = {.base = reinterpret_cast<std::uintptr_t>(heap.base), .bytes = heap.bytes};
  job.data = find_static_data();
  if (job.data.bytes != 0) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the executable's segment
    require(rma_register(reinterpret_cast<void*>(job.data.base), job.data.bytes), call);
  }
  const Memory mine = {.heap = job.heap.base,
                       .data = job.data.base,
                       .data_bytes = job.data.bytes,
                       .entry = getauxval(AT_ENTRY) - job.data.base};
  std::vector<Memory> all(static_cast<std::size_t>(rma_size()));
  require(rma_allgather(rma_team_world(), all.data(), &mine, sizeof mine), call);
  check_same_program(all, mine);
  peers.assign(all.size(), {});
  for (std::size_t pe = 0; pe < all.size(); ++pe) {
    look_at(static_cast<int>(pe), all[pe], mine);
  }
  open_teams();
  job.peers = peers.data();
  job.n_pes = static_cast<unsigned>(peers.size());
  say(options);
  // All PEs have registered their data now.
  require(rma_barrier(rma_team_world()), call);
}

/// Ends the job. The caller holds life_lock.
void end(Call call) {
  require(rma_barrier(rma_team_world()), call);
  job.n_pes = 0;
  forget_active_sets();
  close_teams();
  if (job.data.bytes != 0) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the executable's segment
    require(rma_unregister(reinterpret_cast<void*>(job.data.base)), call);
  }
  close_heap();
  job = Job();
  require(rma_finalize(), call);
}

/// A program that returns from main() without shmem_finalize ends the job so. A forked child is no member of it.
void end_at_exit() {
  const std::lock_guard guard(life_lock);
  if (nesting == 0 || rma_initialized() == 0) return;
  nesting = 0;
  end("exit");
}

void enter(Call call, int level) {
  const std::lock_guard guard(life_lock);
  if (nesting == 0) begin(call);
  ++nesting;
  thread_level = level;
  if (!ends_at_exit && std::atexit(end_at_exit) != 0)
    die(call, "the C library has no room for an exit handler");
  ends_at_exit = true;
}

}  // namespace

void init(Call call) { enter(call, SHMEM_THREAD_SINGLE); }

int init_thread(Call call, int requested, int* provided) {
  if (requested < SHMEM_THREAD_SINGLE || requested > SHMEM_THREAD_MULTIPLE) {
    die(call, fmt::format("there is no thread level {}", requested));
  }
  // Calls are thread-safe always.
  enter(call, SHMEM_THREAD_MULTIPLE);
  if (provided != nullptr) *provided = SHMEM_THREAD_MULTIPLE;
  return 0;
}

void start_pes(Call call, int /*n_pes*/) { init(call); }

void query_thread(Call call, int* provided) {
  require_initialized(call);
  *provided = thread_level;
}

void query_initialized(Call /*call*/, int* initialized) { *initialized = job.n_pes != 0 ? 1 : 0; }

void finalize(Call call) {
  const std::lock_guard guard(life_lock);
  if (nesting == 0) die(call, "OpenSHMEM is not initialized");
  if (--nesting == 0) end(call);
}

void global_exit(Call call, int status) {
  rma_abort(status, fmt::format("PE {}: {}({})", rma_rank(), call, status).c_str());
  __builtin_unreachable();  // rma_abort does not return
}

int my_pe(Call call) {
  require_initialized(call);
  return job.me;
}

int n_pes(Call call) {
  require_initialized(call);
  return static_cast<int>(job.n_pes);
}

void info_get_version(Call /*call*/, int* major, int* minor) {
  *major = SHMEM_MAJOR_VERSION;
  *minor = SHMEM_MINOR_VERSION;
}

void info_get_name(Call /*call*/, char* name) {
  std::memcpy(name, SHMEM_VENDOR_STRING, sizeof SHMEM_VENDOR_STRING);
}

// Without a profiler between the program and this library the call does nothing.
void pcontrol(Call /*call*/, int /*level*/) {}

}  // namespace rma::shmem
