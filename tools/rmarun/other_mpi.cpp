#include "rmarun/other_mpi.hpp"

#include <fmt/format.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "rmarun/needed_libraries.hpp"
#include "rmarun/processes.hpp"

namespace rmarun {
namespace {

/// Returns whether a process that has opened the file uses it. `file` has no symbolic links. The dynamic
/// linker maps a library before it closes it, so one of the two looks finds it, in this order.
bool uses(pid_t pid, const std::filesystem::path& file) {
  std::error_code error;
  std::error_code no_link;
  std::filesystem::directory_iterator entry(fmt::format("/proc/{}/fd", pid), error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    if (std::filesystem::read_symlink(entry->path(), no_link) == file) return true;
  }
  std::ifstream maps(fmt::format("/proc/{}/maps", pid));
  for (std::string line; std::getline(maps, line);) {
    if (line.ends_with(" " + file.string())) return true;
  }
  return false;
}

}  // namespace

void OtherMpi::watch(const Environment& environment) {
  if (events_.open()) return;
  events_ = librma::Descriptor(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!events_.open()) return;
  for (const Personality& instead : personalities())
    watch(std::string(instead.library), instead, environment);
  // Debian's MPICH has another name than MPICH itself.
  watch("libmpich.so.12", personalities().back(), environment);
}

void OtherMpi::watch(const std::string& library, const Personality& instead, const Environment& environment) {
  const std::string path = find_library(library, environment).string();
  const int number = path.empty() ? -1 : ::inotify_add_watch(events_.get(), path.c_str(), IN_OPEN);
  if (number >= 0) watched_.push_back({number, path, &instead});
}

void OtherMpi::look() {
  alignas(inotify_event) std::array<char, 4096> events{};
  while (events_.open() && ::read(events_.get(), events.data(), events.size()) > 0) {
  }
  for (const Watched& watched : watched_) {
    std::error_code error;
    const std::filesystem::path file = std::filesystem::canonical(watched.path, error);
    if (std::ranges::any_of(descendants(), [&](pid_t pid) { return uses(pid, file); })) loaded_ = &watched;
  }
  if (loaded_ != nullptr) stop();
}

std::string OtherMpi::advice() const {
  if (loaded_ == nullptr) return {};
  return fmt::format(
      "the program has loaded {}, and no rank has joined the job; with --mpi {} it gets librma's {}",
      loaded_->path, loaded_->instead->name, loaded_->instead->library);
}

}  // namespace rmarun
