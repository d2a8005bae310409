#include "strided/noncontiguous.hpp"

#include <array>

#include "core/network/transfers.hpp"
#include "helper_thread/fragments.hpp"
#include "util/statistics.hpp"

namespace librma {
namespace {

/// A row of the choice of the protocol for a transfer whose remote memory is registered. The first row whose
/// minimums the transfer reaches decides.
struct Row {
  std::size_t segment_bytes;  ///< the minimum of the average segment size
  std::size_t segments;       ///< the minimum number of segments
  ProtocolSetting protocol;
};
constexpr std::array kRows = {
    Row{.segment_bytes = 65536, .segments = 0, .protocol = ProtocolSetting::segments},
    Row{.segment_bytes = 512, .segments = 3, .protocol = ProtocolSetting::host_assisted},
    Row{.segment_bytes = 64, .segments = 16, .protocol = ProtocolSetting::host_assisted},
    Row{.segment_bytes = 0, .segments = 5, .protocol = ProtocolSetting::pipelined},
    Row{.segment_bytes = 0, .segments = 0, .protocol = ProtocolSetting::segments},
};

}  // namespace

bool helper_copies(const TransferPaths& paths, int rank, const Segments& segments) {
  if (!paths.job.mapped(rank) || !segments.foreign || segments.count < 2 ||
      paths.remote_access.copy_fallback() == nullptr) {
    return false;
  }
  return ForeignMemory::helper_is_faster(segments.count, segments.bytes) ||
         !paths.remote_access.permitted(rank);
}

Noncontiguous::Noncontiguous(const Job& job, PendingOperations& pending, Network& network, Channel& channel,
                             RpcClient& client)
    : settings_(job.settings()),
      pending_(pending),
      network_(network),
      client_(client),
      host_assisted_([&job](std::uintptr_t address,
                            std::size_t bytes) { return job.memory().registration_of(address, bytes); },
                     pending, network, channel) {}

bool Noncontiguous::registered(const Transfer& transfer) {
  const Layout& remote = *transfer.remote;
  if (network_.transfers().registered(remote.extent().low, remote.extent().bytes(), transfer.rank))
    return true;
  return remote.visit(0, remote.bytes(), [&](std::uintptr_t address, std::size_t bytes) {
    return network_.transfers().registered(address, bytes, transfer.rank);
  });
}

ProtocolSetting Noncontiguous::choose(const Transfer& transfer) {
  const ProtocolSetting forced = settings_.noncontiguous;
  if (forced == ProtocolSetting::packed || forced == ProtocolSetting::pipelined) return forced;
  if (!registered(transfer)) return ProtocolSetting::pipelined;
  if (forced != ProtocolSetting::automatic) return forced;
  const Layout& remote = *transfer.remote;
  const std::size_t average = remote.bytes() / remote.segments();
  for (const Row& row : kRows) {
    if (average >= row.segment_bytes && remote.segments() >= row.segments) return row.protocol;
  }
  return ProtocolSetting::segments;
}

Status Noncontiguous::move(const Transfer& transfer, Operation& operation,
                           const std::function<Status()>& by_segments) {
  ProtocolSetting protocol = choose(transfer);
  if (protocol == ProtocolSetting::segments) return by_segments();
  RMA_TRY_ASSIGN(started, operation.network_operation());
  if (protocol == ProtocolSetting::host_assisted) {
    Status status = host_assisted_.start({.direction = transfer.direction,
                                          .rank = transfer.rank,
                                          .remote = transfer.remote,
                                          .local = transfer.local,
                                          .operation = started});
    if (status.code() != RMA_ERR_UNSUPPORTED) return status;
    protocol = ProtocolSetting::pipelined;
  }
  const bool put = transfer.direction == transport::Direction::write;
  const bool packed = protocol == ProtocolSetting::packed;
  count(put ? Counter::put_copied : Counter::get_copied);
  return ask_in_fragments(client_, pending_,
                          {.kind = put ? RequestKind::put : RequestKind::get,
                           .rank = transfer.rank,
                           .remote = transfer.remote,
                           .local = transfer.local,
                           .operation = started,
                           .most = packed ? settings_.helper_buffer : settings_.packed_piece,
                           .one_by_one = packed});
}

}  // namespace librma
