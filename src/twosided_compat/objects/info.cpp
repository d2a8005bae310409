// Info objects, and what MPI_INFO_ENV says of this process.

#include "twosided_compat/objects/info.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>

namespace librma::mpi {

Info::Info(const Info& other) : Object(Kind::kInfo) {
  const std::lock_guard guard(other.lock_);
  entries_ = other.entries_;
}

Info::Entries::const_iterator Info::find_entry(std::string_view key) const {
  return std::find_if(entries_.begin(), entries_.end(),
                      [key](const auto& entry) { return entry.first == key; });
}

void Info::set(std::string_view key, std::string_view value) {
  const std::lock_guard guard(lock_);
  const auto place = find_entry(key);
  if (place == entries_.end()) {
    entries_.emplace_back(key, value);
  } else {
    entries_[static_cast<std::size_t>(place - entries_.begin())].second = value;
  }
}

std::optional<std::string> Info::get(std::string_view key) const {
  const std::lock_guard guard(lock_);
  const auto place = find_entry(key);
  if (place == entries_.end()) return std::nullopt;
  return place->second;
}

bool Info::remove(std::string_view key) {
  const std::lock_guard guard(lock_);
  const auto place = find_entry(key);
  if (place == entries_.end()) return false;
  entries_.erase(place);
  return true;
}

std::size_t Info::size() const {
  const std::lock_guard guard(lock_);
  return entries_.size();
}

std::optional<std::string> Info::key(std::size_t place) const {
  const std::lock_guard guard(lock_);
  if (place >= entries_.size()) return std::nullopt;
  return entries_[place].first;
}

namespace {

/// Sets a key if there is something to say that fits into a value.
void set_known(Info& info, std::string_view key, const std::string& value) {
  if (!value.empty() && value.size() < MPI_MAX_INFO_VAL) info.set(key, value);
}

/// Sets what the system says of this process. The keys are those that the standard reserves for MPI_INFO_ENV;
/// what the process does not know, as the soft limits of its launcher, has no key.
void describe_process(Info& info) {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string words((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!words.empty() && words.back() == '\0') words.pop_back();
  const std::size_t end = words.find('\0');
  set_known(info, "command", words.substr(0, end));
  if (end != std::string::npos) {
    std::string arguments = words.substr(end + 1);
    std::replace(arguments.begin(), arguments.end(), '\0', ' ');
    set_known(info, "argv", arguments);
  }
  utsname system = {};
  if (uname(&system) == 0) {
    set_known(info, "host", system.nodename);
    set_known(info, "arch", system.machine);
  }
  std::array<char, MPI_MAX_INFO_VAL> directory = {};
  if (getcwd(directory.data(), directory.size()) != nullptr) set_known(info, "wdir", directory.data());
}

}  // namespace

Info* find_info(MPI_Info info) {
  if (info != MPI_INFO_ENV) return find<Info>(info);
  // Never destroyed, because programs may ask at their very end.
  static Info* const kEnvironment = [] {
    auto* const made = new Info(predefined_number(MPI_INFO_ENV));
    describe_process(*made);
    return made;
  }();
  return kEnvironment;
}

int check_hints(MPI_Info info) {
  if (info != MPI_INFO_NULL && find_info(info) == nullptr)
    return failure(MPI_ERR_INFO, "the info was freed, or is no info");
  return MPI_SUCCESS;
}

}  // namespace librma::mpi
