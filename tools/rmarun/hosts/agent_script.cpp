#include "rmarun/hosts/agent_script.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "rmarun/environment.hpp"
#include "rmarun/hosts/agents.hpp"
#include "rmarun/hosts/engine_names.hpp"
#include "rmarun/hosts/host_addresses.hpp"
#include "rmarun/hosts/host_list.hpp"

namespace rmarun {
namespace {

/// A remote shell that fails for a reason that may pass is called again, for so many seconds from its first
/// failure.
constexpr double kRetrySeconds = 30;
/// Such reasons, as patterns of the shell: a host or pod that starts, and a server that has too many callers.
constexpr std::string_view kTransient =
    R"(*"onnection refused"*|*"onnection reset"*|*"onnection closed"*|*_exchange_identification*|)"
    R"(*"No route to host"*|*"emporary failure in name resolution"*)";
/// The same for names of pods. The wrapper does not look for them after exit code 127: then "not found" is
/// said of a program.
constexpr std::string_view kUnknownName =
    R"(*"ould not resolve"*|*"ame or service not known"*|*"nknown host"*|*"not found"*)";

std::string shell_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

/// What a host does before the engine's daemon starts, as a word that any shell passes on to one that
/// understands it. It fails with kNoRoom if the host has no room for the files of the daemon, which would end
/// without a word then, or its ranks find nothing. And it tells the host's addresses: should the daemon's
/// connection fall silent before a keeper has spoken, they name the host.
std::string first_command() {
  return fmt::format(
      "sh -c 'f=${{TMPDIR:-/tmp}}/rmarun-room-$$; set -C; printf %65536d 1 > \"$f\"; "
      "code=$?; rm -f \"$f\"; "
      "sed -n \"/|--/h;/host LOCAL/{{x;s/.*|-- /{word} /p;}}\" /proc/net/fib_trie 2> /dev/null; "
      "sed \"s/ .*//;s/^/{word} /\" /proc/net/if_inet6 2> /dev/null; "
      "exit $code' || exit {no_room};",
      fmt::arg("word", kAddressWord), fmt::arg("no_room", kNoRoom));
}

}  // namespace

std::string agent_script(const Way& way, const std::vector<Placed>& placed, const std::string& directory) {
  // Without a terminal ssh could ask for nothing anyway; asked in vain, it would wait.
  const std::string shell =
      way.agent.empty() ? "ssh -x -o BatchMode=yes -o ConnectTimeout=15 -o ConnectionAttempts=2" : way.agent;
  // Where pods start, their names come late. Elsewhere a name that is unknown is mistyped.
  const bool pods = has_value("KUBERNETES_SERVICE_HOST");
  // Two texts of cases: which host a name of the engine's stands for, and what the shell needs for a host.
  std::string names;
  std::string cases;
  const std::string own = own_host_name();
  for (const Placed& each : placed) {
    const std::string name = engine_name(each.host, own);
    if (name != each.host.name)
      names += fmt::format("  {}) host={} ;;\n", shell_quoted(name), shell_quoted(each.host.name));
    std::string options;
    if (!each.host.user.empty()) options += " -l " + each.host.user;
    if (each.host.port != 0) options += fmt::format(" -p {}", each.host.port);
    if (!options.empty())
      cases += fmt::format("  {}) set -- {} \"$@\" ;;\n", shell_quoted(each.host.name), options);
  }
  return fmt::format(
      "#!/bin/sh\n"
      "while case $1 in -*) true ;; *) false ;; esac; do shift; done\n"
      "host=$1\n"
      "shift\n"
      "case $host in\n{names}  *) ;;\nesac\n"
      "set -- \"$host\" {first}\" $*\"\n"
      "case $host in\n{cases}  *) ;;\nesac\n"
      "cd {directory} || exit\n"
      "failed=\n"
      "while :; do\n"
      "  echo waits > \"status.$host\"\n"
      "  {shell} \"$@\" < /dev/null > \"agent.$host\" 2>&1\n"
      "  code=$?\n"
      "  case $code in 0|127) break ;; esac\n"
      "  failed=${{failed:-$(date +%s)}}\n"
      "  [ $(($(date +%s) - failed)) -ge {retry} ] && break\n"
      "  case $(tail -c 2000 \"agent.$host\") in {transient}) ;; *) break ;; esac\n"
      "  echo again > \"status.$host\"\n"
      "  sleep 1\n"
      "done\n"
      "echo $code > \"status.$host\"\n"
      "exit $code\n",
      fmt::arg("first", shell_quoted(first_command())), fmt::arg("names", names), fmt::arg("cases", cases),
      fmt::arg("directory", shell_quoted(directory)), fmt::arg("shell", shell),
      fmt::arg("retry", std::lround(std::min(way.start_seconds, kRetrySeconds))),
      fmt::arg("transient",
               fmt::format("{}{}{}", kTransient, pods ? "|" : "", pods ? kUnknownName : std::string_view())));
}

}  // namespace rmarun
