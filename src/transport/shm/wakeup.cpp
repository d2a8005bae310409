#include "transport/shm/wakeup.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>

#include "util/interruptions.hpp"

namespace rma::transport {
namespace {

constexpr std::uint64_t kPipe = UINT64_MAX;

}  // namespace

Result<std::unique_ptr<Wakeup>> Wakeup::create() {
  std::array<int, 2> ends = {-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    return system_failure(RMA_ERR_SYSTEM, "making a pipe", errno);
  }
  Descriptor read_end(ends[0]);
  Descriptor write_end(ends[1]);
  Descriptor events(epoll_create1(EPOLL_CLOEXEC));
  epoll_event wakeups = {.events = EPOLLIN, .data = {.u64 = kPipe}};
  if (!events.open() || epoll_ctl(events.get(), EPOLL_CTL_ADD, read_end.get(), &wakeups) != 0) {
    return system_failure(RMA_ERR_SYSTEM, "epoll", errno);
  }
  return std::unique_ptr<Wakeup>(new Wakeup(std::move(read_end), std::move(write_end), std::move(events)));
}

void Wakeup::watch(const Descriptor& process, std::size_t tag) {
  if (!process.open()) return;
  if (watched_.size() <= tag) watched_.resize(tag + 1, -1);
  watched_[tag] = process.get();
  epoll_event ends = {.events = EPOLLIN, .data = {.u64 = tag}};
  // If this fails, nobody notices the end of the process, as on a system without pidfds.
  static_cast<void>(epoll_ctl(events_.get(), EPOLL_CTL_ADD, process.get(), &ends));
}

void Wakeup::look(std::vector<std::size_t>& ended) {
  std::array<epoll_event, 16> found = {};
  while (true) {
    const int count = uninterrupted(
        [&] { return epoll_wait(events_.get(), found.data(), static_cast<int>(found.size()), 0); });
    for (int i = 0; i < count; ++i) {
      const std::uint64_t tag = found[static_cast<std::size_t>(i)].data.u64;
      if (tag == kPipe) continue;
      // Otherwise epoll_wait() would return it again and again.
      static_cast<void>(epoll_ctl(events_.get(), EPOLL_CTL_DEL, watched_[tag], nullptr));
      ended.push_back(tag);
    }
    if (count < static_cast<int>(found.size())) return;
  }
}

void Wakeup::take_signals() const {
  std::array<char, 512> wakeups = {};
  while (read(read_end_.get(), wakeups.data(), wakeups.size()) == static_cast<ssize_t>(wakeups.size())) {
  }
}

Result<Descriptor> Wakeup::open(const ShmCard& card) {
  const auto path = fmt::format("/proc/{}/fd/{}", card.process, card.wakeup_fd);
  // The pipe is opened for reading too. Otherwise a write would raise SIGPIPE after the other
  // process has ended.
  Descriptor pipe(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (!pipe.open()) {
    return system_failure(errno == ENOENT || errno == ESRCH ? RMA_ERR_PEER_LOST : RMA_ERR_SYSTEM, path,
                          errno);
  }
  struct stat about {};
  if (fstat(pipe.get(), &about) != 0 || !S_ISFIFO(about.st_mode)) {
    return Status(RMA_ERR_LAUNCH, fmt::format("{} is not a pipe", path));
  }
  return pipe;
}

void Wakeup::signal(const Descriptor& pipe) {
  const char one = 1;
  // The write fails only if the pipe is full. The pipe is readable then, so its owner wakes anyway.
  [[maybe_unused]] const ssize_t written = write(pipe.get(), &one, sizeof one);
}

Result<Descriptor> open_process(pid_t process) {
  Descriptor file(static_cast<int>(syscall(SYS_pidfd_open, process, 0)));
  if (!file.open() && errno == ESRCH) {
    return Status(RMA_ERR_PEER_LOST, fmt::format("process {} is no more", process));
  }
  return file;
}

bool has_ended(const Descriptor& process) {
  pollfd end = {.fd = process.get(), .events = POLLIN, .revents = 0};
  // A signal interrupts even a call that does not wait, if the process runs.
  const int found = uninterrupted([&] { return poll(&end, 1, 0); });
  return found == 1 && (end.revents & POLLIN) != 0;
}

}  // namespace rma::transport
