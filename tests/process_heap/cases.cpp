// One property of the process heap for each call. The program is linked with librma_heap.so.
//
// usage: heap-cases CASE
//        heap-cases refused REASON     malloc is the C library's, for a reason that contains these words

#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "heap.hpp"

namespace {

constexpr std::size_t kMebi = std::size_t{1} << 20U;
constexpr std::size_t kLargestShared = 4 * kMebi;

// As its users see them: the compiler must not know what they return. The code takes the functions'
// addresses.
void* allocate(std::size_t bytes) {
  void* (*volatile const function)(std::size_t) = std::malloc;
  return function(bytes);
}
void give(void* block) {
  void (*volatile const function)(void*) = std::free;
  function(block);
}

bool full_of(const unsigned char* block, std::size_t bytes, unsigned char value) {
  for (std::size_t at = 0; at < bytes; ++at) {
    if (block[at] != value) return false;
  }
  return true;
}

unsigned char* filled(std::size_t bytes, unsigned char value) {
  auto* const block = static_cast<unsigned char*>(allocate(bytes));
  CHECK(block != nullptr);
  std::memset(block, value, bytes);
  return block;
}

/// Returns how many bytes of the heap's file are mapped.
std::size_t mapped_bytes() {
  std::size_t sum = 0;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("memfd:rma-process-heap") == std::string::npos) continue;
    unsigned long begin = 0;
    unsigned long end = 0;
    CHECK(std::sscanf(line.c_str(), "%lx-%lx", &begin, &end) == 2);
    sum += end - begin;
  }
  return sum;
}

// A program that never calls librma has the C library's malloc and no file.
void waits() {
  unsigned char* const early = filled(1000, 1);
  CHECK(mapped_bytes() == 0);
  for (int descriptor = 3; descriptor < 1024; ++descriptor) {
    char path[64];
    char name[256] = {};
    std::snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    CHECK(readlink(path, name, sizeof name - 1) < 0 || std::strstr(name, "rma-process-heap") == nullptr);
  }
  // librma comes, as it does into a Python that has run for a while.
  const librma::ProcessHeap& heap = shown_heap();
  CHECK(heap.reason == nullptr && !lies_in(heap, early));
  unsigned char* const late = filled(1000, 2);
  CHECK(lies_in(heap, late));
  auto* const grown = static_cast<unsigned char*>(std::realloc(early, 100'000));
  CHECK(full_of(grown, 1000, 1) && malloc_usable_size(grown) >= 100'000);
  give(grown);
  give(late);
}

// Blocks up to 4 MiB are shared, larger ones are private, and a block keeps its contents across the boundary.
void sizes() {
  const librma::ProcessHeap& heap = shown_heap();
  CHECK(lies_in(heap, filled(kLargestShared, 1)) && !lies_in(heap, filled(kLargestShared + 1, 1)));
  auto* block = filled(3 * kMebi, 3);
  block = static_cast<unsigned char*>(std::realloc(block, 9 * kMebi));
  CHECK(!lies_in(heap, block) && full_of(block, 3 * kMebi, 3));
  block = static_cast<unsigned char*>(std::realloc(block, kMebi));
  CHECK(full_of(block, kMebi, 3));
  void* aligned = nullptr;
  CHECK(posix_memalign(&aligned, 2 * kMebi, 1000) == 0 &&
        reinterpret_cast<std::uintptr_t>(aligned) % (2 * kMebi) == 0);
  give(aligned);
  CHECK(posix_memalign(&aligned, 64 * kMebi, 1000) == 0 &&
        reinterpret_cast<std::uintptr_t>(aligned) % (64 * kMebi) == 0);
  give(aligned);
  // As a job of several hosts has it.
  heap.limit_blocks(16 * 1024);
  CHECK(lies_in(heap, filled(16 * 1024 - 1, 1)) && !lies_in(heap, filled(16 * 1024, 1)));
}

// A program may tell the system that it needs the contents of a block no more.
void advises() {
  const librma::ProcessHeap& heap = shown_heap();
  constexpr std::size_t kPage = 4096;
  auto* const block = static_cast<unsigned char*>(std::aligned_alloc(kPage, 64 * kPage));
  CHECK(lies_in(heap, block));
  std::memset(block, 5, 64 * kPage);
  CHECK(madvise(block + kPage, 32 * kPage, MADV_DONTNEED) == 0);
  CHECK(full_of(block, kPage, 5) && full_of(block + kPage, 32 * kPage, 0) &&
        full_of(block + 33 * kPage, 31 * kPage, 5));
  CHECK(madvise(block, 64 * kPage, MADV_FREE) == 0);
  std::memset(block, 6, 64 * kPage);
  const pid_t child = fork();
  if (child == 0) {
    CHECK(madvise(block, 2 * kPage, MADV_DONTNEED) == 0);
    CHECK(full_of(block, 2 * kPage, 0) && full_of(block + 2 * kPage, 62 * kPage, 6));
    _exit(0);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK(full_of(block, 64 * kPage, 6));
}

// A core file has what is mapped, and mlockall() fills it.
void maps() {
  const librma::ProcessHeap& heap = shown_heap();
  CHECK(lies_in(heap, filled(1000, 1)));
  const std::size_t before = mapped_bytes();
  CHECK(before > 0 && before <= 64 * kMebi);
  for (int block = 0; block < 200; ++block) CHECK(lies_in(heap, allocate(kMebi)));
  CHECK(mapped_bytes() >= 200 * kMebi && mapped_bytes() <= 400 * kMebi);
}

// A program reserves terabytes, by malloc and by itself.
void terabytes() {
  const librma::ProcessHeap& heap = shown_heap();
  constexpr std::size_t kTebi = kMebi * kMebi;
  void* const reserved =
      mmap(nullptr, 8 * kTebi, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CHECK(reserved != MAP_FAILED);
  void* const large = allocate(16 * 1024 * kMebi);
  CHECK(large != nullptr && !lies_in(heap, large));
  give(large);
}

// A program that allocates little takes little memory, however large the heap may grow.
void begins_small() {
  const librma::ProcessHeap& heap = shown_heap();
  CHECK(lies_in(heap, filled(1000, 1)));
  struct stat file {};
  CHECK(fstat(heap.fd, &file) == 0);
  constexpr blkcnt_t kBlock = 512;  // of st_blocks
  CHECK(file.st_blocks * kBlock <= static_cast<blkcnt_t>(kMebi));
}

// A daemon closes all descriptors, opens other files, and forks.
void descriptors() {
  const librma::ProcessHeap& heap = shown_heap();
  unsigned char* const block = filled(3 * kMebi, 4);
  CHECK(lies_in(heap, block));
  for (int descriptor = 3; descriptor < 1024; ++descriptor) close(descriptor);
  const int other = open("/dev/zero", O_RDWR);
  CHECK(other >= 0 && dup2(other, heap.fd) == heap.fd);
  for (int more = 0; more < 100; ++more) CHECK(full_of(filled(kMebi, 5), kMebi, 5));
  const pid_t child = fork();
  if (child == 0) {
    CHECK(full_of(block, 3 * kMebi, 4));
    std::memset(block, 6, 3 * kMebi);
    give(filled(kMebi, 7));
    _exit(0);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK(full_of(block, 3 * kMebi, 4) && shown_heap().reason != nullptr);
}

void refused(std::string_view words) {
  give(filled(1000, 1));
  const librma::ProcessHeap& heap = shown_heap();
  if (heap.reason == nullptr || std::string_view(heap.reason).find(words) == std::string_view::npos) {
    std::fprintf(stderr, "the reason is: %s\n", heap.reason != nullptr ? heap.reason : "none");
    std::abort();
  }
  CHECK(mapped_bytes() == 0);
  auto* block = filled(100, 7);
  block = static_cast<unsigned char*>(std::realloc(block, 300'000));
  CHECK(full_of(block, 100, 7));
  give(block);
}

/// Returns how many bytes of memory are behind the heap's file.
std::size_t memory_of_heap(const librma::ProcessHeap& heap) {
  struct stat about {};
  CHECK(fstat(heap.fd, &about) == 0);
  return static_cast<std::size_t>(about.st_blocks) * 512;
}

/// Allocates blocks of 64 KiB, 32 MiB in all, and frees them.
void use_and_free() {
  std::vector<void*> blocks(512);
  for (void*& block : blocks) block = filled(64 * 1024, 1);
  for (void* const block : blocks) give(block);
}

/// A thread that is to be canceled, and allocates a block before a point at which it may end.
void* allocate_canceled(void* /*nothing*/) {
  static bool returned = false;
  CHECK(pthread_cancel(pthread_self()) == 0);
  give(filled(8 * kMebi, 1));
  returned = true;
  return &returned;
}

// Freed pages stay for later blocks, until the control group comes near its limit.
void group_limit() {
  const librma::ProcessHeap& heap = shown_heap();
  const std::string usage = "heap_case_usage." + std::to_string(getpid());
  const auto uses = [&](std::size_t bytes) { std::ofstream(usage) << bytes << '\n'; };
  constexpr std::size_t kLimit = 256 * kMebi;
  uses(100 * kMebi);
  heap.watch_memory(usage.c_str(), kLimit);
  use_and_free();
  give(filled(8 * kMebi, 1));
  CHECK(memory_of_heap(heap) >= 32 * kMebi);
  // A private block would not fit beside the pages.
  uses(220 * kMebi);
  give(filled(8 * kMebi, 1));
  CHECK(memory_of_heap(heap) < 16 * kMebi);
  // Neither malloc nor free is a point at which a thread may be canceled.
  pthread_t thread = {};
  void* result = nullptr;
  CHECK(pthread_create(&thread, nullptr, allocate_canceled, nullptr) == 0);
  CHECK(pthread_join(thread, &result) == 0 && result != PTHREAD_CANCELED && *static_cast<bool*>(result));
  // Blocks of the heap itself come near the limit: the next call of free() gives back what is free then.
  uses(100 * kMebi);
  use_and_free();
  CHECK(memory_of_heap(heap) >= 32 * kMebi);
  uses(250 * kMebi);
  std::vector<void*> blocks(1024);
  for (void*& block : blocks) block = filled(64 * 1024, 1);
  const std::size_t full = memory_of_heap(heap);
  CHECK(full >= 64 * kMebi);
  for (void* const block : blocks) give(block);
  // The first call has given back its block, and later ones wait for new needs of memory.
  give(filled(8 * kMebi, 1));
  CHECK(memory_of_heap(heap) < 16 * kMebi);
  // A group whose file is gone, or says nothing, has no known need.
  CHECK(unlink(usage.c_str()) == 0);
  use_and_free();
  give(filled(8 * kMebi, 1));
  CHECK(memory_of_heap(heap) >= 32 * kMebi);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  if (name == "refused" && argc == 3) {
    refused(argv[2]);
  } else {
    static const std::map<std::string_view, void (*)()> kCases = {{"waits", waits},
                                                                  {"sizes", sizes},
                                                                  {"advises", advises},
                                                                  {"maps", maps},
                                                                  {"begins_small", begins_small},
                                                                  {"descriptors", descriptors},
                                                                  {"terabytes", terabytes},
                                                                  {"group_limit", group_limit}};
    const auto found = kCases.find(name);
    CHECK(found != kCases.end());
    found->second();
  }
  std::puts("right");
}
