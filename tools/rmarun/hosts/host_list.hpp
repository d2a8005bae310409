#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/status.hpp"

namespace rmarun {

/// A host on which ranks may start.
struct Host {
  std::string name;                ///< as the remote shell takes it
  std::string user{};              ///< of the remote shell; empty: its default
  int port = 0;                    ///< of the remote shell; 0: its default
  std::optional<int> slots{};      ///< the number of ranks for which it has room, if the list says it
  std::optional<int> max_slots{};  ///< the most ranks that it takes, whatever else the user wants
};

/// Reads a list such as "a:4,user@b,[fe80::1]:2,n[01-16]:8". A host that is named several times is one host.
/// Each mention without a number then counts as one slot, as PBS counts them. @return RMA_ERR_ARGUMENT, with
/// the word, for a list that names no host, a number that is none, or a name that no host has. Names reach
/// command lines: those that begin with '-', or that have blanks, control characters or characters of a
/// shell, are refused.
librma::Result<std::vector<Host>> hosts_of_list(const std::string& list);
/// Reads a host file, a host a line: Open MPI's ("a slots=4 max_slots=8", "a slots = 4", "a user=me
/// port=22"), MPICH's ("a:4"), or PBS's (a name for each slot), with comments. "n[1-3] slots=2" is three
/// hosts.
librma::Result<std::vector<Host>> hosts_of_file(const std::string& path);
/// Returns the lines of a host file. @return RMA_ERR_ARGUMENT if it cannot be read.
librma::Result<std::vector<std::string>> lines_of_host_file(const std::string& path);
/// Adds `host` to `hosts`, or its slots to the entry that has its name.
void add_host(std::vector<Host>& hosts, Host host);
/// Reads "NAME", "NAME:SLOTS", "USER@NAME" or "[ADDRESS]:SLOTS".
librma::Result<Host> host_of_word(std::string_view word);

/// Whether `name` names this host, whose own name is `own`: localhost, an address of the loopback, or the own
/// name, with or without its domain.
bool names_this_host(std::string_view name, std::string_view own);
/// Returns this host's own name.
std::string own_host_name();

}  // namespace rmarun
