#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "job.hpp"

namespace {

/// One put and one get of more than 4 GiB, between rank 0's memory and memory of rank 1 that takes next to
/// none: the source's untouched pages all are the kernel's page of zeros, and the sink's are the same few
/// over and over, but for what lies past 4 GiB. Bytes that differ stand where a size of 32 bits would lose
/// them.
class Beyond4GiB {
 public:
  static void run() {
    std::vector<void*> addresses(static_cast<std::size_t>(rma_size()));
    const std::size_t wanted = rma_rank() == 0 ? kBytes : 0;
    const rma_status_t status = rma_malloc(rma_team_world(), wanted, 0, addresses.data(), nullptr);
    expect_ok(status, "malloc");
    if (status != RMA_SUCCESS) return;
    auto* const there = static_cast<char*>(addresses[0]);
    if (rma_rank() == 1) put(there);
    barrier();
    if (rma_rank() == 0) {
      for (const std::size_t at : kMarks) expect(there[at] == mark(at), "the owner sees the mark");
      expect(there[1] == 0 && there[k4GiB / 2 + 1] == 0, "the owner sees what is between the marks");
    }
    if (rma_rank() == 1) get(there);
    expect_ok(rma_free(rma_team_world(), rma_rank() == 0 ? there : nullptr), "free");
  }

 private:
  static constexpr std::size_t k4GiB = std::size_t{4} << 30;
  static constexpr std::size_t kTail = 4096 + 3;
  static constexpr std::size_t kBytes = k4GiB + kTail;
  static constexpr std::size_t kFew = std::size_t{64} << 20;
  static constexpr std::size_t kMarks[] = {0, k4GiB / 2, k4GiB - 1, k4GiB, kBytes - 1};
  static char mark(std::size_t at) { return static_cast<char>(1 + at % 101); }

  static void put(char* there) {
    auto* const data = static_cast<char*>(std::calloc(kBytes, 1));
    expect(data != nullptr, "address space for the source");
    if (data == nullptr) return;
    for (const std::size_t at : kMarks) data[at] = mark(at);
    expect_ok(rma_put(there, data, kBytes, 0), "put");
    std::free(data);
  }

  static void get(const char* there) {
    void* const range =
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    const int few = memfd_create("few", MFD_CLOEXEC);
    expect(range != MAP_FAILED && few >= 0 && ftruncate(few, kFew) == 0, "address space for the sink");
    auto* const sink = static_cast<char*>(range);
    for (std::size_t at = 0; at < k4GiB; at += kFew) {
      const void* const part = mmap(sink + at, kFew, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, few, 0);
      expect(part == sink + at, "a part of the sink");
    }
    std::memset(sink, 0x77, kFew);
    expect_ok(rma_get(sink, there, kBytes, 0), "get");
    expect(std::memchr(sink, 0x77, kFew) == nullptr, "the get has written all of the first 4 GiB");
    expect(sink[k4GiB] == mark(k4GiB) && sink[k4GiB + 1] == 0 && sink[kBytes - 1] == mark(kBytes - 1),
           "and what lies past them");
    munmap(range, kBytes);
    close(few);
  }
};

}  // namespace

void beyond_4_gib() { Beyond4GiB::run(); }
