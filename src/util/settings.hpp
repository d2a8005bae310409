#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "util/status.hpp"

namespace librma {

enum class HugePagesSetting : std::uint8_t { off, transparent, hugetlb };
/// Automatic, or the CopyMethod (util/copying) of the same name.
enum class CopySetting : std::uint8_t { automatic, library, vectors32, vectors64, movsb, stream };
enum class CmaSetting : std::uint8_t { automatic, off };
enum class CollectiveSetting : std::uint8_t { automatic, p2p };
enum class AllgatherSetting : std::uint8_t { automatic, rdma, ring, p2p };
enum class ShmSetting : std::uint8_t { automatic, off };
enum class NetworkSetting : std::uint8_t { automatic, off, verbs, ofi };
/// The words of RMA_NETWORK, in the order of the enumerators. All words after "off" are names of providers.
inline constexpr std::array<std::string_view, 4> kNetworkNames = {"auto", "off", "verbs", "ofi"};
[[nodiscard]] constexpr std::string_view network_name(NetworkSetting network) {
  return kNetworkNames[static_cast<std::size_t>(network)];
}
enum class AtomicDomainSetting : std::uint8_t { automatic, cpu, nic, helper };
enum class ProtocolSetting : std::uint8_t { automatic, packed, pipelined, segments, host_assisted };
enum class LocalBufferSetting : std::uint8_t { cache, register_each, pipeline, bounce };
enum class RendezvousSetting : std::uint8_t {
  automatic,
  copy,
  read,
  register_each,
  cache,
  pipeline,
  caching_pipeline
};
enum class ProcessHeapSetting : std::uint8_t { automatic, off, on };
enum class ProgressSetting : std::uint8_t { caller, thread };
enum class SingletonSetting : std::uint8_t { automatic, always };
enum class StatisticsSetting : std::uint8_t { off, table, json };

/// The value of RMA_GID_INDEX with which the library chooses.
inline constexpr std::uint64_t kAnyGid = 256;

/// The values of all settings of the runtime. One table (settings_table.cpp) declares and documents them, and
/// read_settings() follows it. The table overwrites the initial values here.
struct Settings {
  std::uint64_t heap_size = 0;
  std::uint64_t heap_keep = 0;
  std::uint64_t max_regions = 0;
  std::uint64_t spins = 0;
  std::uint64_t yields = 0;
  std::uint64_t flat_ranks = 0;
  std::uint64_t direct_collective = 0;
  bool check_collectives = false;
  bool alias = true;
  std::string devices;
  std::string fabric_providers;
  std::uint64_t gid_index = 0;
  std::uint64_t peer_timeout = 0;
  std::uint64_t queue_depth = 0;
  std::uint64_t completions = 0;
  std::uint64_t receive_factor = 0;
  std::uint64_t receive_base = 0;
  std::uint64_t peer_receives = 0;
  std::uint64_t message_bytes = 0;
  std::uint64_t polling_set = 0;
  std::uint64_t promote_messages = 0;
  std::uint64_t ring_slots = 0;
  std::uint64_t ring_slot_bytes = 0;
  std::uint64_t helper_buffer = 0;
  std::uint64_t helper_buffers = 0;
  ProtocolSetting noncontiguous = ProtocolSetting::automatic;
  std::uint64_t packed_piece = 0;
  std::uint64_t helper_spins = 0;
  std::uint64_t extent_bytes = 0;
  std::uint64_t inline_bytes = 0;
  std::uint64_t bounce_bytes = 0;
  std::uint64_t bounce_buffers = 0;
  std::uint64_t pipeline_bytes = 0;
  std::uint64_t pipeline_depth = 0;
  std::uint64_t cache_bytes = 0;
  std::uint64_t cache_entries = 0;
  std::uint64_t stripe_bytes = 0;
  std::uint64_t piece_bytes = 0;
  std::uint64_t eager_bytes = 0;
  std::uint64_t network_eager_bytes = 0;
  std::uint64_t unexpected_bytes = 0;
  std::uint64_t shared_copy_bytes = 0;
  std::uint64_t host_ring_lines = 0;
  std::uint64_t host_ring_bytes = 0;
  /// A text about variables that begin with RMA_ and are not settings; empty if every name is known. The
  /// settings table does not list this member.
  std::string unknown;
  bool strict = false;
  std::string log;
  std::string statistics_file;
  std::string trace;
  // These are grouped because each takes one byte.
  HugePagesSetting huge_pages = HugePagesSetting::transparent;
  CopySetting copy = CopySetting::automatic;
  CmaSetting cma = CmaSetting::automatic;
  CollectiveSetting collective_algorithm = CollectiveSetting::automatic;
  AllgatherSetting allgather = AllgatherSetting::automatic;
  ShmSetting shm = ShmSetting::automatic;
  NetworkSetting network = NetworkSetting::automatic;
  AtomicDomainSetting atomic_domain = AtomicDomainSetting::automatic;
  LocalBufferSetting local_buffers = LocalBufferSetting::cache;
  RendezvousSetting rendezvous = RendezvousSetting::automatic;
  ProgressSetting progress = ProgressSetting::caller;
  ProcessHeapSetting process_heap = ProcessHeapSetting::automatic;
  SingletonSetting singleton = SingletonSetting::automatic;
  StatisticsSetting statistics = StatisticsSetting::off;
};

/// A setting whose values are a fixed set of words. `store` gets the index of the chosen word.
struct Choice {
  std::span<const std::string_view> words;
  void (*store)(Settings&, std::size_t word);
  std::size_t (*load)(const Settings&);
};

/// Where a setting counts. The ranks of a job compare the values of those that count for the job when they
/// first meet.
enum class SettingScope : std::uint8_t {
  rank,  ///< each rank may have a value of its own: it acts by it alone, or tells the others what it does
  job    ///< two ranks that have different values misunderstand each other
};

/// One row of the table.
struct SettingInfo {
  std::string_view name;  ///< the environment variable
  std::variant<std::uint64_t Settings::*, std::string Settings::*, Choice> value;
  std::string_view standard;  ///< the default, as a user would write it
  std::uint64_t least = 0;    ///< the smallest value of a number
  std::uint64_t most = 0;
  std::string_view unit;  ///< the unit of a number: "bytes", "ranks"...
  SettingScope scope;
  std::string_view help;  ///< the meaning, in one line
};

/// Returns all settings, in the order in which they are documented.
[[nodiscard]] std::span<const SettingInfo> setting_table();

/// A setting, or a value of one, that has another name now. Both are as a user writes them: NAME, or
/// NAME=value.
struct RenamedSetting {
  std::string_view before;
  std::string_view now;
};

/// Returns all settings and values that were renamed. read_settings() refuses them with a text that says the
/// new name.
[[nodiscard]] std::span<const RenamedSetting> renamed_settings();

/// Returns the settings of `environment`, which consists of "NAME=value" strings, and defaults for all
/// others. Numbers may end in K, M, G or T (powers of 1024). RMA_ERR_SETTING for a malformed or out-of-range
/// value. An unknown RMA_ name is described in Settings::unknown, with the nearest setting; with RMA_STRICT=1
/// it is RMA_ERR_SETTING, too.
[[nodiscard]] Result<Settings> read_settings(std::span<const std::string_view> environment);

/// Returns the settings of this process's environment.
[[nodiscard]] Result<Settings> read_settings();

/// Returns the value of one setting, as a user would write it.
[[nodiscard]] std::string setting_text(const SettingInfo& info, const Settings& settings);

/// The values of the settings that count for the whole job, as they travel between its processes.
class JobSettings {
 public:
  /// Leaves all values empty, as those of a process that has told nothing.
  JobSettings() = default;
  explicit JobSettings(const Settings& settings);

  /// Returns the bytes to send to other processes.
  [[nodiscard]] std::span<const std::byte> bytes() const { return std::as_bytes(std::span(words_)); }
  /// Takes what another process has sent. Returns false if it can come from no process of this version.
  [[nodiscard]] bool take(std::span<const std::byte> bytes);

  /// Returns RMA_ERR_SETTING, with both values, if those of `theirs`, of rank `other`, are not the same as
  /// these, of rank `self`.
  [[nodiscard]] Status agree(const JobSettings& theirs, int self, int other) const;

 private:
  /// One number for each setting of the job, in the order of the table. A word of a choice counts by its
  /// index.
  std::vector<std::uint64_t> words_;
};

/// Returns a text that says which values a setting accepts: "0 .. 64 bytes", "off | table | json", "text".
[[nodiscard]] std::string setting_range(const SettingInfo& info);

}  // namespace librma
