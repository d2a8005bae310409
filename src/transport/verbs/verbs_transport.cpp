#include "transport/verbs/verbs_transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "util/log.hpp"
#include "util/statistics.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma::transport {
namespace {

constexpr int kAccess =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
constexpr std::uint32_t kInline = 256;  ///< bytes to ask for; a device may allow less
constexpr std::uint32_t kGather = 16;   ///< pieces of one request; each costs memory in every slot

/// Returns the device's exponent n, which means a timeout of 4.096 us * 2^n. All tries of a request together
/// then end within half of `timeout`. The other half is a reserve: devices may take longer than they are
/// told, and another rail may have to try after this one.
std::uint8_t acknowledge_timeout(std::chrono::milliseconds timeout) {
  constexpr int kTries = 8;
  constexpr double kUnit = 4.096e-3;  // ms
  std::uint8_t exponent = 8;
  while (exponent < 31 && kUnit * static_cast<double>(std::uint64_t{2} << exponent) * kTries <=
                              static_cast<double>(timeout.count()) / 2) {
    ++exponent;
  }
  return exponent;
}

/// Returns the maximum number of bytes that such a queue pair can send inline. Devices do not report it, so
/// this tries sizes until the device accepts one.
std::uint32_t probe_inline(ibv_pd* domain, ibv_cq* queue, ibv_srq* receives, std::uint32_t gather) {
  for (std::uint32_t bytes = kInline; bytes >= 8; bytes /= 2) {
    ibv_qp_init_attr wanted = {};
    wanted.send_cq = queue;
    wanted.recv_cq = queue;
    wanted.srq = receives;
    wanted.cap.max_send_wr = 1;
    wanted.cap.max_send_sge = gather;
    wanted.cap.max_inline_data = bytes;
    wanted.qp_type = IBV_QPT_RC;
    if (const QueuePair probe(ibv_create_qp(domain, &wanted)); probe != nullptr) return bytes;
  }
  return 0;
}

}  // namespace

VerbsTransport::VerbsTransport(Port port, const VerbsOptions& options)
    : port_(std::move(port)),
      name_(fmt::format("{}:{}", port_.device, port_.number)),
      options_(options),
      messages_(name_, [this](int peer) { return connection_to(peer); }),
      connections_(static_cast<std::size_t>(options.ranks)) {}

VerbsTransport::~VerbsTransport() {
  for (auto& connection : connections_) delete connection.load(std::memory_order_relaxed);
}

Result<std::unique_ptr<VerbsTransport>> VerbsTransport::open(const Port& port, const VerbsOptions& options,
                                                             ServiceThread& service) {
  std::unique_ptr<VerbsTransport> transport(new VerbsTransport(port, options));
  if (Status status = transport->start(service); !status.ok()) {
    return std::move(status).within(fmt::format("RDMA device {}", transport->name_));
  }
  return transport;
}

Status VerbsTransport::start(ServiceThread& service) {
  RMA_TRY_ASSIGN(context, open_device(port_.device));
  context_ = std::move(context);
  domain_.reset(ibv_alloc_pd(context_.get()));
  if (domain_ == nullptr) return system_failure(RMA_ERR_NO_MEMORY, "making a protection domain", errno);
  RMA_TRY(make_queues());

  datagrams_ = std::make_unique<Datagrams>(port_, domain_.get());
  RMA_TRY(datagrams_->open(context_.get()));
  PortCard card;
  card.address = datagrams_->address();
  card.secret = options_.secret;
  card_ = card.encode();
  wireup_ = std::make_unique<Wireup>(*this,
                                     Wireup::Self{.rank = options_.rank,
                                                  .ranks = options_.ranks,
                                                  .address = datagrams_->address(),
                                                  .secret = options_.secret},
                                     options_.connect_timeout);
  service.watch(datagrams_->event_fd(), [this] {
    datagrams_->serve([this](std::span<const std::byte> datagram) { wireup_->receive(datagram); });
  });
  service.watch(context_->async_fd, [this] { serve_device_event(); });
  return {};
}

Status VerbsTransport::make_queues() {
  const ibv_device_attr& device = port_.attributes;
  RMA_TRY_ASSIGN(channel, make_channel(context_.get()));
  channel_ = std::move(channel);
  const std::uint32_t entries = std::min(options_.completions, static_cast<std::uint32_t>(device.max_cqe));
  completions_.reset(ibv_create_cq(context_.get(), static_cast<int>(entries), nullptr, channel_.get(), 0));
  if (completions_ == nullptr) {
    return system_failure(RMA_ERR_NO_MEMORY, "making a completion queue", errno);
  }
  ibv_srq_init_attr receives = {};
  receives.attr.max_sge = 1;
  receives.attr.max_wr = 1;
  receives_.reset(ibv_create_srq(domain_.get(), &receives));
  if (receives_ == nullptr) {
    return system_failure(RMA_ERR_NO_MEMORY, "making a shared receive queue", errno);
  }
  credits_ = std::make_unique<Credits>(entries);
  const std::uint32_t gather = std::min(kGather, static_cast<std::uint32_t>(device.max_sge));
  const std::uint32_t inline_bytes = probe_inline(domain_.get(), completions_.get(), receives_.get(), gather);
  const std::uint32_t depth = std::min(options_.queue_depth, static_cast<std::uint32_t>(device.max_qp_wr));
  limits_ = {.max_message = port_.max_message,
             .max_gather = gather,
             .max_inline = inline_bytes,
             .max_outstanding = depth,
             .atomics64 = device.atomic_cap != IBV_ATOMIC_NONE};
  RMA_TRY(messages_.create(context_.get(), domain_.get(), device,
                           {.buffers = options_.buffers,
                            .completions = options_.completions / 4,
                            .inline_bytes = inline_bytes,
                            .max_message = port_.max_message}));
  parts_ = std::make_unique<ConnectionParts>(ConnectionParts{
      .port = port_,
      .domain = domain_.get(),
      .data_completions = completions_.get(),
      .data_receives = receives_.get(),
      .data_credits = *credits_,
      .lane_credits = messages_.credits(),
      .data_options = {.depth = depth, .gather = gather, .inline_bytes = inline_bytes, .scatters = 0},
      .message_options = {},
      .transfer_options = {},
      .acknowledge_timeout = acknowledge_timeout(options_.timeout)});
  messages_.describe(*parts_);
  return {};
}

Result<Registration> VerbsTransport::register_memory(std::byte* address, std::size_t bytes) {
  MemoryRegion region(ibv_reg_mr(domain_.get(), address, bytes, kAccess));
  if (region == nullptr) {
    const int error = errno;
    return system_failure(error == EFAULT ? RMA_ERR_ADDRESS : RMA_ERR_NO_MEMORY,
                          fmt::format("registering {} bytes with {}", bytes, name_), error);
  }
  const Registration registration = {.base = reinterpret_cast<std::uintptr_t>(address),
                                     .bytes = bytes,
                                     .local = region->lkey,
                                     .remote = region->rkey};
  const std::lock_guard guard(regions_lock_);
  regions_[registration.local] = std::move(region);
  return registration;
}

void VerbsTransport::deregister_memory(const Registration& registration) {
  MemoryRegion region;
  const std::lock_guard guard(regions_lock_);
  const auto found = regions_.find(registration.local);
  if (found == regions_.end()) return;
  region = std::move(found->second);
  regions_.erase(found);
}

Status VerbsTransport::connect(int peer, std::span<const std::byte> card) {
  RMA_TRY_ASSIGN(decoded, PortCard::decode(card));
  return wireup_->call(peer, decoded);
}

Result<Endpoint> VerbsTransport::local_end(int peer) {
  auto made = std::make_unique<Connection>(peer, *parts_);
  RMA_TRY(made->create());
  Endpoint end = made->local_end();
  // Release pairs with the load in connection_to().
  connections_[static_cast<std::size_t>(peer)].store(made.release(), std::memory_order_release);
  messages_.admit(peer, end);
  return end;
}

Status VerbsTransport::bind(int peer, const Endpoint& end) {
  count(Counter::connect);
  return connection_to(peer)->bind(end);
}

void VerbsTransport::fail(int peer) {
  if (Connection* const connection = connection_to(peer); connection != nullptr) connection->fail();
}

rma_status_t VerbsTransport::post(int peer, std::span<const Work> work, std::size_t* posted) {
  Connection* const connection = connection_to(peer);
  if (connection != nullptr) return connection->data().post(work, posted);
  *posted = 0;
  return RMA_ERR_PEER_LOST;
}

std::uint32_t VerbsTransport::outstanding(int peer) {
  Connection* const connection = connection_to(peer);
  return connection != nullptr ? connection->data().outstanding() : 0;
}

rma_status_t VerbsTransport::post_atomic(int peer, rma_atomic_op_t op, Remote target, std::uint64_t operand,
                                         std::uint64_t compare, Local old, Cookie cookie) {
  if (!limits_.atomics64 || (op != RMA_FETCH_ADD && op != RMA_COMPARE_SWAP)) return RMA_ERR_UNSUPPORTED;
  Connection* const connection = connection_to(peer);
  if (connection == nullptr) return RMA_ERR_PEER_LOST;
  return connection->data().post_atomic(op, target, operand, compare, old, cookie);
}

std::size_t VerbsTransport::poll(std::span<Completion> completions) {
  std::array<ibv_wc, 32> works;
  const auto most = static_cast<int>(std::min(works.size(), completions.size()));
  const int found = ibv_poll_cq(completions_.get(), most, works.data());
  std::size_t filled = 0;
  for (int i = 0; i < found; ++i) {
    const EndedRequest ended = end_request([this](int peer) { return connection_to(peer); }, name_,
                                           works[static_cast<std::size_t>(i)]);
    if (ended.report) completions[filled++] = ended.completion;
  }
  return filled;
}

bool VerbsTransport::arm() {
  rearm(channel_, completions_.get());
  return true;
}

void VerbsTransport::serve_device_event() {
  ibv_async_event event = {};
  if (ibv_get_async_event(context_.get(), &event) != 0) return;
  log(LogLevel::info, "{}: {}", name_, ibv_event_type_str(event.event_type));
  ibv_ack_async_event(&event);
}

}  // namespace librma::transport
