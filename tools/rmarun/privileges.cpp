#include "rmarun/privileges.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "rmarun/exit_codes.hpp"

namespace rmarun {

Identity Identity::own() { return {::getuid(), ::geteuid(), ::getgid(), ::getegid()}; }

std::string why_refused(const Identity& identity) {
  const bool users = identity.real_user != identity.effective_user;
  if (!users && identity.real_group == identity.effective_group) return "";
  return fmt::format("rmarun does not run set{0}: its real {1} {2} and effective {1} {3} differ",
                     users ? "uid" : "gid", users ? "user" : "group",
                     users ? identity.real_user : identity.real_group,
                     users ? identity.effective_user : identity.effective_group);
}

void refuse_lent_rights() {
  const std::string why = why_refused(Identity::own());
  if (why.empty()) return;
  fmt::print(stderr, "rmarun: {}\n", why);
  std::exit(kExitUsage);  // NOLINT(concurrency-mt-unsafe): one thread
}

}  // namespace rmarun
