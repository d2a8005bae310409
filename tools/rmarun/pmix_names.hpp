#pragma once

#include <string>
#include <string_view>

namespace rmarun {

/// The longest name of a host that is given to PMIx. PMIx_generate_regex of libpmix 4.2 copies the name up to
/// its digits into 50 bytes without a check: a longer name overwrites its stack.
constexpr std::size_t kLongestPmixHostName = 48;

/// Returns the name under which PMIx knows this host: `name`, the host's own, if PMIx can bear that. A longer
/// one is shortened, and characters that separate hosts in PMIx's lists are replaced. The result then ends
/// with a hash of the whole name, so that different names stay different. Never empty.
std::string pmix_host_name(std::string_view name);

}  // namespace rmarun
