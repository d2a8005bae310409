#include "util/system/memory_limit.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>

#include "util/system/page_size.hpp"

namespace librma {
namespace {

constexpr std::uint64_t kNone = UINT64_MAX;

/// Returns the number in a file; kNone if there is no such file, or if it contains the word "max".
std::uint64_t number_in(const std::filesystem::path& file) {
  std::uint64_t number = 0;
  std::ifstream stream(file);
  return stream >> number ? number : kNone;
}

/// The names of the files of a group.
struct FileNames {
  const char* limit;
  const char* usage;
};

/// Lowers `limit` to the lowest one of the group at `path` below `mount` and of all groups around it. In a
/// container, `mount` may be the container's own group while `path` is a path of the host that does not exist
/// here.
void lower(GroupLimit& limit, const std::filesystem::path& mount, std::filesystem::path path,
           const FileNames& names) {
  const auto look_at = [&](const std::filesystem::path& group) {
    const std::uint64_t bytes = number_in(group / names.limit);
    if (bytes < limit.bytes) limit = {.bytes = bytes, .usage = group / names.usage};
  };
  look_at(mount);
  for (path = path.relative_path(); !path.empty(); path = path.parent_path()) look_at(mount / path);
}

/// Returns whether `name` is one of the words of a list that is separated by commas.
bool contains(std::string_view list, std::string_view name) {
  while (true) {
    const std::size_t comma = list.find(',');
    if (list.substr(0, comma) == name) return true;
    if (comma == std::string_view::npos) return false;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace

GroupLimit control_group_limit(const std::filesystem::path& root) {
  const std::filesystem::path mount = root / "sys/fs/cgroup";
  GroupLimit limit;
  std::ifstream groups(root / "proc/self/cgroup");
  std::string line;
  while (std::getline(groups, line)) {  // number:controllers:path, cgroups(7)
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string_view controllers = std::string_view(line).substr(first + 1, second - first - 1);
    const std::filesystem::path path = line.substr(second + 1);
    if (controllers.empty()) {
      lower(limit, mount, path, {.limit = "memory.max", .usage = "memory.current"});
    } else if (contains(controllers, "memory")) {
      lower(limit, mount / "memory", path,
            {.limit = "memory.limit_in_bytes", .usage = "memory.usage_in_bytes"});
    }
  }
  return limit;
}

std::uint64_t usable_memory() {
  const auto pages = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES));
  return std::min(pages * page_bytes(), control_group_limit("/").bytes);
}

}  // namespace librma
