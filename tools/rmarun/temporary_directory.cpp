#include "rmarun/temporary_directory.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <memory>
#include <random>
#include <string_view>
#include <vector>

namespace rmarun {
namespace {

/// Opens a directory that is in `place`, and not what a symbolic link names.
Descriptor open_directory(int place, const char* name) {
  return Descriptor(::openat(place, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

/// Returns the names in a directory, without "." and "..".
std::vector<std::string> names_in(const Descriptor& directory) {
  struct Close {
    void operator()(DIR* stream) const { ::closedir(stream); }
  };
  std::vector<std::string> names;
  // The stream closes the descriptor that it reads.
  const int own = ::openat(directory.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, Close> stream(own >= 0 ? ::fdopendir(own) : nullptr);
  if (stream == nullptr) {
    if (own >= 0) ::close(own);
    return names;
  }
  while (const dirent* const entry = ::readdir(stream.get())) {  // NOLINT(concurrency-mt-unsafe): own stream
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

/// Removes `name` and everything below it. Each step goes by a descriptor, so that nothing outside is reached
/// even if somebody exchanges a directory for a link meanwhile. PMIx's directories are three deep.
void remove_tree(int place, const std::string& name) {
  if (::unlinkat(place, name.c_str(), 0) == 0 || (errno != EISDIR && errno != EPERM)) return;
  if (const Descriptor directory = open_directory(place, name.c_str()); directory.open()) {
    for (const std::string& below : names_in(directory)) remove_tree(directory.get(), below);
  }
  ::unlinkat(place, name.c_str(), AT_REMOVEDIR);
}

/// Returns a number for the time since this machine was started, the same in all containers on it; 0 if the
/// system does not tell. A lock says nothing about processes of another machine, which may use the same
/// disk.
uint32_t boot_number() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  if (!std::getline(file, id)) return 0;
  const auto number = static_cast<uint32_t>(std::hash<std::string>{}(id));
  return number != 0 ? number : 1;
}

/// Whether `directory` is this user's, and nobody else can have put anything into it.
bool is_private(const Descriptor& directory) {
  struct stat about {};
  return ::fstat(directory.get(), &about) == 0 && about.st_uid == ::geteuid() &&
         (about.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

bool names(const std::string& path, const Descriptor& directory) {
  struct stat found {};
  struct stat opened {};
  return ::lstat(path.c_str(), &found) == 0 && ::fstat(directory.get(), &opened) == 0 &&
         found.st_dev == opened.st_dev && found.st_ino == opened.st_ino;
}

}  // namespace

TemporaryDirectory::TemporaryDirectory() {
  const char* const base = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe): nothing changes it
  place_ = base != nullptr && *base != '\0' ? base : "/tmp";
  std::random_device random;
  const uint64_t number = uint64_t{random()} << 32 | random();
  prefix_ = fmt::format("rmarun-{:08x}-", boot_number());
  name_ = fmt::format("{}{:016x}", prefix_, number);
  path_ = place_ + "/" + name_;
}

bool TemporaryDirectory::make() {
  // A remove_abandoned() elsewhere may find the directory before it is locked, and then removes it. So
  // whoever has the lock looks whether it is still there. Nobody meets that twice.
  constexpr int kTries = 10;
  for (int i = 0; i < kTries; ++i) {
    if (::mkdir(path_.c_str(), S_IRWXU) != 0) return false;
    lock_ = open_directory(AT_FDCWD, path_.c_str());
    if (!lock_.open()) {
      if (errno == ENOENT) continue;
      return false;
    }
    // Some file systems have no locks for directories. There nobody can lock it, and nobody removes it.
    while (::flock(lock_.get(), LOCK_EX) != 0 && errno == EINTR) {
    }
    if (names(path_, lock_)) return true;
  }
  errno = EBUSY;
  return false;
}

void TemporaryDirectory::remove() const { remove_tree(AT_FDCWD, path_); }

void TemporaryDirectory::remove_afterwards() const {
  constexpr timespec kPause{.tv_sec = 0, .tv_nsec = 1'000'000};
  const pid_t parent = ::getpid();
  if (::fork() != 0) return;
  while (::getppid() == parent) ::nanosleep(&kPause, nullptr);
  remove();
  ::_exit(0);
}

void TemporaryDirectory::remove_abandoned() const {
  if (boot_number() == 0) return;
  const Descriptor place(::open(place_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!place.open()) return;
  for (const std::string& name : names_in(place)) {
    if (name.size() != name_.size() || !name.starts_with(prefix_) || name == name_) continue;
    const Descriptor directory = open_directory(place.get(), name.c_str());
    if (!directory.open() || !is_private(directory)) continue;
    // The lock is kept until the directory is gone: make() waits for that.
    if (::flock(directory.get(), LOCK_EX | LOCK_NB) == 0) remove_tree(place.get(), name);
  }
}

}  // namespace rmarun
