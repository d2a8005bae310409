#include "util/process_identity.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <string_view>

#include "util/interruptions.hpp"

namespace rma {
namespace {

/// Parses the 22nd field of /proc/PID/stat. The second field is the program's name in parentheses, which may
/// itself contain spaces and parentheses. The later fields contain no parentheses.
bool parse_start(std::string_view line, std::uint64_t& started) {
  constexpr int kBehindName = 20;
  std::size_t at = line.rfind(')');
  for (int field = 0; field < kBehindName && at != std::string_view::npos; ++field) {
    at = line.find(' ', at + 1);
  }
  if (at == std::string_view::npos) return false;
  const char* const end = line.data() + line.size();
  return std::from_chars(line.data() + at + 1, end, started).ec == std::errc();
}

}  // namespace

Result<ProcessIdentity> identify(pid_t process) {
  const auto path = fmt::format("/proc/{}/stat", process);
  const int file = uninterrupted([&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC); });
  std::array<char, 1024> line;
  const ssize_t bytes = file < 0 ? -1 : uninterrupted([&] { return read(file, line.data(), line.size()); });
  const int error = errno;
  if (file >= 0) close(file);
  if (bytes < 0 && (error == ENOENT || error == ESRCH)) {
    return Status(RMA_ERR_PEER_LOST, fmt::format("process {} is no more", process));
  }
  if (bytes < 0) return system_failure(RMA_ERR_SYSTEM, path, error);
  ProcessIdentity who = {.process = process};
  if (!parse_start({line.data(), static_cast<std::size_t>(bytes)}, who.started)) {
    return Status(RMA_ERR_SYSTEM, fmt::format("{} does not say when the process started", path));
  }
  return who;
}

}  // namespace rma
