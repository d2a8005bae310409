// The only place that declares settings. The environment variables, their checks, `rma-info --settings` and
// docs/settings.md all follow from this table.

#include "util/settings.hpp"

namespace librma {
namespace {

constexpr SettingScope kRank = SettingScope::rank;
constexpr SettingScope kJob = SettingScope::job;
constexpr std::uint64_t kTebi = std::uint64_t{1} << 40;
constexpr std::array<std::string_view, 3> kHugePages = {"off", "transparent", "hugetlb"};
constexpr std::array<std::string_view, 6> kCopy = {"auto",      "memcpy", "vectors32",
                                                   "vectors64", "movsb",  "stream"};
constexpr std::array<std::string_view, 2> kCma = {"auto", "off"};
constexpr std::array<std::string_view, 2> kCollective = {"auto", "p2p"};
constexpr std::array<std::string_view, 4> kAllgather = {"auto", "rdma", "ring", "p2p"};
constexpr std::array<std::string_view, 2> kShm = {"auto", "off"};
constexpr std::array<std::string_view, 4> kAtomicDomain = {"auto", "cpu", "nic", "helper"};
constexpr std::array<std::string_view, 5> kProtocol = {"auto", "packed", "pipelined", "segments",
                                                       "host_assisted"};
constexpr std::array<std::string_view, 4> kLocalBuffers = {"cache", "register", "pipeline", "bounce"};
constexpr std::array<std::string_view, 7> kRendezvous = {
    "auto", "copy", "read", "register", "cache", "pipeline", "caching_pipeline"};
constexpr std::array<std::string_view, 3> kProcessHeap = {"auto", "0", "1"};
constexpr std::array<std::string_view, 2> kSwitch = {"0", "1"};
constexpr std::array<std::string_view, 2> kProgress = {"caller", "thread"};
constexpr std::array<std::string_view, 2> kSingleton = {"auto", "always"};
constexpr std::array<std::string_view, 3> kStatistics = {"off", "table", "json"};

template <auto member>
Choice choice(std::span<const std::string_view> words) {
  using Enum = std::remove_reference_t<decltype(std::declval<Settings>().*member)>;
  return {words, [](Settings& settings, std::size_t word) { settings.*member = static_cast<Enum>(word); },
          [](const Settings& settings) { return static_cast<std::size_t>(settings.*member); }};
}

}  // namespace

std::span<const RenamedSetting> renamed_settings() {
  static constexpr std::array kRenamed = {
      RenamedSetting{"RMA_COLL_ALGORITHM=mail", "RMA_COLL_ALGORITHM=p2p"}};
  return kRenamed;
}

std::span<const SettingInfo> setting_table() {
  static const std::array table = {
      SettingInfo{"RMA_HEAP_SIZE", &Settings::heap_size, "0", 0, 64 * kTebi, "bytes", kRank,
                  "The maximum memory that one rank's heap may hold. 0 lets all ranks of the host together "
                  "have half of the memory that the machine and its control groups allow, and each its "
                  "part of that in any case; less if ulimit -v or -f leaves less room"},
      SettingInfo{"RMA_HEAP_KEEP", &Settings::heap_keep, "256M", 0, 64 * kTebi, "bytes", kRank,
                  "The maximum freed memory of the heap that stays for the next allocations, but never more "
                  "than an eighth of the rank's part of the memory (RMA_HEAP_SIZE). With a network, all of "
                  "it stays"},
      SettingInfo{"RMA_PROCESS_HEAP", choice<&Settings::process_heap>(kProcessHeap), "auto", 0, 0, "", kRank,
                  "Whether the program's malloc takes blocks up to 4 MiB from memory that the other ranks of "
                  "the host map: auto does so in processes that have loaded librma, by the rule in "
                  "docs/process_heap.md, 1 also in others and under Valgrind, 0 never. rmarun preloads "
                  "librma_heap.so, unless this is 0. "
                  "`rmarun -n 1 rma-info` says whether it works here, and else why not"},
      SettingInfo{
          "RMA_ALIAS", choice<&Settings::alias>(kSwitch), "1", 0, 0, "", kRank,
          "Whether rma_alias may put shared memory behind memory of the program. OpenSHMEM does so with "
          "the program's static data, which are then as fast as the heap. With 0 it registers them, and "
          "other ranks of the host reach them by system calls"},
      SettingInfo{
          "RMA_HUGE_PAGES", choice<&Settings::huge_pages>(kHugePages), "transparent", 0, 0, "", kRank,
          "Back the heap with huge pages. transparent asks the kernel for them for blocks of 2 MiB and "
          "more, which takes no more memory, until 0.1 s and a quarter of a second for each GB have "
          "gone. hugetlb needs reserved pages"},
      SettingInfo{
          "RMA_MAX_REGIONS", &Settings::max_regions, "128K", 8, 4U << 20U, "regions", kRank,
          "The most memory ranges that a rank can show to others. The heap takes one entry, and so does each "
          "rma_register, each MPI_Win_attach and MPI_Win_create outside the heap and, with a network, each "
          "extent by which the heap has grown. An entry takes memory only while it is used"},
      SettingInfo{"RMA_COPY", choice<&Settings::copy>(kCopy), "auto", 0, 0, "", kRank,
                  "How blocks of 2 KiB to 16 MiB are copied within a host. auto: the first rank of the host "
                  "measures the ways when the job starts, for 0.3 ms, and all its ranks take the fastest for "
                  "each size (rma-info --copies shows them). The others name one way"},
      SettingInfo{"RMA_CMA", choice<&Settings::cma>(kCma), "auto", 0, 0, "", kRank,
                  "Access registered memory outside the heap of ranks of this host by process_vm_readv and "
                  "process_vm_writev, if the system allows it. Otherwise, and with off, the owner's helper "
                  "copies"},
      SettingInfo{"RMA_SPIN", &Settings::spins, "2000", 0, 1000000, "polls", kRank,
                  "How often a waiting rank polls before it yields or sleeps; as many microseconds at most. "
                  "It does not poll if the host has more ranks than processors"},
      SettingInfo{"RMA_YIELDS", &Settings::yields, "64", 0, 1000000, "yields", kRank,
                  "How often a waiting rank yields its processor before it sleeps; less if other programs "
                  "compute there"},
      SettingInfo{"RMA_COLL_FLAT_RANKS", &Settings::flat_ranks, "8", 1, 4096, "ranks", kRank,
                  "Teams of up to this many ranks synchronize by one flag per member. Larger teams use a "
                  "counter, and so do all teams if ranks do not poll"},
      SettingInfo{"RMA_COLL_DIRECT", &Settings::direct_collective, "32K", 0, kTebi, "bytes", kRank,
                  "Collectives of at least this size read the other members' buffers in place"},
      SettingInfo{
          "RMA_COLL_ALGORITHM", choice<&Settings::collective_algorithm>(kCollective), "auto", 0, 0, "", kJob,
          "How the members of a team communicate: auto uses shared memory if all members share a host, "
          "else p2p, which sends two-sided messages; p2p always does so, for tests. The value must be "
          "the same on all ranks"},
      SettingInfo{
          "RMA_CHECK_COLLECTIVES", choice<&Settings::check_collectives>(kSwitch), "0", 0, 0, "", kJob,
          "With 1, the members of a team compare their collective calls before each operation. If the "
          "operation, the root, a size or the reduction differs, all of them fail and say which. It costs "
          "an allgather for each call. The value must be the same on all ranks"},
      SettingInfo{
          "RMA_ALLGATHER", choice<&Settings::allgather>(kAllgather), "auto", 0, 0, "", kJob,
          "How the members of a team that is not on one host gather: auto and rdma write into each "
          "other's memory, auto if there is a network and from a team's second call on; ring does the "
          "same along a ring, whatever the size; p2p sends two-sided messages. Only the figures of a "
          "paper and tests need the last three. The value must be the same on all ranks"},
      SettingInfo{"RMA_SHM", choice<&Settings::shm>(kShm), "auto", 0, 0, "", kJob,
                  "Map the memory of other ranks of the same host. off sends everything through the network. "
                  "The value must be the same on all ranks"},
      SettingInfo{
          "RMA_NETWORK", choice<&Settings::network>(kNetworkNames), "auto", 0, 0, "", kJob,
          "The network between ranks that are not mapped. auto opens one if there are such ranks: verbs if "
          "the host has an RDMA device, else ofi (libfabric). verbs and ofi always open that one. "
          "The value must be the same on all ranks"},
      SettingInfo{"RMA_ATOMIC_DOMAIN", choice<&Settings::atomic_domain>(kAtomicDomain), "auto", 0, 0, "",
                  kJob,
                  "The unit that executes 8-byte atomics: cpu is the processor (auto on one host), nic "
                  "the network device (auto on several hosts), helper the target's helper thread, by the "
                  "processor. Only the figures of a paper need nic, and cpu does the same as helper. The "
                  "value must be the same on all ranks"},
      SettingInfo{
          "RMA_DEVICES", &Settings::devices, "", 0, 0, "", kRank,
          "The RDMA devices to use, as in mlx5_0,mlx5_1:2; with ofi the interfaces, as in eth0. If empty, "
          "every usable port is used, but only one interface of TCP (rma-info lists them)"},
      SettingInfo{
          "RMA_OFI_PROVIDER", &Settings::fabric_providers, "cxi,psm3,opx,efa,verbs;ofi_rxm,tcp,net", 0, 0, "",
          kRank,
          "The providers of libfabric that RMA_NETWORK=ofi may use, the best first. Ranks connect only if "
          "they use the same one, so set it alike on all ranks"},
      SettingInfo{"RMA_GID_INDEX", &Settings::gid_index, "256", 0, kAnyGid, "index", kRank,
                  "The entry of a port's GID table to use with RoCE. 256 chooses RoCE v2 with an IPv4 "
                  "address if there is one"},
      SettingInfo{"RMA_PEER_TIMEOUT", &Settings::peer_timeout, "10", 1, 3600, "seconds", kRank,
                  "A rank counts as lost if it does not answer for this long while this rank waits for it"},
      SettingInfo{"RMA_QP_DEPTH", &Settings::queue_depth, "127", 16, 16384, "operations", kRank,
                  "The maximum number of operations to one rank that a network device holds at once, per "
                  "rail. Devices that keep one slot free and round up to a power of two need half the memory "
                  "for 127 that they need for 128"},
      SettingInfo{"RMA_CQ_DEPTH", &Settings::completions, "4096", 64, 1048576, "operations", kRank,
                  "The maximum number of operations to all ranks that a network device holds at once"},
      SettingInfo{"RMA_SRQ_FACTOR", &Settings::receive_factor, "8", 0, 4096, "receives", kRank,
                  "k in log2(ranks) * k + b, the number of buffers of the shared receive queue that are lent "
                  "to ranks"},
      SettingInfo{"RMA_SRQ_BASE", &Settings::receive_base, "16", 1, 65536, "receives", kRank,
                  "b in the same formula"},
      SettingInfo{
          "RMA_SRQ_PEER", &Settings::peer_receives, "4", 3, 4096, "receives", kRank,
          "The number of message buffers set aside for each rank that connects. Those of the formula "
          "are lent to ranks that need more. Over a network that has no rings (RMA_POLLING_SET) there are at "
          "least 32, if those of all ranks are no more than 1024 then"},
      SettingInfo{"RMA_MESSAGE", &Settings::message_bytes, "2K", 512, 65536, "bytes", kJob,
                  "The size of a message buffer. The value must be the same on all ranks"},
      SettingInfo{"RMA_POLLING_SET", &Settings::polling_set, "8", 0, 4096, "ranks", kRank,
                  "The maximum number of ranks, the busiest, that send short messages to this rank by "
                  "rings. The helper thread polls the rings while it is awake. This rank sends by rings "
                  "to at most as many ranks. 0 disables rings. A device that does not place the bytes of "
                  "a write in their order needs 0, and so do the figures of two papers"},
      SettingInfo{"RMA_PROMOTE", &Settings::promote_messages, "32", 1, 1024, "messages", kRank,
                  "A rank is offered a ring if it has sent this many messages in a round of 1024. "
                  "Messages from before the helper thread last slept do not count. Only the figures of "
                  "two papers and tests need 1"},
      SettingInfo{"RMA_RING_SLOTS", &Settings::ring_slots, "16", 1, 4096, "messages", kRank,
                  "The number of messages that a ring holds. Only the figures of a paper need 128, and "
                  "slots of 2 KiB"},
      SettingInfo{"RMA_RING_SLOT", &Settings::ring_slot_bytes, "512", 64, 4096, "bytes", kRank,
                  "The size of a ring's slot, rounded up to a multiple of 64. Longer messages use message "
                  "buffers. A rank declines rings that are larger than its own"},
      SettingInfo{"RMA_HELPER_BUFFER", &Settings::helper_buffer, "64K", 4096, std::uint64_t{1} << 26, "bytes",
                  kJob,
                  "The maximum data of one request to a helper thread. Larger transfers that need the helper "
                  "take several requests. The value must be the same on all ranks"},
      SettingInfo{"RMA_HELPER_BUFFERS", &Settings::helper_buffers, "8", 2, 4096, "buffers", kRank,
                  "The number of registered buffers of RMA_HELPER_BUFFER bytes for this rank's own requests, "
                  "and of as many for the requests that it serves"},
      SettingInfo{"RMA_NONCONTIGUOUS", choice<&Settings::noncontiguous>(kProtocol), "auto", 0, 0, "", kRank,
                  "The protocol for noncontiguous transfers between hosts. packed copies at both ends, "
                  "one buffer after the other; pipelined does so in small buffers that overlap; segments "
                  "posts one request to the device for each segment; host_assisted lets the devices "
                  "gather and scatter. Memory that is not registered is copied in any case. Only the "
                  "figures of a paper and tests need packed, which auto never chooses"},
      SettingInfo{"RMA_PACKED_PIECE", &Settings::packed_piece, "16K", 512, std::uint64_t{1} << 26, "bytes",
                  kRank,
                  "The size of the pieces in which data is copied that no network device can access. One "
                  "piece is copied while another travels"},
      SettingInfo{"RMA_HELPER_SPIN", &Settings::helper_spins, "2000", 0, 1000000, "polls", kRank,
                  "The maximum number of polls of a helper thread before it sleeps, while requests keep "
                  "coming. It does not poll if the host has fewer than two processors for each rank"},
      SettingInfo{
          "RMA_EXTENT", &Settings::extent_bytes, "1M", 4096, kTebi, "bytes", kRank,
          "With a network, the heap grows by multiples of this size. Each extent is registered as a whole"},
      SettingInfo{"RMA_LOCAL_BUFFERS", choice<&Settings::local_buffers>(kLocalBuffers), "cache", 0, 0, "",
                  kRank,
                  "How large transfers use buffers outside the heap: cache registers them once and keeps "
                  "the registration; register registers them for each transfer; pipeline registers piece "
                  "by piece while earlier pieces are under way; bounce copies them. Only figures and "
                  "tests need register and bounce"},
      SettingInfo{
          "RMA_INLINE", &Settings::inline_bytes, "192", 0, 65536, "bytes", kRank,
          "Puts of up to this size travel in the work request itself, within the limit of the device"},
      SettingInfo{"RMA_BOUNCE", &Settings::bounce_bytes, "8K", 64, 1048576, "bytes", kRank,
                  "Buffers outside the heap of up to this size are copied through registered buffers"},
      SettingInfo{"RMA_BOUNCE_BUFFERS", &Settings::bounce_buffers, "64", 4, 65536, "buffers", kRank,
                  "The number of registered buffers of RMA_BOUNCE bytes"},
      SettingInfo{
          "RMA_PIPELINE", &Settings::pipeline_bytes, "256K", 4096, kTebi, "bytes", kRank,
          "The size of the pieces that RMA_LOCAL_BUFFERS=pipeline and the pipelines of RMA_RENDEZVOUS "
          "register"},
      SettingInfo{
          "RMA_PIPELINE_DEPTH", &Settings::pipeline_depth, "4", 1, 1024, "pieces", kRank,
          "The maximum number of pieces of a message that the pipelines of RMA_RENDEZVOUS have on their "
          "way at a time"},
      SettingInfo{"RMA_REG_CACHE_BYTES", &Settings::cache_bytes, "1G", 0, 64 * kTebi, "bytes", kRank,
                  "The maximum memory outside the heap that stays registered while it is not in use"},
      SettingInfo{"RMA_REG_CACHE_ENTRIES", &Settings::cache_entries, "1024", 1, 1048576, "registrations",
                  kRank, "The maximum number of registrations that are kept while they are not in use"},
      SettingInfo{"RMA_STRIPE", &Settings::stripe_bytes, "128K", 4096, kTebi, "bytes", kRank,
                  "Transfers of at least this size are divided among the rails"},
      SettingInfo{"RMA_PIECE", &Settings::piece_bytes, "1M", 4096, std::uint64_t{1} << 30, "bytes", kRank,
                  "The maximum size of one RDMA request. Larger transfers are divided"},
      SettingInfo{
          "RMA_EAGER", &Settings::eager_bytes, "8K", 0, std::uint64_t{16} << 20, "bytes", kRank,
          "Two-sided messages up to this size are sent at once, with their data. Longer ones wait for "
          "their receive. The size of a ring's slots and of messages between hosts limit it"},
      SettingInfo{
          "RMA_NETWORK_EAGER", &Settings::network_eager_bytes, "64K", 0, std::uint64_t{1} << 20, "bytes",
          kJob,
          "The same for messages to other hosts by a network without rings (RMA_POLLING_SET), such as TCP, "
          "where an announcement costs much time, if this is more than RMA_EAGER. The message buffers are as "
          "large there. The value must be the same on all ranks"},
      SettingInfo{"RMA_RENDEZVOUS", choice<&Settings::rendezvous>(kRendezvous), "auto", 0, 0, "", kRank,
                  "How the data of longer messages get to another host. copy sends them in fragments "
                  "through message buffers; read lets the receiver read them by RDMA. With the others, "
                  "the sender writes: register registers whole buffers for each message; cache keeps the "
                  "registrations; pipeline registers a piece while others are under way; "
                  "caching_pipeline also keeps the pieces. auto is read. Memory that cannot be "
                  "registered goes in fragments, and is counted. Only the figures of a paper and tests "
                  "need values other than auto"},
      SettingInfo{
          "RMA_PROGRESS", choice<&Settings::progress>(kProgress), "caller", 0, 0, "", kRank,
          "Which thread makes progress with sends and receives of more than RMA_EAGER bytes that are "
          "pending. With "
          "caller only calls do. With thread a thread of the library does too, while no call waits. It "
          "sleeps until something arrives"},
      SettingInfo{
          "RMA_UNEXPECTED", &Settings::unexpected_bytes, "16M", 4096, kTebi, "bytes", kJob,
          "The maximum memory for messages of one rank to another that were sent at once and for "
          "which no receive is posted. Further messages wait for their receive. The value must be the "
          "same on all ranks"},
      SettingInfo{
          "RMA_SHARED_COPY", &Settings::shared_copy_bytes, "64K", 0, kTebi, "bytes", kRank,
          "The size from which messages between two ranks of a host, whose memory is not mapped, are "
          "copied by both ranks at the same time, if the sender waits too and the ranks have a "
          "processor each; 64 KiB at least. Below 1 MiB the ranks measure whether that is faster than "
          "a copy by the receiver"},
      SettingInfo{"RMA_HOST_RING_LINES", &Settings::host_ring_lines, "256", 16, 65536, "lines", kJob,
                  "The number of messages that fit into the ring from one rank of a host to another. Rounded "
                  "up to a power of two. The value must be the same on all ranks"},
      SettingInfo{"RMA_HOST_RING", &Settings::host_ring_bytes, "256K", 4096, std::uint64_t{64} << 20, "bytes",
                  kJob,
                  "The memory for messages of more than 48 bytes in such a ring. A message takes at most a "
                  "quarter of it. Rounded up to a power of two. The value must be the same on all ranks"},
      SettingInfo{
          "RMA_SINGLETON", choice<&Settings::singleton>(kSingleton), "auto", 0, 0, "", kRank,
          "Whether a process that no launcher with PMIx has started becomes a job of one. With auto it fails "
          "if its environment shows that another launcher has started several processes (mpirun of MPICH, "
          "srun without --mpi=pmix)"},
      SettingInfo{
          "RMA_STRICT", choice<&Settings::strict>(kSwitch), "0", 0, 0, "", kRank,
          "Whether a variable that begins with RMA_ and is no setting is an error. With 0, rank 0 warns "
          "of it"},
      SettingInfo{"RMA_LOG", &Settings::log, "warn", 0, 0, "", kRank,
                  "The least severe messages to print: trace, debug, info, warn, error or off"},
      SettingInfo{"RMA_STATS", choice<&Settings::statistics>(kStatistics), "off", 0, 0, "", kRank,
                  "Print operation counts when a rank finalizes"},
      SettingInfo{"RMA_STATS_FILE", &Settings::statistics_file, "", 0, 0, "", kRank,
                  "Write the counts to this file instead of standard error. %r stands for the rank"},
      SettingInfo{"RMA_TRACE", &Settings::trace, "", 0, 0, "", kRank,
                  "Write a Chrome-trace JSON of every call to this file, which Perfetto opens. %r stands for "
                  "the rank"},
  };
  return table;
}

}  // namespace librma
