// The one place where a setting is declared. Environment variables, their checks, `rma-info --settings` and
// docs/settings.md all follow from this table.

#include <limits>

#include "util/settings.hpp"

namespace rma {
namespace {

constexpr std::uint64_t kTebi = std::uint64_t{1} << 40;
constexpr std::array<std::string_view, 3> kHugePages = {"off", "transparent", "hugetlb"};
constexpr std::array<std::string_view, 2> kCma = {"auto", "off"};
constexpr std::array<std::string_view, 2> kCollective = {"auto", "mail"};
constexpr std::array<std::string_view, 2> kShm = {"auto", "off"};
constexpr std::array<std::string_view, 4> kAtomicDomain = {"auto", "cpu", "nic", "helper"};
constexpr std::array<std::string_view, 5> kProtocol = {"auto", "packed", "pipelined", "segments",
                                                       "host_assisted"};
constexpr std::array<std::string_view, 4> kLocalBuffers = {"cache", "register", "pipeline", "bounce"};
constexpr std::array<std::string_view, 3> kStatistics = {"off", "table", "json"};

template <auto member>
Choice choice(std::span<const std::string_view> words) {
  using Enum = std::remove_reference_t<decltype(std::declval<Settings>().*member)>;
  return {words, [](Settings& settings, std::size_t word) { settings.*member = static_cast<Enum>(word); },
          [](const Settings& settings) { return static_cast<std::size_t>(settings.*member); }};
}

}  // namespace

std::span<const SettingInfo> setting_table() {
  static const std::array table = {
      SettingInfo{
          "RMA_HEAP_SIZE", &Settings::heap_size, "0", 0, 64 * kTebi, "bytes",
          "Most memory that one rank's heap may hold; 0 takes half of what the machine and its control "
          "groups allow, divided by its ranks"},
      SettingInfo{"RMA_HEAP_KEEP", &Settings::heap_keep, "32M", 0, 64 * kTebi, "bytes",
                  "Most freed memory of the heap that is kept for the next allocations; where there is a "
                  "network, all of it is"},
      SettingInfo{
          "RMA_HUGE_PAGES", choice<&Settings::huge_pages>(kHugePages), "transparent", 0, 0, "",
          "Back the heap with huge pages: transparent asks the kernel to join those of blocks of 2 MiB and "
          "more, which takes no more memory; hugetlb needs reserved pages"},
      SettingInfo{"RMA_MAX_REGIONS", &Settings::max_regions, "1024", 8, 65536, "regions",
                  "Entries of a rank's list of memory: the heap, each rma_register, and where there is a "
                  "network each extent by which the heap grew"},
      SettingInfo{
          "RMA_CMA", choice<&Settings::cma>(kCma), "auto", 0, 0, "",
          "Reach registered memory outside the heap by process_vm_readv and process_vm_writev when allowed"},
      SettingInfo{
          "RMA_SPIN", &Settings::spins, "2000", 0, 1000000, "polls",
          "Polls before a waiting rank yields or sleeps; none when there are more ranks than processors"},
      SettingInfo{"RMA_YIELDS", &Settings::yields, "64", 0, 1000000, "yields",
                  "Times a waiting rank gives its processor away before it sleeps"},
      SettingInfo{"RMA_COLL_FLAT_RANKS", &Settings::flat_ranks, "8", 1, 4096, "ranks",
                  "Teams up to this size meet by one flag per member; larger ones, and all where ranks do "
                  "not poll, by a counter"},
      SettingInfo{"RMA_COLL_DIRECT", &Settings::direct_collective, "32K", 0, kTebi, "bytes",
                  "Collectives from this size on read the other members' buffers in place"},
      SettingInfo{"RMA_COLL_ALGORITHM", choice<&Settings::collective_algorithm>(kCollective), "auto", 0, 0,
                  "",
                  "How teams meet: auto in shared memory where all members share a host, else by mail (puts "
                  "with notification); mail always so. The same on all ranks"},
      SettingInfo{"RMA_SHM", choice<&Settings::shm>(kShm), "auto", 0, 0, "",
                  "Map the memory of other ranks of the same host; off sends everything through the network"},
      SettingInfo{"RMA_NETWORK", choice<&Settings::network>(kNetworkNames), "auto", 0, 0, "",
                  "Network between ranks that are not mapped: auto opens verbs where there are such, verbs "
                  "always"},
      SettingInfo{
          "RMA_ATOMIC_DOMAIN", choice<&Settings::atomic_domain>(kAtomicDomain), "auto", 0, 0, "",
          "Who executes 8-byte atomics: the processor (auto on one host), the network device (auto on "
          "several) or the target's helper thread, by the processor. The same on all ranks"},
      SettingInfo{"RMA_DEVICES", &Settings::devices, "", 0, 0, "",
                  "RDMA devices to use, as in mlx5_0,mlx5_1:2; empty takes every usable port (rma-info lists "
                  "them)"},
      SettingInfo{"RMA_GID_INDEX", &Settings::gid_index, "256", 0, kAnyGid, "index",
                  "Entry of the ports' GID tables to use with RoCE; 256 chooses RoCE v2 with an IPv4 address "
                  "where there is one"},
      SettingInfo{"RMA_PEER_TIMEOUT", &Settings::peer_timeout, "10", 1, 3600, "seconds",
                  "A rank that is silent for so long while something waits for it is lost"},
      SettingInfo{
          "RMA_QP_DEPTH", &Settings::queue_depth, "127", 16, 16384, "operations",
          "Operations to one rank that a network device holds at once, per rail. Devices that keep one "
          "slot free and round up to a power of two need half the memory for 127 that they need for 128"},
      SettingInfo{"RMA_CQ_DEPTH", &Settings::completions, "4096", 64, 1048576, "operations",
                  "Operations to all ranks that a network device holds at once"},
      SettingInfo{
          "RMA_SRQ_FACTOR", &Settings::receive_factor, "8", 0, 4096, "receives",
          "k in log2(ranks) * k + b, the number of messages that the shared receive queue has room for"},
      SettingInfo{"RMA_SRQ_BASE", &Settings::receive_base, "16", 1, 65536, "receives",
                  "b of the same formula"},
      SettingInfo{"RMA_SRQ_PEER", &Settings::peer_receives, "4", 3, 4096, "receives",
                  "Message buffers set aside for each rank that connects; those of the formula are lent to "
                  "ranks that need more"},
      SettingInfo{"RMA_MESSAGE", &Settings::message_bytes, "2K", 512, 65536, "bytes",
                  "Size of a message buffer; the same on all ranks"},
      SettingInfo{
          "RMA_POLLING_SET", &Settings::polling_set, "8", 0, 4096, "ranks",
          "Ranks, the busiest, whose short messages come by a ring of their own that the helper thread "
          "polls while it is awake; and as many that this rank sends to by such rings. 0: none. A device "
          "that does not place the bytes of a write in their order needs 0"},
      SettingInfo{"RMA_PROMOTE", &Settings::promote_messages, "32", 1, 1024, "messages",
                  "A rank that has sent so many of 1024 messages, and of those since the helper thread last "
                  "slept, is offered a ring"},
      SettingInfo{"RMA_RING_SLOTS", &Settings::ring_slots, "16", 1, 4096, "messages", "Messages in a ring"},
      SettingInfo{
          "RMA_RING_SLOT", &Settings::ring_slot_bytes, "512", 64, 4096, "bytes",
          "Size of a ring's slot, rounded up to a multiple of 64; longer messages go by message buffers. "
          "A rank declines rings that are larger than its own"},
      SettingInfo{"RMA_HELPER_BUFFER", &Settings::helper_buffer, "64K", 4096, std::uint64_t{1} << 26, "bytes",
                  "Most data of one request to a helper thread; larger transfers that need it take several"},
      SettingInfo{"RMA_HELPER_BUFFERS", &Settings::helper_buffers, "8", 2, 4096, "buffers",
                  "Registered buffers of RMA_HELPER_BUFFER bytes for requests made here, and as many for "
                  "those served"},
      SettingInfo{
          "RMA_NONCONTIGUOUS", choice<&Settings::noncontiguous>(kProtocol), "auto", 0, 0, "",
          "How noncontiguous data goes to another host and comes from there: copied at both ends in "
          "one buffer after the other, or in small ones at the same time; a request to the device for "
          "each segment; or gathered and scattered by the devices. Memory that is not registered is "
          "copied in any case"},
      SettingInfo{"RMA_PACKED_PIECE", &Settings::packed_piece, "16K", 512, std::uint64_t{1} << 26, "bytes",
                  "Piece by which data is copied that no network device can move, one being copied while "
                  "another travels"},
      SettingInfo{"RMA_HELPER_SPIN", &Settings::helper_spins, "2000", 0, 1000000, "polls",
                  "Most polls of a helper thread before it sleeps, while requests keep coming; none when the "
                  "host has not two processors for each rank"},
      SettingInfo{
          "RMA_EXTENT", &Settings::extent_bytes, "1M", 4096, kTebi, "bytes",
          "The heap grows by multiples of this, each registered in one piece, where there is a network"},
      SettingInfo{"RMA_LOCAL_BUFFERS", choice<&Settings::local_buffers>(kLocalBuffers), "cache", 0, 0, "",
                  "How buffers outside the heap are made usable for large transfers: registered once and "
                  "remembered, registered each time, registered piece by piece while others fly, or copied"},
      SettingInfo{"RMA_INLINE", &Settings::inline_bytes, "192", 0, 65536, "bytes",
                  "Puts up to this size travel in the request itself, as far as the device can"},
      SettingInfo{"RMA_BOUNCE", &Settings::bounce_bytes, "8K", 64, 1048576, "bytes",
                  "Buffers outside the heap up to this size are copied through registered ones"},
      SettingInfo{"RMA_BOUNCE_BUFFERS", &Settings::bounce_buffers, "64", 4, 65536, "buffers",
                  "Registered buffers of RMA_BOUNCE bytes"},
      SettingInfo{"RMA_PIPELINE", &Settings::pipeline_bytes, "256K", 4096, kTebi, "bytes",
                  "Piece by which RMA_LOCAL_BUFFERS=pipeline registers"},
      SettingInfo{"RMA_REG_CACHE_BYTES", &Settings::cache_bytes, "1G", 0, 64 * kTebi, "bytes",
                  "Most memory outside the heap that is kept registered while not in use"},
      SettingInfo{"RMA_REG_CACHE_ENTRIES", &Settings::cache_entries, "1024", 1, 1048576, "registrations",
                  "Most registrations that are kept while not in use"},
      SettingInfo{"RMA_STRIPE", &Settings::stripe_bytes, "128K", 4096, kTebi, "bytes",
                  "Transfers from this size on are divided among the rails"},
      SettingInfo{"RMA_PIECE", &Settings::piece_bytes, "1M", 4096, std::uint64_t{1} << 30, "bytes",
                  "Most bytes of one RDMA request; larger transfers are cut"},
      SettingInfo{"RMA_LOG", &Settings::log, "warn", 0, 0, "",
                  "Least serious message to print: trace, debug, info, warn, error or off"},
      SettingInfo{"RMA_STATS", choice<&Settings::statistics>(kStatistics), "off", 0, 0, "",
                  "Print operation counts when a rank finalizes"},
      SettingInfo{"RMA_STATS_FILE", &Settings::statistics_file, "", 0, 0, "",
                  "Write the counts to this file instead of standard error; %r is the rank"},
      SettingInfo{"RMA_TRACE", &Settings::trace, "", 0, 0, "",
                  "Write a Chrome-trace JSON of every call to this file (opens in Perfetto); %r is the rank"},
  };
  return table;
}

}  // namespace rma
