#include "rmarun/hosts.hpp"

#include <fmt/format.h>
#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>

namespace rmarun {
namespace {

std::string own_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

rma::Status wrong(std::string text) { return {RMA_ERR_ARGUMENT, std::move(text)}; }

std::optional<int> count(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

/// Adds one host. `more` are the words behind its name in a host file.
rma::Status add(Slots& slots, std::string name, std::istream* more) {
  std::optional<int> number;
  // [address]:N, or a name with one colon. An address of IPv6 without brackets has several.
  const auto colon = name.rfind(':');
  if (colon != std::string::npos && (name[0] == '[' ? name[colon - 1] == ']' : name.find(':') == colon)) {
    number = count(std::string_view(name).substr(colon + 1));
    if (!number) return wrong(fmt::format("'{}' is not HOST:SLOTS", name));
    name.resize(colon);
  }
  if (name.size() > 2 && name.front() == '[' && name.back() == ']') name = name.substr(1, name.size() - 2);
  std::string_view host = name;
  if (const auto at = host.find('@'); at != std::string_view::npos) host.remove_prefix(at + 1);
  if (!names_this_host(host, own_name())) {
    return wrong(
        fmt::format("'{}' is another host, and rmarun starts ranks on this one, {}, only: over several hosts "
                    "use srun --mpi=pmix or mpirun.openmpi",
                    host, own_name()));
  }
  for (std::string word; more != nullptr && *more >> word;) {
    constexpr std::string_view kSlots = "slots=";
    if (!word.starts_with(kSlots)) continue;  // max_slots, user, port
    number = count(std::string_view(word).substr(kSlots.size()));
    if (!number) return wrong(fmt::format("'{}' of host {} is no number of slots", word, host));
  }
  slots.limit = (slots.hosts == 0 || slots.limit) && number.has_value();
  ++slots.hosts;
  constexpr int kMost = 1 << 20;  // keeps the sum from overflowing
  slots.slots = std::min(kMost, slots.slots + std::min(kMost, number.value_or(0)));
  return {};
}

}  // namespace

bool names_this_host(std::string_view name, std::string_view own) {
  const auto same = [](std::string_view a, std::string_view b) {
    return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
  };
  if (same(name, "localhost") || same(name, "localhost.localdomain") || name == "::1" || name == "127.0.0.1")
    return true;
  if (same(name, own)) return true;
  // One of the two may lack the domain. Two domains are two hosts.
  const auto host_of = [](std::string_view full) { return full.substr(0, full.find('.')); };
  return same(host_of(name), host_of(own)) && (name.find('.') == name.npos || own.find('.') == own.npos);
}

rma::Result<Slots> slots_of_list(const std::string& list) {
  Slots slots;
  std::istringstream hosts(list);
  for (std::string host; std::getline(hosts, host, ',');) {
    if (host.empty()) continue;
    if (auto status = add(slots, host, nullptr); !status.ok()) return status;
  }
  if (slots.hosts == 0) return wrong(fmt::format("'{}' names no host", list));
  return slots;
}

rma::Result<Slots> slots_of_file(const std::string& path) {
  std::ifstream file(path);
  if (!file)
    return rma::system_failure(RMA_ERR_ARGUMENT, fmt::format("cannot read the host file '{}'", path), errno);
  Slots slots;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string host;
    if (!(words >> host)) continue;
    if (auto status = add(slots, host, &words); !status.ok())
      return std::move(status).within(fmt::format("host file '{}'", path));
  }
  if (slots.hosts == 0) return wrong(fmt::format("the host file '{}' names no host", path));
  return slots;
}

}  // namespace rmarun
