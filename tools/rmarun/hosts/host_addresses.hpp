#pragma once

#include <string>
#include <string_view>

namespace rmarun {

/// The first word of the lines in which a host's shell tells its addresses (agent_script.hpp). An address of
/// IPv4 is dotted, and one of IPv6 is 32 hexadecimal digits.
inline constexpr std::string_view kAddressWord = "rmarun-address";

/// Returns the address of an end of a connection (connections.hpp) as hosts tell it. Returns an empty text if
/// the end is malformed.
std::string address_of_end(std::string_view end);

/// Returns the host that has told the address of an end of a connection, by the files agent.HOST of
/// `directory`; empty if none has, or several: hosts may have private networks with equal addresses.
std::string host_of_end(const std::string& directory, std::string_view end);

}  // namespace rmarun
