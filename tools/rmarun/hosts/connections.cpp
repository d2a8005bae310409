#include "rmarun/hosts/connections.hpp"

#include <filesystem>
#include <fstream>
#include <iomanip>
#include <set>
#include <sstream>
#include <system_error>

namespace rmarun {
namespace {

/// The system retransmits after 0.2 s or more, and doubles the time each time: this many are 12.6 s at least.
constexpr unsigned long kSilentRetransmissions = 6;
constexpr int kHexadecimal = 16;

/// Returns the texts "socket:[INODE]" of a process's sockets.
std::set<std::string> sockets_of(const std::filesystem::path& process) {
  std::set<std::string> sockets;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(process / "fd", error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code gone;
    sockets.insert(std::filesystem::read_symlink(entry->path(), gone).string());
  }
  return sockets;
}

}  // namespace

std::vector<Connection> connections_of(pid_t process) {
  const std::filesystem::path entry = "/proc/" + std::to_string(process);
  const std::set<std::string> sockets = sockets_of(entry);
  std::vector<Connection> connections;
  for (const char* const table : {"net/tcp", "net/tcp6"}) {
    std::ifstream file(entry / table);
    std::string line;
    std::getline(file, line);  // the titles
    while (std::getline(file, line)) {
      std::istringstream fields(line);
      std::string skipped;
      std::string here;
      std::string there;
      std::string state;
      std::string timer;
      std::string retransmissions;
      std::string inode;
      fields >> skipped >> here >> there >> state >> skipped >> timer >> retransmissions >> skipped >>
          skipped >> inode;
      if (!fields || state != "01" || !sockets.contains("socket:[" + inode + "]")) continue;
      const bool retransmits = timer.starts_with("01:");
      std::istringstream digits(retransmissions);
      unsigned long count = 0;
      digits >> std::setbase(kHexadecimal) >> count;
      connections.push_back({here, there, retransmits && count >= kSilentRetransmissions});
    }
  }
  return connections;
}

}  // namespace rmarun
