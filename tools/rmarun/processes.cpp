#include "rmarun/processes.hpp"

#include <fmt/format.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill() is POSIX's
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>

namespace rmarun {
namespace {

/// Returns a field of proc(5)'s stat file, by its number (3 is the state); only fields behind the name. The
/// result is empty if the process does not exist any more.
std::string stat_field(const std::filesystem::path& proc_entry, int number) {
  std::ifstream file(proc_entry / "stat");
  std::string line;
  std::getline(file, line);
  // "pid (name) state parent ...": the name may hold blanks and parentheses, so the last ')' ends it.
  const auto name_end = line.rfind(')');
  if (name_end == std::string::npos) return "";
  std::istringstream fields(line.substr(name_end + 1));
  std::string field;
  constexpr int kState = 3;
  for (int at = kState; at <= number && fields >> field; ++at) {
  }
  return fields ? field : "";
}

template <typename Number>
Number parsed(const std::string& text) {
  Number number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// Returns whether this process has children, also such as have ended and are not reaped yet. Only a process
/// with children has descendants.
bool has_children() {
  siginfo_t ended{};
  return ::waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

/// Returns the parent of a process, or 0 if the process does not exist any more.
pid_t parent_of(const std::filesystem::path& proc_entry) {
  constexpr int kParent = 4;
  return parsed<pid_t>(stat_field(proc_entry, kParent));
}

}  // namespace

std::string describe_signal(int signal) { return fmt::format("signal {} ({})", signal, ::strsignal(signal)); }

std::vector<pid_t> descendants() {
  // The list below has all processes of the host, and each rank's keeper asks when its rank has ended.
  if (!has_children()) return {};
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

std::string describe_refusal(int error) {
  std::string why = std::system_category().message(error);
  if (error != EAGAIN) return why;
  return why +
         " (the limits on processes and threads are those of the user, ulimit -u, and of the container or "
         "batch job, pids.max)";
}

bool is_ending(pid_t pid) {
  constexpr int kFlags = 9;
  constexpr uint64_t kExiting = 4;  // Linux's PF_EXITING: set before files are closed, and in zombies
  const std::filesystem::path entry = "/proc/" + std::to_string(pid);
  return (parsed<uint64_t>(stat_field(entry, kFlags)) & kExiting) != 0;
}

char process_state(pid_t pid) {
  constexpr int kState = 3;
  const std::string state = stat_field("/proc/" + std::to_string(pid), kState);
  return state.empty() ? '\0' : state.front();
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

}  // namespace rmarun
