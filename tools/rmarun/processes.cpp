#include "rmarun/processes.hpp"

#include <fmt/format.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill() is POSIX's
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string_view>
#include <system_error>

namespace rmarun {
namespace {

/// The parent of `pid` by /proc/<pid>/stat, or 0 when there is no such process any more.
pid_t parent_of(const std::filesystem::path& proc_entry) {
  std::ifstream file(proc_entry / "stat");
  std::string line;
  if (!std::getline(file, line)) return 0;
  // "pid (name) state parent ...": the name may hold blanks and parentheses, so the last ')' ends it.
  const auto name_end = line.rfind(')');
  constexpr size_t kFromNameEndToParent = 4;
  if (name_end == std::string::npos || name_end + kFromNameEndToParent >= line.size()) return 0;
  pid_t parent = 0;
  const char* const digits = line.data() + name_end + kFromNameEndToParent;
  std::from_chars(digits, line.data() + line.size(), parent);
  return parent;
}

}  // namespace

std::vector<pid_t> descendants() {
  std::multimap<pid_t, pid_t> children;
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    pid_t pid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ec != std::errc()) continue;
    if (const pid_t parent = parent_of(entry->path()); parent != 0) children.emplace(parent, pid);
  }
  std::vector<pid_t> found = {::getpid()};
  for (size_t i = 0; i < found.size(); ++i) {
    const auto [first, last] = children.equal_range(found[i]);
    for (auto child = first; child != last; ++child) found.push_back(child->second);
  }
  found.erase(found.begin());
  return found;
}

void signal_descendants(int signal) {
  for (const pid_t pid : descendants()) ::kill(pid, signal);
}

void kill_descendants() {
  constexpr timespec kPause{.tv_sec = 0, .tv_nsec = 5'000'000};
  while (true) {
    signal_descendants(SIGKILL);
    pid_t reaped = 0;
    do {
      reaped = ::waitpid(-1, nullptr, WNOHANG);
    } while (reaped > 0);
    if (reaped < 0) return;  // ECHILD: a subreaper without children has no descendants
    ::nanosleep(&kPause, nullptr);
  }
}

TemporaryDirectory::TemporaryDirectory() {
  const char* const base = std::getenv("TMPDIR");
  std::random_device random;
  const uint64_t number = uint64_t{random()} << 32 | random();
  path_ = fmt::format("{}/rmarun-{:016x}", base != nullptr && *base != '\0' ? base : "/tmp", number);
}

bool TemporaryDirectory::make() const { return ::mkdir(path_.c_str(), S_IRWXU) == 0; }

void TemporaryDirectory::remove() const {
  std::error_code ignored;  // what cannot be removed now cannot be removed later either
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace rmarun
