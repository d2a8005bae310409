// The beginning and the end of the job.

#include "shmem/life/life.hpp"

#include <sys/auxv.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "rma/direct.h"
#include "rma/rma.h"
#include "rma/waits.h"
#include "shmem.h"
#include "shmem/collectives/active_sets.hpp"
#include "shmem/job/job.hpp"
#include "shmem/job/options.hpp"
#include "shmem/memory/heap.hpp"
#include "shmem/memory/static_data.hpp"
#include "shmem/teams/teams.hpp"
#include "shmem/transfers/locks.hpp"

extern "C" {
RMA_WAIT_LIBRARY_SYMBOLS
}

namespace librma::shmem {
namespace {

/// Tells librma of this library's calls, for reports about waits.
void explain_waits() {
  static const rma_wait_library_t kLibrary = {.header = __ehdr_start,
                                              .dynamic = rma_library_dynamic,
                                              .find_place = nullptr,
                                              .find_writer = find_pe_in_front};
  rma_waits_know(&kLibrary);
}

std::mutex life_lock;  // guards the members below, and beginning and ending the job
int nesting = 0;
int thread_level = SHMEM_THREAD_SINGLE;
bool ends_at_exit = false;
std::vector<PeerAddresses> peers;

/// A PE's memory, as it describes it to the others.
struct Memory {
  std::uintptr_t heap;
  std::uintptr_t data;
  std::size_t data_bytes;
  std::uintptr_t data_alias;  ///< where static data lie in the heap, or 0
  std::uint64_t program;
  std::uintptr_t entry;  ///< the distance from the data to the program's entry point
};

/// The values that must be equal on all PEs before they make the heap together.
struct Common {
  std::uint64_t symmetric_size;  ///< 0: the default
  std::uint64_t debug;
};

/// Ends the job unless all PEs have the same options.
void check_same_options(Call call, const Options& options) {
  const Common mine = {.symmetric_size = options.symmetric_size.value_or(0),
                       .debug = options.debug ? 1U : 0U};
  std::vector<Common> all(static_cast<std::size_t>(rma_size()));
  require(rma_allgather(rma_team_world(), all.data(), &mine, sizeof mine), call);
  for (std::size_t pe = 0; pe < all.size(); ++pe) {
    const auto same = [&](const char* name, std::uint64_t ours, std::uint64_t theirs) {
      if (ours == theirs) return;
      die(call, fmt::format("{} is {} on this PE and {} on PE {}: set it alike on all PEs", name, ours,
                            theirs, pe));
    };
    same("SHMEM_SYMMETRIC_SIZE (0: not set)", mine.symmetric_size, all[pe].symmetric_size);
    same("SHMEM_DEBUG", mine.debug, all[pe].debug);
  }
}

/// Static data lie at the same places of the executable's image on all PEs, if they run the same executable.
/// The image itself may lie elsewhere (ASLR).
void check_same_program(const std::vector<Memory>& all, const Memory& mine) {
  for (const Memory& other : all) {
    if (other.data_bytes == mine.data_bytes && other.entry == mine.entry && other.program == mine.program)
      continue;
    die("shmem_init",
        fmt::format(
            "this PE and PE {} do not run the same executable: {} and {} bytes of static data, build IDs "
            "with the hashes {:x} and {:x}; start all PEs with one file",
            &other - all.data(), mine.data_bytes, other.data_bytes, mine.program, other.program));
  }
}

/// Returns how this PE reaches the memory of `pe` that has the address `theirs` there and stands for the own
/// `range`.
View look_at(int pe, std::uintptr_t theirs, const Range& range) {
  View view = {.mapped = 0, .here = 0, .there = static_cast<std::ptrdiff_t>(theirs - range.base)};
  void* here = nullptr;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of the other PE
  if (range.bytes != 0 && rma_map(reinterpret_cast<void*>(theirs), range.bytes, pe, &here) == RMA_SUCCESS) {
    view.mapped = range.bytes;
    view.here = static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(here) - range.base);
  }
  return view;
}

/// Fills in how this PE reaches `pe`.
void look_at(int pe, const Memory& theirs) {
  PeerAddresses& peer = peers[static_cast<std::size_t>(pe)];
  peer.awaits_stores = rma_direct.peers[pe].awaits_stores;
  peer.heap = look_at(pe, theirs.heap, job.heap);
  peer.data = look_at(pe, theirs.data_alias != 0 ? theirs.data_alias : theirs.data, job.data);
  if (pe == job.me) {
    peer.data.mapped = job.data.bytes;
    peer.data.here = 0;
  }
}

/// Lets other PEs reach this PE's static data. Returns where they lie in the heap, or 0 if they do not: the
/// others then use the registration. It also serves transfers between hosts from and to this PE's own static
/// data.
std::uintptr_t open_static_data(Call call) {
  if (job.data.bytes == 0) return 0;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the executable's segment
  void* const data = reinterpret_cast<void*>(job.data.base);
  require(rma_register(data, job.data.bytes), call);
  void* in_heap = nullptr;
  if (rma_find_alias(data, job.data.bytes, &in_heap) != RMA_SUCCESS) return 0;
  return reinterpret_cast<std::uintptr_t>(in_heap);
}

void say(const Options& options, const std::string& refusal) {
  if (job.me != 0) return;
  if (options.version || options.info) {
    std::printf("%s, OpenSHMEM %d.%d\n", SHMEM_VENDOR_STRING, SHMEM_MAJOR_VERSION, SHMEM_MINOR_VERSION);
  }
  if (options.info) std::fputs(describe(options, job.heap.bytes, refusal).c_str(), stdout);
  std::fflush(stdout);
}

/// Puts shared memory behind the static data. Returns the reason if that is impossible: PEs of this host then
/// reach them by system calls.
std::string alias_static_data() {
  if (job.data.bytes == 0) return {};
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the executable's segment
  if (rma_alias(reinterpret_cast<void*>(job.data.base), job.data.bytes) == RMA_SUCCESS) return {};
  return rma_last_error();
}

/// If the program initialises another library first, that one's rma_init aliases the static data.
[[gnu::constructor]] void request_alias() {
  const Range data = find_static_data();
  // A failure would come again at shmem_init, which has a use for the text.
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the executable's segment
  if (data.bytes != 0) static_cast<void>(rma_alias_at_init(reinterpret_cast<void*>(data.base), data.bytes));
}

/// Begins the job. The caller holds life_lock.
void begin(Call call) {
  job.data = find_static_data();
  std::string refusal = alias_static_data();
  explain_waits();  // before the first wait, which is for the other PEs
  require(rma_init(), call);
  const Options options = read_options();
  check_same_options(call, options);
  const HeapRange heap = open_heap(options);
  job.me = rma_rank();
  job.debug = options.debug;
  job.heap = {.base = reinterpret_cast<std::uintptr_t>(heap.base), .bytes = heap.bytes};
  const Memory mine = {.heap = job.heap.base,
                       .data = job.data.base,
                       .data_bytes = job.data.bytes,
                       .data_alias = open_static_data(call),
                       .program = identify_program(),
                       .entry = getauxval(AT_ENTRY) - job.data.base};
  // An earlier job of this process may have made the alias, or the program may have closed its file.
  if (mine.data_alias != 0) {
    refusal.clear();
  } else if (refusal.empty() && job.data.bytes != 0) {
    refusal = rma_last_error();
  }
  std::vector<Memory> all(static_cast<std::size_t>(rma_size()));
  require(rma_allgather(rma_team_world(), all.data(), &mine, sizeof mine), call);
  check_same_program(all, mine);
  job.data_in_heap =
      std::all_of(all.begin(), all.end(), [](const Memory& memory) { return memory.data_alias != 0; });
  peers.assign(all.size(), {});
  for (std::size_t pe = 0; pe < all.size(); ++pe) {
    look_at(static_cast<int>(pe), all[pe]);
  }
  job.all_mapped = std::all_of(peers.begin(), peers.end(), [](const PeerAddresses& peer) {
    return peer.heap.mapped == job.heap.bytes && peer.data.mapped == job.data.bytes;
  });
  open_teams();
  job.peers = peers.data();
  job.n_pes = static_cast<unsigned>(peers.size());
  say(options, refusal);
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

/// Finalizes for a program that ends successfully without shmem_finalize: it returns from main() or calls
/// exit(). One that fails must not wait for the other PEs, which may wait for it: the launcher ends the job
/// with its code. A forked child is not a member of the job. Neither of them may take the lock, which another
/// thread may hold for ever.
void end_at_exit(int status, void* /*unused*/) {
  constexpr int kSeenByParent = 0xff;
  if ((status & kSeenByParent) != 0 || rma_initialized() == 0) return;
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
  if (!ends_at_exit && on_exit(end_at_exit, nullptr) != 0)
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
  if (status == 0) rma_abort(0, nullptr);
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

}  // namespace librma::shmem
