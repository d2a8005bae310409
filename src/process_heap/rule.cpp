#include "process_heap/rule.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "process_heap/next.hpp"

// The dynamic linker sets the address before the program starts: it is null unless librma is loaded then. A
// search by dlsym() would make an error text, for which the C library takes locks that the caller of malloc
// may hold.
extern "C" [[gnu::weak]] int rma_init();

namespace librma::process_heap {
namespace {

bool setting_is(std::string_view value) noexcept {
  const char* const setting = std::getenv("RMA_PROCESS_HEAP");
  return setting != nullptr && value == setting;
}

/// Valgrind's checker replaces malloc itself. Under its other tools, the program must behave as it does
/// without this library's reservation of addresses.
bool under_valgrind() noexcept {
  const char* const preloaded = std::getenv("LD_PRELOAD");
  return preloaded != nullptr && std::strstr(preloaded, "/vgpreload_") != nullptr;
}

bool is_limited(decltype(RLIMIT_AS) what) noexcept {
  rlimit limit{};
  return ::getrlimit(what, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

/// Returns whether malloc must fail when the system's memory is promised to others. The pages of a sparse
/// file are promised to nobody, and a program would end at the store that finds none.
bool memory_is_promised() noexcept {
  const int file = ::open("/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char mode = 0;
  const bool promised = ::read(file, &mode, sizeof mode) == 1 && mode == '2';
  ::close(file);
  return promised;
}

}  // namespace

bool is_demanded() noexcept { return setting_is("1"); }

Objection object_to_process_heap(bool wanted) noexcept {
  if (setting_is("0")) return {.reason = "RMA_PROCESS_HEAP is 0", .for_good = true};
  if (!wanted && rma_init == nullptr) return {.reason = "the process has not loaded librma"};
  if (!next_is_c_library()) return {.reason = "the program brings another malloc", .for_good = true};
  if (under_valgrind() && !is_demanded()) {
    return {.reason = "the program runs under Valgrind", .for_good = true};
  }
  if (is_limited(RLIMIT_AS)) return {.reason = "the addresses are limited (ulimit -v)", .for_good = true};
  if (is_limited(RLIMIT_FSIZE)) {
    return {.reason = "the size of files is limited (ulimit -f)", .for_good = true};
  }
  if (memory_is_promised()) {
    return {.reason = "the system does not overcommit memory (vm.overcommit_memory is 2)", .for_good = true};
  }
  return {};
}

}  // namespace librma::process_heap
