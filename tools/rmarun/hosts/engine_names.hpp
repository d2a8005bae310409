#pragma once

#include <string>
#include <string_view>

#include "rmarun/hosts/host_list.hpp"

namespace rmarun {

/// Returns the name by which the engine gets to know a host. It is the host's own, as the user wrote it, but
/// in two cases. This host, whose own name is `own`, has that name, however the user wrote it: the engine
/// starts a daemon on every host that it does not know as its own. And ORTE refuses names with other
/// characters than letters, digits, '-' and '.': an address of IPv6, and a name with '_', get another name.
/// The wrapper of the remote shell knows which host it stands for.
std::string engine_name(const Host& host, std::string_view own);

}  // namespace rmarun
