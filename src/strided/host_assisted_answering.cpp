// The handlers of the other side's messages.

#include <cstring>
#include <optional>
#include <utility>

#include "channel/channel.hpp"
#include "strided/host_assisted_peer.hpp"

namespace librma {
namespace {

/// The maximum number of chunks that one message may grant. No device has so long a queue of scatters.
constexpr std::uint32_t kMostGranted = 65536;

}  // namespace

std::optional<HostAssisted::Header> HostAssisted::read_header(const Message& message) {
  Header header;
  if (message.body.size() < sizeof header) return {};
  std::memcpy(&header, message.body.data(), sizeof header);
  return header;
}

std::optional<std::pair<HostAssisted::Header, Layout>> HostAssisted::read_question(const Message& message,
                                                                                   std::uint32_t gather) {
  const auto header = read_header(message);
  if (!header || header->segments == 0 || header->segments > gather || header->bytes == 0) return {};
  std::span<const std::byte> rest = message.body.subspan(sizeof *header);
  auto part = Layout::decode(rest);
  if (!part || !rest.empty() || part->from != 0 || part->bytes != part->layout.bytes() || part->bytes == 0) {
    return {};
  }
  return std::pair(*header, std::move(part->layout));
}

bool HostAssisted::asked_to_scatter(const Message& message) {
  auto asked = read_question(message, channel_.endpoint(message.rail).limits().gather);
  if (!asked) return false;
  auto& [header, part] = *asked;
  PeerState& state = state_of(message.peer);
  const std::lock_guard guard(state.lock);
  const Name name = {.stream = header.stream, .mine = false};
  if (state.inflows.contains(name)) return false;
  Chunks chunks(std::move(part), {.segments = header.segments, .bytes = header.bytes},
                given_keys(message.rail));
  if (!chunks.begins_registered()) {
    tell(state, message.rail, kRefuseMessage,
         {.stream = header.stream, .yours = 1, .status = RMA_ERR_ADDRESS}, {});
    return true;
  }
  const auto inflow =
      std::make_shared<Inflow>(Inflow{.name = name, .rail = message.rail, .chunks = std::move(chunks)});
  state.inflows[name] = inflow;
  state.incoming.push_back(inflow);
  pump_in(state);
  return true;
}

bool HostAssisted::asked_to_gather(const Message& message) {
  auto asked = read_question(message, channel_.endpoint(message.rail).limits().gather);
  if (!asked) return false;
  auto& [header, part] = *asked;
  PeerState& state = state_of(message.peer);
  const std::lock_guard guard(state.lock);
  const Name name = {.stream = header.stream, .mine = false};
  if (state.outflows.contains(name) || header.granted > kMostGranted) return false;
  const auto outflow = std::make_shared<Outflow>(
      Outflow{.name = name,
              .rail = message.rail,
              .chunks = Chunks(std::move(part), {.segments = header.segments, .bytes = header.bytes},
                               given_keys(message.rail))});
  if (!outflow->chunks.begins_registered()) {
    outflow->status = RMA_ERR_ADDRESS;
    tell(state, message.rail, kRefuseMessage,
         {.stream = header.stream, .yours = 1, .status = RMA_ERR_ADDRESS}, {});
  }
  state.outflows[name] = outflow;
  state.grants.push_back({.outflow = outflow, .chunks = header.granted});
  pump_out(state);
  return true;
}

bool HostAssisted::granted(const Message& message) {
  const auto header = read_header(message);
  if (!header || header->granted > kMostGranted) return false;
  PeerState& state = state_of(message.peer);
  const std::lock_guard guard(state.lock);
  const auto found = state.outflows.find({.stream = header->stream, .mine = header->yours != 0});
  // A grant for a transfer that has failed here came too late. Its scatters must be used up all the same.
  auto outflow =
      found != state.outflows.end()
          ? found->second
          : std::make_shared<Outflow>(Outflow{
                .name = {}, .rail = message.rail, .chunks = Chunks({}, {}, {}), .status = RMA_ERR_ADDRESS});
  state.grants.push_back({.outflow = std::move(outflow), .chunks = header->granted});
  pump_out(state);
  return true;
}

bool HostAssisted::refused(const Message& message) {
  const auto header = read_header(message);
  if (!header || header->status <= RMA_SUCCESS || header->status > RMA_ERR_VERSION) return false;
  const auto status = static_cast<rma_status_t>(header->status);
  PeerState& state = state_of(message.peer);
  const std::lock_guard guard(state.lock);
  const Name name = {.stream = header->stream, .mine = header->yours != 0};
  if (const auto found = state.outflows.find(name); found != state.outflows.end()) {
    const std::shared_ptr<Outflow> outflow = found->second;
    if (outflow->status == RMA_SUCCESS) outflow->status = status;
    finish(state, *outflow);
    return true;
  }
  const auto found = state.inflows.find(name);
  if (found == state.inflows.end()) return true;  // it has failed here too
  const std::shared_ptr<Inflow> inflow = found->second;
  if (inflow->status == RMA_SUCCESS) inflow->status = status;
  inflow->chunks.end();
  std::erase(state.incoming, inflow);
  pump_in(state);
  finish(state, *inflow);
  return true;
}

}  // namespace librma
