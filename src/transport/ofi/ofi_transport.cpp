#include "transport/ofi/ofi_transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <utility>

#include "util/statistics.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma::transport {
namespace {

// Each may hold memory of the provider for every peer.
constexpr std::uint32_t kOfiMessages = 31;
constexpr std::uint32_t kOfiTransfers = 15;

/// Returns a number that strangers cannot guess and that is not 0.
std::uint32_t new_ticket() {
  std::random_device device;
  std::uint32_t ticket = 0;
  while (ticket == 0) ticket = device();
  return ticket;
}

Status opened(long error, const char* call) {
  return error == 0 ? Status() : fabric_failure(RMA_ERR_SYSTEM, call, error);
}

}  // namespace

OfiTransport::OfiTransport(const FabricCandidate& candidate, const OfiOptions& options)
    : name_(candidate.device),
      options_(options),
      traits_(candidate.traits),
      memory_(traits_, name_),
      peers_(static_cast<std::size_t>(options.ranks)),
      marks_(peers_.size()),
      driver_(name_, operations_, memory_, {.data = data_, .messages = message_lane_},
              [this](std::uint64_t mark) -> OfiPeer* {
                const std::uint64_t rank = mark & 0xffffffffU;
                OfiPeer* const peer = rank < peers_.size() ? peer_at(static_cast<int>(rank)) : nullptr;
                return peer != nullptr && mark_of(peer->ticket, peer->rank) == mark ? peer : nullptr;
              }),
      messages_(driver_, memory_, message_lane_,
                [this](int rank) -> OfiPeer* {
                  OfiPeer* const peer = peer_at(rank);
                  // Acquire pairs with the store in bind().
                  return peer != nullptr && peer->bound.load(std::memory_order_acquire) ? peer : nullptr;
                }),
      transfers_(driver_, memory_),
      handshakes_(driver_, memory_) {}

OfiTransport::~OfiTransport() {
  memory_.clear();    // registrations that are bound to the endpoint end before it
  endpoint_.reset();  // the provider's use of the operations and of memory ends here
  for (auto& peer : peers_) delete peer.load(std::memory_order_relaxed);
}

Result<std::unique_ptr<OfiTransport>> OfiTransport::open(const FabricCandidate& candidate,
                                                         const OfiOptions& options, ServiceThread& service) {
  std::unique_ptr<OfiTransport> transport(new OfiTransport(candidate, options));
  if (Status status = transport->start(candidate, service); !status.ok()) {
    return std::move(status).within(
        fmt::format("libfabric's {} on {}", candidate.provider, candidate.device));
  }
  return transport;
}

Status OfiTransport::open_objects(const FabricCandidate& candidate) {
  RMA_TRY_ASSIGN(library, Libfabric::get());
  fi_info* const info = candidate.info.get();
  fid_fabric* fabric = nullptr;
  RMA_TRY(opened(library->open_fabric(info->fabric_attr, &fabric, nullptr), "fi_fabric"));
  fabric_.reset(fabric);
  fid_domain* domain = nullptr;
  RMA_TRY(opened(fi_domain(fabric, info, &domain, nullptr), "fi_domain"));
  domain_.reset(domain);
  fi_av_attr vector = {};
  vector.type = FI_AV_TABLE;
  vector.count = peers_.size();
  fid_av* addresses = nullptr;
  RMA_TRY(opened(fi_av_open(domain, &vector, &addresses, nullptr), "fi_av_open"));
  addresses_.reset(addresses);
  RMA_TRY(open_queue());
  fid_ep* endpoint = nullptr;
  RMA_TRY(opened(fi_endpoint(domain, info, &endpoint, nullptr), "fi_endpoint"));
  endpoint_.reset(endpoint);
  RMA_TRY(opened(fi_ep_bind(endpoint, &addresses->fid, 0), "fi_ep_bind"));
  RMA_TRY(opened(fi_ep_bind(endpoint, &queue_->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind"));
  return opened(fi_enable(endpoint), "fi_enable");
}

Status OfiTransport::open_queue() {
  fi_cq_attr wanted = {};
  wanted.size = options_.completions;
  wanted.format = FI_CQ_FORMAT_MSG;
  wanted.wait_obj = FI_WAIT_FD;
  fid_cq* queue = nullptr;
  long error = fi_cq_open(domain_.get(), &wanted, &queue, nullptr);
  limits_.needs_polling = error == -FI_ENOSYS;
  if (limits_.needs_polling) {
    wanted.wait_obj = FI_WAIT_NONE;
    error = fi_cq_open(domain_.get(), &wanted, &queue, nullptr);
  }
  queue_.reset(queue);
  return opened(error, "fi_cq_open");
}

Status OfiTransport::read_address(const std::string& provider) {
  std::size_t bytes = address_.name.size();
  RMA_TRY(opened(fi_getname(&endpoint_->fid, address_.name.data(), &bytes), "fi_getname"));
  if (bytes > address_.name.size() || provider.size() >= address_.provider.size()) {
    return {RMA_ERR_UNSUPPORTED, fmt::format("an address of {} bytes is too long", bytes)};
  }
  address_.bytes = static_cast<std::uint16_t>(bytes);
  std::copy(provider.begin(), provider.end(), address_.provider.begin());
  OfiCard card;
  card.address = address_;
  card.secret = options_.secret;
  card_ = card.encode();
  return {};
}

Status OfiTransport::start(const FabricCandidate& candidate, ServiceThread& service) {
  RMA_TRY(data_.open());
  RMA_TRY(message_lane_.open());
  RMA_TRY(open_objects(candidate));
  RMA_TRY(read_address(candidate.provider));
  int fd = -1;
  if (!limits_.needs_polling) {
    const long error = fi_control(&queue_->fid, FI_GETWAIT, &fd);
    limits_.needs_polling = error == -FI_ENOSYS;  // udp;ofi_rxd says so only now
    RMA_TRY(opened(limits_.needs_polling ? 0 : error, "FI_GETWAIT"));
    if (limits_.needs_polling) fd = -1;
  }
  RMA_TRY(
      driver_.open({.fabric = fabric_.get(),
                    .endpoint = endpoint_.get(),
                    .queue = queue_.get(),
                    .fd = fd,
                    .timeout = options_.timeout},
                   [this](const Local& memory, std::size_t arrived) { handshakes_.ended(memory, arrived); }));
  memory_.open(domain_.get(), endpoint_.get());
  RMA_TRY_ASSIGN(empty, memory_.add(reinterpret_cast<std::byte*>(&empty_), sizeof empty_));
  empty_registration_ = empty;
  RMA_TRY_ASSIGN(marks,
                 memory_.add(reinterpret_cast<std::byte*>(marks_.data()), marks_.size() * sizeof(Marks)));
  marks_key_ = marks.local;
  // Without order, one operation at a time keeps it.
  limits_ = {.max_message = traits_.max_message,
             .max_gather = static_cast<std::uint32_t>(traits_.gather),
             .max_inline = static_cast<std::uint32_t>(traits_.inline_bytes),
             .max_outstanding = traits_.ordered ? options_.queue_depth : 1,
             .atomics64 = false,
             .completes_at_once = false,
             .ordered_bytes = false,
             .late_transfers = true,
             .needs_polling = limits_.needs_polling};
  messages_.open(endpoint_.get(),
                 {.gather = static_cast<std::uint32_t>(traits_.gather),
                  .max_inline = static_cast<std::uint32_t>(
                      traits_.inline_bytes - std::min(traits_.inline_bytes, sizeof(std::uint64_t))),
                  .messages = traits_.ordered ? kOfiMessages : 1,
                  .transfers = traits_.ordered ? kOfiTransfers : 1,
                  .scatters = traits_.ordered ? kOfiTransfers : 1,
                  .max_message = traits_.max_message,
                  .trailer = sizeof(std::uint64_t)});
  transfers_.open(endpoint_.get());
  wireup_ = std::make_unique<OfiWireup>(
      *this,
      OfiWireup::Self{
          .rank = options_.rank, .ranks = options_.ranks, .address = address_, .secret = options_.secret},
      options_.connect_timeout);
  RMA_TRY(handshakes_.open(endpoint_.get(), addresses_.get()));
  driver_.watch(service, [this] {
    return handshakes_.serve([this](std::span<const std::byte> bytes) { wireup_->receive(bytes); });
  });
  return {};
}

Status OfiTransport::connect(int peer, std::span<const std::byte> card) {
  RMA_TRY_ASSIGN(decoded, OfiCard::decode(card));
  if (!decoded.address.valid() || decoded.address.provider != address_.provider) {
    return {RMA_ERR_UNSUPPORTED,
            fmt::format("rank {} uses another provider of libfabric than {}: set RMA_OFI_PROVIDER", peer,
                        address_.provider.data())};
  }
  driver_.insist();  // this thread may be inside a wait
  Status status = wireup_->call(peer, decoded);
  driver_.insist_no_more();
  return status;
}

Result<OfiEnd> OfiTransport::local_end(int peer) {
  auto made = std::make_unique<OfiPeer>(peer, new_ticket());
  if (!operations_.make_room() || !made->order.make_room() || !data_.make_room()) return Status::exhausted();
  const OfiEnd end = {.address = address_,
                      .ticket = made->ticket,
                      .buffers = static_cast<std::uint16_t>(messages_.admit(peer)),
                      .gather = static_cast<std::uint16_t>(traits_.gather),
                      .empty_address = empty_registration_.base,
                      .empty_key = empty_registration_.remote};
  if (!message_lane_.make_room()) return Status::exhausted();  // beside that for the peer's buffers
  // Release pairs with the load in peer_at().
  peers_[static_cast<std::size_t>(peer)].store(made.release(), std::memory_order_release);
  return end;
}

Status OfiTransport::bind(int peer, const OfiEnd& end) {
  if (end.ticket == 0 || end.gather == 0 || end.empty_key == 0) {
    return {RMA_ERR_SYSTEM, "the peer's end of a connection makes no sense"};
  }
  RMA_TRY_ASSIGN(name, handshakes_.resolve(end.address));
  count(Counter::connect);
  OfiPeer& bound = *peer_at(peer);
  bound.address = name;
  bound.mark = mark_of(end.ticket, options_.rank);
  Marks& marks = marks_[static_cast<std::size_t>(peer)];
  marks = {bound.mark, bound.mark | kSolicited};
  for (std::size_t i = 0; i < marks.size(); ++i) {
    bound.trailers[i] = {
        .address = reinterpret_cast<std::byte*>(&marks[i]), .bytes = sizeof marks[i], .key = marks_key_};
  }
  bound.empty = {.address = end.empty_address, .key = end.empty_key};
  bound.buffers = end.buffers;
  bound.gather = end.gather;
  bound.bound.store(true, std::memory_order_release);
  return {};
}

void OfiTransport::fail(int peer) {
  if (OfiPeer* const failed = peer_at(peer); failed != nullptr) driver_.fail(*failed);
}

rma_status_t OfiTransport::post(int peer, std::span<const Work> work, std::size_t* posted) {
  *posted = 0;
  OfiPeer* const to = peer_at(peer);
  if (to == nullptr || !to->bound.load(std::memory_order_acquire)) return RMA_ERR_PEER_LOST;
  for (const Work& this_work : work) {
    const bool empty = this_work.pieces.empty() && this_work.direction == Direction::write;
    if (empty && driver_.ride(*to, this_work.cookie)) {
      ++*posted;
      continue;
    }
    RMA_TRY(transfers_.post(*to, OfiKind::data, this_work, limits_.max_outstanding));
    ++*posted;
  }
  return RMA_SUCCESS;
}

std::uint32_t OfiTransport::outstanding(int peer) {
  OfiPeer* const of = peer_at(peer);
  return of != nullptr ? of->count(OfiKind::data).load(std::memory_order_relaxed) : 0;
}

rma_status_t OfiTransport::post_atomic(int /*peer*/, rma_atomic_op_t /*op*/, Remote /*target*/,
                                       std::uint64_t /*operand*/, std::uint64_t /*compare*/, Local /*old*/,
                                       Cookie /*cookie*/) {
  return RMA_ERR_UNSUPPORTED;
}

std::size_t OfiTransport::poll(std::span<Completion> completions) {
  driver_.poll();
  return data_.take(completions);
}

bool OfiTransport::arm() {
  const bool quiet = data_.arm(MessageEndpoint::Events::all);
  driver_.rouse();
  return quiet;
}

}  // namespace librma::transport
