#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "util/system/descriptor.hpp"

// The messages between a rank and rmarun while the job starts and ends, over a UNIX socket that keeps
// messages apart. rmarun listens at a file of its directory, which ranks in other network namespaces reach
// too, and at an abstract name, which ranks reach that do not see the file. The system says whose process a
// rank is, in rmarun's user namespace (SO_PEERCRED).

namespace librma {

/// The variable that names rmarun's directory to the ranks. The last part of the path is a random name, which
/// is also the abstract name, and the end of the job's name.
inline constexpr const char* kLauncherDirectory = "RMARUN_DIRECTORY";
/// The file in that directory.
inline constexpr const char* kLauncherSocket = "ranks";

enum class RankCall : std::uint32_t {
  /// says that the rank is there; RankSite follows. rmarun answers with the number of seats, the number of
  /// the rank's program, and RankWorld
  join,
  /// asks who can share memory with this rank. Answered when all ranks of its world have asked, by RankGroup
  gather,
  publish,  ///< the rank's card, without an answer
  meet,     ///< asks whether all ranks of its world are here. Answered when they are
  card,     ///< asks for the card of `rank`. Answered with the card
  leave,    ///< the rank has left the job. Answered, so that however its process ends then disturbs nobody
  abort,    ///< ends the job, over a connection of its own. rmarun answers by the end of the connection
  // Those that follow go over connections of their own, and name the rank that asks.
  /// asks whether these ranks, of any worlds, are all here: the list follows, and the rank's card. Answered
  /// when all of them have asked it with this number. Then this connection may ask for cards
  convene,
  spawn,      ///< more ranks: see spawn_call.hpp. Answered by the first rank and how many of each program
  open_port,  ///< asks for a port. Answered by its number
  close_port,
  accept,  ///< waits at the port `number` for a rank that connects, and gets what that has sent
  /// waits at the port `number` for a rank that accepts, and gets what that has sent. It waits `detail`
  /// seconds at most, or as long as it takes if that is 0
  connect,
  publish_name,    ///< two texts follow, a name and a value
  look_name_up,    ///< a text follows. Answered by the value
  unpublish_name,  ///< a text follows
  gone,            ///< rmarun's answer to `gather`, `meet` and `convene` if `rank` cannot come, and to `card`
  denied,          ///< rmarun's answer to the calls that have connections of their own; the reason follows
  refused,         ///< rmarun's answer instead of any other
};

/// Each message begins with these.
struct RankWords {
  static constexpr std::uint64_t kMagic = 0x3376'6b6e'6172'6d72;  // "rmrankv3": also the version
  std::uint64_t magic = kMagic;
  RankCall call = RankCall::refused;
  std::int32_t rank = 0;    ///< of the process that asks, or that is asked about
  std::int32_t number = 0;  ///< join: that of the seats; abort: the code; others: see RankCall
  std::int32_t detail = 0;  ///< join: the number of the rank's program; connect: the seconds
};

/// The ranks that begin together: those of the command line, or of one call of spawn. The ranks that have
/// started the latter, `parents`, follow.
struct RankWorld {
  std::int32_t first = 0;
  std::int32_t count = 0;
  std::uint32_t number = 0;  ///< that under which the two meet
  std::uint32_t parents = 0;
};

/// The place where a rank that joins runs.
struct RankSite {
  std::uint64_t network = 0;           ///< its network namespace
  std::uint64_t directory_device = 0;  ///< of rmarun's directory as it sees it; zeros if it does not
  std::uint64_t directory_inode = 0;
};

/// rmarun's answer to `gather`. The ranks of the group follow, ascending, of four bytes each.
struct RankGroup {
  std::uint32_t by_file = 0;  ///< 1: not all are in one network namespace, so they meet at files
};

/// Returns where this process runs. `directory`: rmarun's.
[[nodiscard]] RankSite site_of_this_process(const std::string& directory);

/// Sends a message, whose parts follow each other. Allocates nothing. Returns false, with errno set, if that
/// failed. `flags` are those of send(2).
bool send_call(const Descriptor& socket, const RankWords& words, std::span<const std::byte> body = {},
               std::span<const std::byte> rest = {}, int flags = 0) noexcept;
/// Receives the next message. Returns its size; 0 if the other end has closed the connection, or has sent a
/// message that is longer than any of these; -1 with errno set on failure.
[[nodiscard]] ssize_t receive_call(const Descriptor& socket, std::vector<std::byte>& message);

}  // namespace librma
