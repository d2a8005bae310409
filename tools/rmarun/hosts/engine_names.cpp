#include "rmarun/hosts/engine_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace rmarun {

std::string engine_name(const Host& host, std::string_view own) {
  // Behind another port of this host there may be another machine.
  if (host.port == 0 && names_this_host(host.name, own)) return std::string(own);
  const auto plain = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '.'; };
  if (std::ranges::all_of(host.name, plain)) return host.name;
  std::string name = "host-";
  for (const char c : host.name) {
    if (plain(static_cast<unsigned char>(c))) {
      name += c;
    } else {
      name += c == ':' ? "-" : fmt::format("-{:02x}-", c);
    }
  }
  return name;
}

}  // namespace rmarun
