#include "fabric/unmap_watch.hpp"
#include "util/system/interruptions.hpp"
#include "util/system/page_size.hpp"
#include "util/text.hpp"
#include "util/try.hpp"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <vector>

namespace librma {
namespace {

// settle() gives up after this many yields. It waits for one wake-up of the watching thread. So it gives up
// only if that thread, or a thread that unmaps, gets no processor. The caller then does without the cache.
constexpr int kSettleTries = 1000;

Status unusable(std::string_view what, int error_number) {
  return system_failure(RMA_ERR_UNSUPPORTED, text("unmapping cannot be watched (userfaultfd): {}", what),
                        error_number);
}

// The userfaultfds that a forked child must close. If the child kept one open after the parent had closed its
// own, the kernel would hold threads of the parent for events that nobody reads.
struct OpenWatches {
  std::mutex lock;
  std::vector<std::atomic<int>*> events;
};

OpenWatches& open_watches() {
  static auto* const instance = [] {
    auto* const made = new OpenWatches;  // never destroyed: the process may fork while it exits
    ::pthread_atfork([] { open_watches().lock.lock(); }, [] { open_watches().lock.unlock(); },
                     [] {
                       for (auto* events : open_watches().events) {
                         ::close(events->exchange(-1, std::memory_order_relaxed));
                       }
                       open_watches().events.clear();
                       open_watches().lock.unlock();
                     });
    return made;
  }();
  return *instance;
}

void* map_anonymous(std::size_t bytes) {
  return ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

AddressSpan span_at(const void* address, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  return {begin, begin + bytes};
}

}  // namespace

Result<std::unique_ptr<UnmapWatch>> UnmapWatch::start() {
  std::unique_ptr<UnmapWatch> watch(new UnmapWatch);
  RMA_TRY(watch->open());
  RMA_TRY(watch->self_test());
  return watch;
}

Status UnmapWatch::open() {
  owner_ = ::getpid();
  {
    OpenWatches& all = open_watches();
    const std::lock_guard guard(all.lock);  // a fork sees the descriptor and its entry, or neither
    const auto events = static_cast<int>(
        ::syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY));  // NOLINT(hicpp-*)
    if (events < 0) return unusable("the system refuses to open one", errno);
    events_.store(events, std::memory_order_relaxed);
    all.events.push_back(&events_);
  }
  const int events = events_.load(std::memory_order_relaxed);
  uffdio_api api = {};
  api.api = UFFD_API;
  api.features = UFFD_FEATURE_EVENT_UNMAP | UFFD_FEATURE_EVENT_REMOVE | UFFD_FEATURE_EVENT_REMAP;
  if (::ioctl(events, UFFDIO_API, &api) != 0) return unusable("the kernel lacks events", errno);
  stop_ = ::eventfd(0, EFD_CLOEXEC);
  if (stop_ < 0) return unusable("no eventfd", errno);

  // BackgroundThread blocks signals: this thread must run none of the program's handlers, which
  // may take locks.
  const int failed = thread_.start("rma-unmap", thread_main, this);
  if (failed != 0) return unusable("no thread to read events", failed);
  return {};
}

UnmapWatch::~UnmapWatch() {
  if (::getpid() != owner_) return;
  {
    OpenWatches& all = open_watches();
    const std::lock_guard guard(all.lock);  // no thread forks before the descriptor is closed
    std::erase(all.events, &events_);
    if (thread_.running()) {
      const std::uint64_t increment = 1;
      static_cast<void>(uninterrupted([&] { return ::write(stop_, &increment, sizeof(increment)); }));
      // The join frees memory that the C library allocated for the thread, and so may unmap it. By then the
      // thread has ended the watch.
      thread_.join();
    } else if (const int events = events_.load(std::memory_order_relaxed); events >= 0) {
      ::close(events);
    }
  }
  if (stop_ >= 0) ::close(stop_);
}

bool UnmapWatch::watch(const AddressSpan& span) const {
  uffdio_register request = {};
  request.range = {.start = span.begin, .len = span.bytes()};
  request.mode = UFFDIO_REGISTER_MODE_WP;
  return ::ioctl(events_.load(std::memory_order_relaxed), UFFDIO_REGISTER, &request) == 0;
}

std::optional<std::uint64_t> UnmapWatch::settle() const {
  for (int tries = 0; tries < kSettleTries; ++tries) {
    // This request for no bytes returns EAGAIN while a mapping is being changed, else EINVAL. Any other
    // result means that the descriptor is no longer ours, in a forked child or because the program closed it.
    uffdio_writeprotect nothing = {};
    const int result = ::ioctl(events_.load(std::memory_order_relaxed), UFFDIO_WRITEPROTECT, &nothing);
    if (result == 0 || (errno != EAGAIN && errno != EINVAL)) return std::nullopt;
    if (errno == EINVAL) {
      // Acquire: pairs with the release stores of read_events().
      const std::uint64_t sequence = sequence_.load(std::memory_order_acquire);
      if (sequence % 2 == 0) return sequence;
    }
    ::sched_yield();
  }
  return std::nullopt;
}

std::optional<AddressSpan> UnmapWatch::take() {
  const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
  // Acquire: pairs with the release store in note(), which wrote the slot before.
  if (tail != head_.load(std::memory_order_acquire)) {
    const AddressSpan span = ring_[tail % kNotes];
    // Release: pairs with the acquire in note(), which overwrites the slot only after it was read here.
    tail_.store(tail + 1, std::memory_order_release);
    return span;
  }
  // If a note is lost after this, a later sequence announces it, so clearing the flag here loses nothing.
  if (lost_.exchange(false, std::memory_order_acq_rel)) return kEverywhere;
  return std::nullopt;
}

void UnmapWatch::thread_main(void* watch) {
  auto* const self = static_cast<UnmapWatch*>(watch);
  self->watch_loop(self->events_.load(std::memory_order_relaxed), self->stop_);
}

// The functions from here on take no lock and do not allocate. They only make system calls on the two
// descriptors and write to the ring.
void UnmapWatch::watch_loop(int events, int stop) {
  std::array<pollfd, 2> wanted = {
      {{.fd = events, .events = POLLIN, .revents = 0}, {.fd = stop, .events = POLLIN, .revents = 0}}};
  for (;;) {
    if (::poll(wanted.data(), wanted.size(), -1) < 0) continue;  // a debugger interrupted it
    // Threads that the kernel holds come before the request to end.
    if ((wanted[0].revents & POLLIN) != 0) {
      read_events(events);
    } else if (wanted[0].revents != 0) {
      return;  // the program closed our descriptor, which settle() sees
    } else if (wanted[1].revents != 0) {
      // This ends the watch over every range, and releases the threads that were held since the last look. It
      // must be done by this thread: any other thread could itself be held as soon as nobody reads.
      ::close(events);
      return;
    }
  }
}

void UnmapWatch::read_events(int events) {
  const std::uint64_t sequence = sequence_.load(std::memory_order_relaxed);
  // Odd before the read, because the read releases the thread that unmapped. The fence keeps this store
  // before all loads and stores that follow, including those of the system call. The claim in the header says
  // which threads see it.
  sequence_.store(sequence + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  std::array<uffd_msg, 16> messages;
  const ssize_t bytes = ::read(events, messages.data(), sizeof(messages));
  bool any = false;
  for (std::size_t i = 0; bytes > 0 && i < static_cast<std::size_t>(bytes) / sizeof(uffd_msg); ++i) {
    const uffd_msg& message = messages[i];
    if (message.event == UFFD_EVENT_REMAP) {
      // The memory that was at the new address had an UNMAP event of its own.
      note({message.arg.remap.from, message.arg.remap.from + message.arg.remap.len});
      any = true;
    } else if (message.event == UFFD_EVENT_UNMAP || message.event == UFFD_EVENT_REMOVE) {
      note({message.arg.remove.start, message.arg.remove.end});
      any = true;
    }
  }
  // Even again, and a new value if there is something to take. Release: pairs with the acquire of settle().
  sequence_.store(any ? sequence + 2 : sequence, std::memory_order_release);
}

void UnmapWatch::note(const AddressSpan& span) {
  const std::uint64_t head = head_.load(std::memory_order_relaxed);
  // Acquire: pairs with the release in take(), after which the slot is free.
  if (head - tail_.load(std::memory_order_acquire) == kNotes) {
    // Release: take(), which exchanges it, sees at least this. The sequence that follows announces it.
    lost_.store(true, std::memory_order_release);
    return;
  }
  ring_[head % kNotes] = span;
  // Release: pairs with the acquire in take().
  head_.store(head + 1, std::memory_order_release);
}

bool UnmapWatch::noted_since_last(const AddressSpan& span) {
  if (!settle()) return false;
  bool found = false;
  while (const auto noted = take()) found = found || *noted == span;
  return found;
}

Status UnmapWatch::self_test() {
  // By the claim in the header there is nothing to wait for: an event that is not noted when settle() returns
  // never will be.
  const std::size_t page = page_bytes();
  const std::size_t bytes = 2 * page;
  void* memory = map_anonymous(bytes);
  void* target = map_anonymous(bytes);
  if (memory == MAP_FAILED || target == MAP_FAILED) return unusable("no memory to test it with", errno);
  *static_cast<volatile char*>(memory) = 1;
  if (!watch(span_at(memory, bytes))) {
    const int error_number = errno;
    ::munmap(memory, bytes);
    ::munmap(target, bytes);
    return unusable("the kernel does not watch anonymous memory", error_number);
  }
  ::madvise(memory, bytes, MADV_DONTNEED);
  const bool removed = noted_since_last(span_at(memory, bytes));
  void* moved = ::mremap(memory, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, target);
  const bool remapped = moved == target && noted_since_last(span_at(memory, bytes));
  ::munmap(target, bytes);  // the watch moved with the memory
  const bool unmapped = noted_since_last(span_at(target, bytes));
  if (moved == MAP_FAILED) ::munmap(memory, bytes);
  if (removed && remapped && unmapped) return {};
  return {RMA_ERR_UNSUPPORTED,
          text("unmapping cannot be watched (userfaultfd): of events for madvise, mremap and munmap "
               "the kernel sent {}, {} and {}",
               removed ? "one" : "none", remapped ? "one" : "none", unmapped ? "one" : "none")};
}

}  // namespace librma
