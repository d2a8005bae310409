#include "fabric/rails.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <string_view>

#include "transport/provider.hpp"
#include "transport/shm/shm_transport.hpp"
#include "util/log.hpp"
#include "util/statistics.hpp"
#include "util/system/process_limits.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma {
namespace {

/// The number of buffers for the results of atomics. Each atomic under way holds one.
constexpr std::size_t kWords = 64;
constexpr std::size_t kWordBytes = 64;
/// With less, there is no room for the messages of two ranks.
constexpr std::uint64_t kLeastSegment = std::uint64_t{1} << 20U;

std::unique_ptr<BouncePool> make_pool(Registrar& registrar, std::size_t bytes, std::size_t count) {
  auto pool = BouncePool::create(registrar, bytes, count);
  if (pool.ok()) return std::move(pool).value();
  log(LogLevel::warn, "no bounce buffers for transfers to other hosts: {}", pool.status().text());
  return nullptr;
}

/// Returns the network of a provider, whose name is a word of RMA_NETWORK.
NetworkSetting network_of(std::string_view provider) {
  const auto* const found = std::ranges::find(kNetworkNames, provider);
  return static_cast<NetworkSetting>(found - kNetworkNames.begin());
}

/// Returns the size of the segment of messages. Each of `locals` processes of the host may map the segments
/// of all, for which a sixteenth of the addresses of each must do. It maps them when it first sends a
/// message, and by then the program and the C library's arenas (64 MiB for each thread) may have taken most
/// of the rest.
std::size_t segment_bytes(std::size_t locals) {
  constexpr std::uint64_t kPage = 4096;
  const std::uint64_t room = std::min(largest_file() / 2, free_addresses() / 16 / locals);
  return std::clamp<std::uint64_t>(room / kPage * kPage, kLeastSegment,
                                   transport::ShmOptions().segment_bytes);
}

}  // namespace

std::uint32_t receive_count(int ranks, std::uint64_t factor, std::uint64_t base) {
  const auto log2 = static_cast<std::uint64_t>(std::bit_width(static_cast<unsigned>(ranks - 1)));
  return static_cast<std::uint32_t>(log2 * factor + base);
}

Result<std::unique_ptr<Rails>> Rails::open(const Settings& settings, const Wanted& wanted) {
  auto rails = std::make_unique<Rails>(std::vector<std::unique_ptr<transport::Transport>>());
  rails->service_ = std::make_unique<transport::ServiceThread>();
  if (wanted.locals.size() > 1) rails->open_local(settings, wanted);
  if (wanted.network) {
    RMA_TRY(rails->open_network(settings, wanted));
  }
  return rails;
}

void Rails::open_local(const Settings& settings, const Wanted& wanted) {
  auto opened = transport::ShmTransport::open(
      {.host = wanted.host,
       .rank = wanted.rank,
       .locals = wanted.locals,
       .connect_timeout = std::chrono::seconds(settings.peer_timeout),
       .cma = settings.cma == CmaSetting::automatic && transport::CmaTransport::available(),
       .segment_bytes = segment_bytes(wanted.locals.size())});
  if (opened.ok()) {
    local_ = std::move(opened).value();
    return;
  }
  log(LogLevel::warn,
      "no messages between the ranks of this host, so memory that this process "
      "may not access directly is out of reach: {}",
      opened.status().text());
}

Status Rails::open_network(const Settings& settings, const Wanted& wanted) {
  const std::span<const transport::Provider> providers = transport::providers();
  const bool any = settings.network == NetworkSetting::automatic;
  const transport::Provider* const named = transport::find_provider(network_name(settings.network));
  if (!any && named == nullptr) {
    return {RMA_ERR_SETTING, fmt::format("this library was built without support for RMA_NETWORK={}",
                                         network_name(settings.network))};
  }
  const transport::ProviderOptions options = {
      .rank = wanted.rank,
      .ranks = wanted.ranks,
      .most = kMaxRails,
      .devices = settings.devices,
      .fabric_providers = settings.fabric_providers,
      .gid_index =
          settings.gid_index == kAnyGid ? std::nullopt : std::optional(static_cast<int>(settings.gid_index)),
      .queue_depth = static_cast<std::uint32_t>(settings.queue_depth),
      .completions = static_cast<std::uint32_t>(settings.completions),
      .buffers =
          receive_count(wanted.ranks, settings.receive_factor, settings.receive_base) +
          static_cast<std::uint32_t>(settings.peer_receives) * static_cast<std::uint32_t>(wanted.ranks),
      .timeout = std::chrono::seconds(settings.peer_timeout)};
  std::string failures;
  rma_status_t code = RMA_ERR_UNSUPPORTED;
  for (const transport::Provider& provider : any ? providers : std::span(named, 1)) {
    service_ = std::make_unique<transport::ServiceThread>();  // without the handlers of one that failed
    auto opened = provider.open(options, *service_);
    if (opened.ok()) {
      transports_ = std::move(opened).value();
      network_ = network_of(provider.name);
      break;
    }
    code = opened.status().code();
    failures += fmt::format("{}{}", failures.empty() ? "" : "; ", opened.status().text());
  }
  if (transports_.empty()) return {code, failures};
  make_buffers(settings);
  return {};
}

Rails::~Rails() {
  if (service_ != nullptr) service_->stop();
}

void Rails::make_buffers(const Settings& settings) {
  if (buffers_ == nullptr) buffers_ = make_pool(*this, settings.bounce_bytes, settings.bounce_buffers);
  if (words_ == nullptr) words_ = make_pool(*this, kWordBytes, kWords);
}

std::uint32_t Rails::max_inline() const {
  std::uint32_t least = ~0U;
  for (const auto& transport : transports_) least = std::min(least, transport->limits().max_inline);
  return least;
}

bool Rails::late_transfers() const {
  return std::ranges::any_of(transports_,
                             [](const auto& transport) { return transport->limits().late_transfers; });
}

Result<Registered> Rails::add(std::byte* address, std::size_t bytes) {
  Registered registered = {.address = address, .bytes = bytes};
  for (std::size_t rail = 0; rail < count(); ++rail) {
    auto registration = unless_exhausted([&] { return transports_[rail]->register_memory(address, bytes); });
    if (!registration.ok()) {
      librma::count(Counter::registration_refused);
      for (std::size_t done = 0; done < rail; ++done) {
        transports_[done]->deregister_memory(
            {.base = 0, .bytes = 0, .local = registered.local[done], .remote = 0});
      }
      return std::move(registration).status();
    }
    librma::count(Counter::registration);
    registered.local[rail] = registration->local;
    registered.remote[rail] = registration->remote;
  }
  return registered;
}

void Rails::remove(const Registered& registered) {
  for (std::size_t rail = 0; rail < count(); ++rail) {
    transports_[rail]->deregister_memory({.base = reinterpret_cast<std::uintptr_t>(registered.address),
                                          .bytes = registered.bytes,
                                          .local = registered.local[rail],
                                          .remote = registered.remote[rail]});
  }
}

transport::PeerMemory* Rails::peer_memory() {
  if (local_ != nullptr) return local_->peer_memory();
  for (const auto& transport : transports_) {
    if (transport::PeerMemory* const memory = transport->peer_memory()) return memory;
  }
  return nullptr;
}

Result<std::byte*> Rails::take_peer_memory(std::size_t bytes) {
  transport::PeerMemory* const memory = peer_memory();
  return memory != nullptr ? memory->take(bytes) : Registrar::take_peer_memory(bytes);
}

void Rails::give_peer_memory(std::byte* memory, std::size_t bytes) {
  transport::PeerMemory* const pool = peer_memory();
  if (pool != nullptr) return pool->give(memory, bytes);
  Registrar::give_peer_memory(memory, bytes);
}

}  // namespace librma
