#include "rmarun/hosts/host_list.hpp"

#include <fmt/format.h>
#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <fstream>
#include <span>
#include <sstream>
#include <utility>

#include "rmarun/hosts/host_ranges.hpp"
#include "util/try_assign.hpp"

namespace rmarun {
namespace {

constexpr int kLastPort = 65535;
/// The longest name that the system of names knows.
constexpr std::size_t kLongestName = 255;

librma::Status wrong_host(std::string text) { return {RMA_ERR_ARGUMENT, std::move(text)}; }

/// Returns a word with nothing in it that a terminal would act on.
std::string shown(std::string_view word) {
  std::string text(word);
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return text;
}

bool is_plain_word(std::string_view word, std::string_view more) {
  return !word.empty() && word.size() <= kLongestName && word[0] != '-' &&
         std::ranges::all_of(word, [&](unsigned char c) {
           return (std::isalnum(c) != 0 && c < 0x80) || more.find(static_cast<char>(c)) != more.npos;
         });
}

/// Returns the words of a line of a host file. An '=' is a word of its own: "slots=4" is written with blanks
/// too.
std::vector<std::string> words_of_line(std::string_view line) {
  std::string spread;
  for (const char c : line.substr(0, line.find('#'))) spread += c == '=' ? " = " : std::string(1, c);
  std::istringstream from(spread);
  std::vector<std::string> words;
  for (std::string word; from >> word;) words.push_back(std::move(word));
  return words;
}

/// Applies a word behind a host's name in a host file, with its value. `written` shows both.
librma::Status apply_word(Host& host, std::string key, const std::string& value, const std::string& written) {
  constexpr std::array<std::string_view, 4> kSlots = {"slots", "slot", "count", "cpu"};
  constexpr std::array<std::string_view, 5> kMaxSlots = {"max_slots", "slots_max", "count_max", "cpu_max",
                                                         "max_cpu"};
  constexpr std::array<std::string_view, 3> kUser = {"user", "username", "user_name"};
  std::ranges::replace(key, '-', '_');
  const auto is_one_of = [&](const auto& keys) { return std::ranges::find(keys, key) != keys.end(); };
  if (is_one_of(kSlots)) {
    host.slots = number_up_to(value, kMostSlots);
    if (!host.slots)
      return wrong_host(fmt::format("'{}' of host {} is no number of slots", written, host.name));
  } else if (is_one_of(kMaxSlots)) {
    host.max_slots = number_up_to(value, kMostSlots);
    if (!host.max_slots) return wrong_host(fmt::format("'{}' of host {} is no number", written, host.name));
  } else if (is_one_of(kUser)) {
    if (!is_plain_word(value, "._-"))
      return wrong_host(fmt::format("'{}' is no name of a user", shown(value)));
    host.user = value;
  } else if (key == "port") {
    const auto port = number_up_to(value, kLastPort);
    if (!port) return wrong_host(fmt::format("'{}' of host {} is no port", written, host.name));
    host.port = *port;
  } else {
    return wrong_host(fmt::format("'{}' behind host {} is none of slots=N, max_slots=N, user=NAME and port=N",
                                  written, host.name));
  }
  return {};
}

/// Applies the words behind a host's name in a host file.
librma::Status apply_words(Host& host, std::span<const std::string> words) {
  while (!words.empty()) {
    const std::string& key = words[0];
    words = words.subspan(1);
    const bool equals = !words.empty() && words[0] == "=";
    if (equals) words = words.subspan(1);
    const std::string value = words.empty() ? "" : words[0];
    const std::string written = equals ? fmt::format("{}={}", key, value) : key;
    if (auto status = apply_word(host, key, value, shown(written)); !status.ok()) return status;
    words = words.subspan(1);  // the value: none is empty
  }
  return {};
}

/// Takes a list apart at the commas that are not in brackets.
std::vector<std::string> words_of_list(const std::string& list) {
  std::vector<std::string> words(1);
  bool inside = false;
  for (const char c : list) {
    inside = c == '[' || (inside && c != ']');
    if (c == ',' && !inside) {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  std::erase(words, "");
  return words;
}

/// Returns "n1:2" and "n2:2" for "n[1-2]:2". A word without such a range stands for itself, and so does an
/// address in brackets, which has nothing in front but perhaps a user.
librma::Result<std::vector<std::string>> names_of_word(const std::string& word) {
  const auto open = word.find('[');
  if (open == word.npos || open == 0 || word[open - 1] == '@') return std::vector<std::string>{word};
  auto names = expand_host_ranges(word);
  if (!names.ok()) return wrong_host(fmt::format("'{}' is no range of hosts", shown(word)));
  return names;
}

}  // namespace

librma::Result<Host> host_of_word(std::string_view word) {
  Host host;
  std::string_view name = word;
  if (const auto at = name.find('@'); at != name.npos) {
    host.user = name.substr(0, at);
    name.remove_prefix(at + 1);
    if (!is_plain_word(host.user, "._-"))
      return wrong_host(fmt::format("'{}' has no name of a user before @", shown(word)));
  }
  // [address]:N, or a name with one colon. An address of IPv6 without brackets has several.
  const auto colon = name.rfind(':');
  const bool bracket = name.starts_with('[');
  if (colon != name.npos && colon > 0 && (bracket ? name[colon - 1] == ']' : name.find(':') == colon)) {
    host.slots = number_up_to(name.substr(colon + 1), kMostSlots);
    if (!host.slots) return wrong_host(fmt::format("'{}' is not HOST:SLOTS", shown(word)));
    name = name.substr(0, colon);
  }
  if (name.size() > 2 && bracket && name.back() == ']') name = name.substr(1, name.size() - 2);
  const bool half_address = std::ranges::count(name, ':') == 1;
  if (half_address || !is_plain_word(name, "._-:%"))
    return wrong_host(fmt::format("'{}' is no name of a host", shown(word)));
  host.name = name;
  return host;
}

void add_host(std::vector<Host>& hosts, Host host) {
  const auto same = std::ranges::find_if(hosts, [&](const Host& each) {
    return each.name.size() == host.name.size() && ::strcasecmp(each.name.c_str(), host.name.c_str()) == 0;
  });
  if (same == hosts.end()) {
    hosts.push_back(std::move(host));
    return;
  }
  same->slots = std::min(kMostSlots, same->slots.value_or(1) + host.slots.value_or(1));
  if (host.max_slots) same->max_slots = std::min(kMostSlots, same->max_slots.value_or(0) + *host.max_slots);
  if (!host.user.empty()) same->user = host.user;
  if (host.port != 0) same->port = host.port;
}

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

std::string own_host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

librma::Result<std::vector<Host>> hosts_of_list(const std::string& list) {
  std::vector<Host> hosts;
  for (const std::string& word : words_of_list(list)) {
    RMA_TRY_ASSIGN(names, names_of_word(word));
    for (const std::string& name : names) {
      RMA_TRY_ASSIGN(host, host_of_word(name));
      add_host(hosts, std::move(host));
    }
  }
  if (hosts.empty()) return wrong_host(fmt::format("'{}' names no host", shown(list)));
  return hosts;
}

librma::Result<std::vector<std::string>> lines_of_host_file(const std::string& path) {
  const auto failure = [&](int error) {
    return librma::system_failure(RMA_ERR_ARGUMENT, fmt::format("cannot read the host file '{}'", path),
                                  error);
  };
  std::ifstream file(path);
  if (!file) return failure(errno);
  std::vector<std::string> lines;
  errno = 0;
  for (std::string line; std::getline(file, line);) lines.push_back(std::move(line));
  // A directory can be opened, and not be read.
  if (file.bad()) return failure(errno != 0 ? errno : EIO);
  return lines;
}

librma::Result<std::vector<Host>> hosts_of_file(const std::string& path) {
  RMA_TRY_ASSIGN(lines, lines_of_host_file(path));
  std::vector<Host> hosts;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto within_file = [&](librma::Status status) {
      return std::move(status).within(fmt::format("host file '{}', line {}", path, i + 1));
    };
    const std::vector<std::string> words = words_of_line(lines[i]);
    if (words.empty()) continue;
    auto names = names_of_word(words[0]);
    if (!names.ok()) return within_file(std::move(names).status());
    for (const std::string& name : names.value()) {
      auto host = host_of_word(name);
      if (!host.ok()) return within_file(std::move(host).status());
      if (auto status = apply_words(host.value(), std::span(words).subspan(1)); !status.ok())
        return within_file(std::move(status));
      add_host(hosts, std::move(host).value());
    }
  }
  if (hosts.empty()) return wrong_host(fmt::format("the host file '{}' names no host", shown(path)));
  return hosts;
}

}  // namespace rmarun
