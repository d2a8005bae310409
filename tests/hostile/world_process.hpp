#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/job/job.hpp"
#include "core/one_sided/remote_access.hpp"
#include "helper_thread/helper_thread.hpp"
#include "loopback/loopback_transport.hpp"
#include "messages/messages.hpp"
#include "messages/rings/inbox.hpp"
#include "util/settings.hpp"

// The processes of a job for two-sided messages, which are all in this one and are driven by one thread.

namespace librma::hostile {

/// How the messages go: by the channel, as between hosts, or by rings, as within a host.
enum class MessagePath : std::uint8_t { channel, rings };

/// Ends the program with `text` unless `what` is true.
void demand(bool what, std::string_view text);

inline constexpr std::size_t kWorldRanks = 3;
/// The size of the ring of a process within a host.
inline constexpr LineRingSizes kWorldRing = {.lines = 16, .bytes = 4096};

/// One process. Its messages are null if the test plays it.
struct WorldProcess {
  std::unique_ptr<Job> job;
  InboxBlock* block = nullptr;  ///< of a process that the test plays
  transport::LoopbackTransport* endpoint = nullptr;
  std::unique_ptr<Rails> rails;
  std::unique_ptr<RemoteAccess> access;
  std::unique_ptr<Channel> channel;
  std::unique_ptr<Messages> messages;
  std::unique_ptr<HelperThread> helper;

  /// Polls everything once. Returns whether there was anything.
  bool progress();
};

/// The processes of one job. The test plays the one with the rank `played`.
class WorldProcesses {
 public:
  WorldProcesses(MessagePath path, std::string_view rendezvous, int played,
                 std::span<std::byte> played_memory);
  ~WorldProcesses();
  WorldProcesses(const WorldProcesses&) = delete;
  WorldProcesses& operator=(const WorldProcesses&) = delete;

  [[nodiscard]] WorldProcess& at(int rank) { return processes_[static_cast<std::size_t>(rank)]; }
  /// Polls all processes once. Returns whether there was anything.
  bool progress();

 private:
  void open_channel(int rank);
  void open_rings(int rank);
  [[nodiscard]] Result<NetworkCard> card_of(int rank);

  const Settings settings_;
  const int played_;
  transport::LoopbackFabric fabric_;
  std::array<WorldProcess, kWorldRanks> processes_;
};

/// The key of the played process's memory, which is registered first.
inline constexpr std::uint64_t kPlayedKey = (std::uint64_t{1} << 40U) + 1;

}  // namespace librma::hostile
