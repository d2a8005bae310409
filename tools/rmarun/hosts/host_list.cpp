#include "rmarun/hosts/host_list.hpp"

#include <fmt/format.h>
#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <fstream>
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

/// Applies the words behind a host's name in a host file.
librma::Status apply_words(Host& host, std::istream& words) {
  for (std::string word; words >> word;) {
    std::string key = word.substr(0, word.find('='));
    std::string value;
    if (key.size() < word.size()) {
      value = word.substr(key.size() + 1);
    } else {
      words >> value;
    }
    std::ranges::replace(key, '-', '_');
    if (key == "slots") {
      host.slots = number_up_to(value, kMostSlots);
      if (!host.slots)
        return wrong_host(fmt::format("'{}' of host {} is no number of slots", shown(word), host.name));
    } else if (key == "max_slots" || key == "count") {
      // More ranks than slots need --oversubscribe anyway.
      if (!number_up_to(value, kMostSlots))
        return wrong_host(fmt::format("'{}' of host {} is no number", shown(word), host.name));
    } else if (key == "user" || key == "username" || key == "user_name") {
      if (!is_plain_word(value, "._-"))
        return wrong_host(fmt::format("'{}' is no name of a user", shown(value)));
      host.user = value;
    } else if (key == "port") {
      const auto port = number_up_to(value, kLastPort);
      if (!port) return wrong_host(fmt::format("'{}' of host {} is no port", shown(word), host.name));
      host.port = *port;
    } else {
      return wrong_host(
          fmt::format("'{}' behind host {} is none of slots=N, max_slots=N, user=NAME and port=N",
                      shown(word), host.name));
    }
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
  const auto close = word.find(']');
  if (open == word.npos || close == word.npos || open == 0 || word[open - 1] == '@')
    return std::vector<std::string>{word};
  auto names = expand_host_ranges(std::string_view(word).substr(0, close + 1));
  if (!names.ok()) return wrong_host(fmt::format("'{}' is no range of hosts", shown(word)));
  for (std::string& name : names.value()) name += word.substr(close + 1);
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

librma::Result<std::vector<Host>> hosts_of_file(const std::string& path) {
  std::ifstream file(path);
  if (!file)
    return librma::system_failure(RMA_ERR_ARGUMENT, fmt::format("cannot read the host file '{}'", path),
                                  errno);
  std::vector<Host> hosts;
  std::size_t number = 0;
  const auto within_file = [&](librma::Status status) {
    return std::move(status).within(fmt::format("host file '{}', line {}", path, number));
  };
  for (std::string line; std::getline(file, line);) {
    ++number;
    std::istringstream words(line.substr(0, line.find('#')));
    std::string word;
    if (!(words >> word)) continue;
    auto host = host_of_word(word);
    if (!host.ok()) return within_file(std::move(host).status());
    if (auto status = apply_words(host.value(), words); !status.ok()) return within_file(std::move(status));
    add_host(hosts, std::move(host).value());
  }
  if (hosts.empty()) return wrong_host(fmt::format("the host file '{}' names no host", path));
  return hosts;
}

}  // namespace rmarun
