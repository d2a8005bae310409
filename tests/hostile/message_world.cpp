#include "hostile/message_world.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/network/request_order.hpp"
#include "hostile/payload.hpp"

namespace librma::hostile {
namespace {

constexpr std::size_t kArenaBytes = 16384;
constexpr std::size_t kGuardBytes = 64;
constexpr std::size_t kMostBytes = 8192;
constexpr std::size_t kSegment = 24;  ///< of noncontiguous data
constexpr std::size_t kStride = 40;
constexpr int kMostRecords = 48;

constexpr std::byte kUntouched{0xa5};
/// The contents of memory that is not sent, or not any more.
constexpr std::byte kSecret{0xee};
/// What lies in the attacker's memory.
constexpr std::byte kForeign{0x33};

constexpr std::uint32_t kHonestContext = 2;
/// Nobody sends anything there.
constexpr std::uint32_t kEmptyContext = 0x2eadbeef;

std::size_t size_of(std::span<const std::uint8_t>& payload) {
  return std::min<std::size_t>(number<std::uint16_t>(payload), kMostBytes);
}

}  // namespace

MessageWorld::MessageWorld(MessagePath path, std::string_view rendezvous)
    : path_(path), own_arena_(kArenaBytes, kForeign), arena_(own_arena_) {
  processes_ = std::make_unique<WorldProcesses>(path, rendezvous, kAttacker, arena_);
  WorldProcess& attacker = processes_->at(kAttacker);
  if (path == MessagePath::channel) {
    attacker.channel->on_message(Outbox::kChannelKind, [this](const Message& message) {
      ChannelHead head;
      demand(message.body.size() >= sizeof head, "the victim has sent a message without a head");
      std::memcpy(&head, message.body.data(), sizeof head);
      if (message.peer == kVictim) {
        got_message(static_cast<MessageType>(head.type), message.body.subspan(sizeof head));
      }
      return true;
    });
    attacker.channel->on_message(Outbox::kWakeKind, [](const Message&) { return true; });
    std::size_t rail = 0;
    demand(attacker.access->network()->requests().reach(kVictim, &rail).ok(), "no connection");
    return;
  }
  const auto take = [&](std::size_t bytes) {
    auto memory = attacker.job->memory().allocator().allocate(MemoryKind::internal, bytes, alignof(RingLine));
    demand(memory.ok(), "no memory");
    return memory.value();
  };
  arena_ = {take(kArenaBytes), kArenaBytes};
  std::ranges::fill(arena_, kForeign);
  ring_ = take(kWorldRing.memory());
  std::fill_n(ring_, kWorldRing.memory(), std::byte{0});
  to_victim_ = std::make_unique<LineSender>(ring_, kWorldRing, cursor_);
  inbox_ = std::make_unique<Inbox>(*attacker.job, *attacker.block, kWorldRing);
  inbox_->announce(kVictim, ring_);
  settle();  // the victim finds the ring
}

MessageWorld::~MessageWorld() = default;

// ---- The input --------------------------------------------------------------------------------------------

void MessageWorld::run(std::span<const std::uint8_t> input) {
  constexpr std::size_t kHead = 3;
  for (int records = 0; records < kMostRecords && input.size() >= kHead; ++records) {
    const std::uint8_t first = input[0];
    const auto length =
        std::min<std::size_t>(input[1] | static_cast<std::size_t>(input[2]) << 8U, input.size() - kHead);
    const std::span<const std::uint8_t> payload = input.subspan(kHead, length);
    input = input.subspan(kHead + length);
    act(static_cast<MessageAct>((first & (kAtOnce - 1U)) % static_cast<unsigned>(MessageAct::count_)),
        payload);
    if ((first & kAtOnce) == 0) settle();
  }
  settle();
}

void MessageWorld::act(MessageAct what, std::span<const std::uint8_t> payload) {
  switch (what) {
    case MessageAct::receive:
      return post_receive(payload);
    case MessageAct::send:
      return send(payload);
    case MessageAct::take:
      return take(payload);
    case MessageAct::cancel:
      if (!payload.empty() && payload[0] < operations_.size() && !operations_[payload[0]].over &&
          operations_[payload[0]].receives) {
        processes_->at(kVictim).messages->cancel(operations_[payload[0]].request);
      }
      return;
    case MessageAct::message:
      if (payload.size() < 2) return;
      return say(static_cast<MessageType>(payload[0]), {.context = kContext, .tag = payload[1] % 128}, {},
                 as_bytes(payload.subspan(2)));
    case MessageAct::announce:
      return announce(payload);
    case MessageAct::ready:
      return ready(payload);
    case MessageAct::line:
      return write_line(payload);
    case MessageAct::slots: {
      if (ring_ == nullptr) return;
      const std::size_t offset = number<std::uint16_t>(payload) % kWorldRing.bytes;
      std::byte* const slots = ring_ + kWorldRing.memory() - kWorldRing.bytes;
      std::ranges::copy(
          as_bytes(payload.first(std::min<std::size_t>(payload.size(), kWorldRing.bytes - offset))),
          slots + offset);
      return;
    }
    case MessageAct::feedback:
      return write_feedback(payload);
    case MessageAct::place: {
      if (ring_ == nullptr) return;
      WorldProcess& attacker = processes_->at(kAttacker);
      auto& block = *reinterpret_cast<InboxBlock*>(attacker.job->service(Service::messages, kVictim).data());
      block.rings[kAttacker].store(number<std::uint64_t>(payload), std::memory_order_relaxed);
      block.calls.fetch_add(1, std::memory_order_release);
      return;
    }
    case MessageAct::envelope: {
      Channel* const channel = processes_->at(kAttacker).channel.get();
      if (channel == nullptr) return;
      const auto body = as_bytes(payload.first(std::min(payload.size(), channel->max_body())));
      return channel->send(kVictim, 0, Outbox::kChannelKind, body, {});
    }
    case MessageAct::count_:
      return;
  }
}

// ---- The victim -------------------------------------------------------------------------------------------

MessageWorld::Operation& MessageWorld::make(std::size_t bytes, bool noncontiguous, std::byte fill) {
  Operation& operation = operations_.emplace_back();
  operation.bytes = noncontiguous ? std::max<std::size_t>(bytes / kSegment, 2) * kSegment : bytes;
  operation.stride = noncontiguous ? kStride : 0;
  const std::size_t room = noncontiguous ? operation.bytes / kSegment * kStride : bytes;
  operation.memory.assign(room + 2 * kGuardBytes, fill);
  return operation;
}

MessageData MessageWorld::data_of(Operation& operation) {
  std::byte* const start = operation.memory.data() + kGuardBytes;
  if (operation.stride == 0) return {.address = start, .bytes = operation.bytes};
  const std::array<std::size_t, 2> counts = {kSegment, operation.bytes / kSegment};
  const auto stride = static_cast<std::ptrdiff_t>(operation.stride);
  auto data = MessageData::strided(start, &stride, counts.data(), 1);
  demand(data.ok(), "no layout");
  return data.value();
}

bool MessageWorld::holds_data(const Operation& operation, std::size_t at) {
  if (at < kGuardBytes || at >= operation.memory.size() - kGuardBytes) return false;
  return operation.stride == 0 || (at - kGuardBytes) % operation.stride < kSegment;
}

void MessageWorld::post_receive(std::span<const std::uint8_t> payload) {
  const auto source = number<std::uint8_t>(payload);
  const auto tag = number<std::uint8_t>(payload);
  const auto layout = number<std::uint8_t>(payload);
  Operation& operation = make(size_of(payload), layout % 2 == 1, kUntouched);
  operation.receives = true;
  const std::array<int, 3> sources = {kAttacker, kAnySource, kHonest};
  operation.from_honest = sources[source % sources.size()] == kHonest;
  const Messages::Wanted wanted = {
      .source = sources[source % sources.size()], .tag = tag % 129 - 1, .context = kContext};
  const Status status = processes_->at(kVictim).messages->receive(data_of(operation), wanted, &operation.info,
                                                                  &operation.request);
  demand(status.ok(), "a receive that cannot be posted");
}

void MessageWorld::send(std::span<const std::uint8_t> payload) {
  const auto mode = number<std::uint8_t>(payload);
  const int tag = number<std::uint8_t>(payload) % 128;
  const auto layout = number<std::uint8_t>(payload);
  Operation& operation = make(size_of(payload), layout % 2 == 1, kSecret);
  for (std::size_t i = 0; i < operation.memory.size(); ++i) {
    if (holds_data(operation, i)) operation.memory[i] = kGiven;
  }
  const Status status = processes_->at(kVictim).messages->send(
      data_of(operation), kAttacker, {.context = kContext, .tag = tag}, mode % 2 == 1, &operation.request);
  if (status.ok()) return;
  demand(status.code() == RMA_ERR_PEER_LOST, "a send that fails");
  operation.over = true;
}

void MessageWorld::take(std::span<const std::uint8_t> payload) {
  Messages& messages = *processes_->at(kVictim).messages;
  bool found = false;
  std::uint64_t taken = 0;
  rma_message_info_t info = {};
  static_cast<void>(
      messages
          .probe({.source = kAnySource, .tag = kAnyTag, .context = kContext}, false, &found, &taken, &info)
          .ok());
  if (!found) return;
  Operation& operation = make(size_of(payload), false, kUntouched);
  operation.receives = true;
  demand(messages.receive_taken(&taken, data_of(operation), &operation.info, &operation.request).ok(),
         "a message that was taken cannot be received");
}

void MessageWorld::look_at_operations() {
  for (Operation& operation : operations_) {
    if (!operation.over) look_at(operation);
    if (!operation.receives) continue;
    for (std::size_t i = 0; i < operation.memory.size(); ++i) {
      demand(holds_data(operation, i) || operation.memory[i] == kUntouched,
             "bytes beside a receive were written");
    }
  }
  demand(std::ranges::find(arena_, kSecret) == arena_.end(),
         "the attacker's memory has bytes that were not sent");
}

void MessageWorld::look_at(Operation& operation) {
  PendingOperations& pending = processes_->at(kVictim).access->pending();
  if (operation.request != kCompleteRequest) {
    if (!pending.complete(operation.request)) return;
    operation.status = pending.wait(operation.request).code();
  }
  operation.over = true;
  // From now on the program may use the memory for something else.
  if (!operation.receives) std::ranges::fill(operation.memory, kSecret);
}

std::size_t MessageWorld::open() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(operations_, [](const Operation& one) { return !one.over; }));
}

bool MessageWorld::given_up() {
  bool found = false;
  Messages& messages = *processes_->at(kVictim).messages;
  const Status status = messages.probe({.source = kAttacker, .tag = 127, .context = kEmptyContext}, false,
                                       &found, nullptr, nullptr);
  return status.code() == RMA_ERR_PEER_LOST;
}

void MessageWorld::settle() {
  constexpr int kMostRounds = 100'000;
  for (int round = 0; round < kMostRounds; ++round) {
    bool found = processes_->progress();
    found = take_in_of_victim() || found;
    // After every round, because the program may use its memory again as soon as an operation is over.
    look_at_operations();
    if (!found) return;
  }
  demand(false, "the processes never come to rest");
}

// ---- The end ----------------------------------------------------------------------------------------------

void MessageWorld::check() {
  settle();
  exchange_honestly();
  // No honest process sends this, so the attacker is given up now at the latest, and nothing waits for it any
  // more. Its ring may be full, or may not look like one any more, so it writes into all lines.
  if (ring_ == nullptr) {
    processes_->at(kAttacker).channel->send(kVictim, 0, Channel::kKinds - 1, {}, {});
  } else if (!given_up()) {
    for (std::uint64_t number = 0; number < 512 && !given_up(); ++number) {
      auto* const lines =
          reinterpret_cast<RingLine*>(ring_ + sizeof(LineFeedback) + sizeof(LineWish) + sizeof(PieceClaims));
      lines[number % kWorldRing.lines].control.store(std::uint64_t{15} << 60U | (number + 1));
      settle();
    }
  }
  settle();
  // A channel whose own side has given up, because of answers that make no sense to it, carries nothing any
  // more.
  if (!given_up() && ring_ == nullptr) processes_->at(kVictim).channel->fail(kAttacker);
  settle();
  demand(given_up(), "the attacker is not given up");
  for (Operation& operation : operations_) {
    if (operation.over) continue;
    demand(operation.from_honest, "an operation with the attacker is left open");
    processes_->at(kVictim).messages->cancel(operation.request);
    settle();
    demand(operation.status == RMA_ERR_CANCELED, "a receive from the honest process cannot be cancelled");
  }
  exchange_honestly();
}

void MessageWorld::exchange_honestly() {
  for (const bool synchronous : {false, true}) {
    for (const std::size_t bytes : {std::size_t{40}, std::size_t{3000}}) {
      send_honestly(kHonest, kVictim, bytes, synchronous);
      send_honestly(kVictim, kHonest, bytes, synchronous);
    }
  }
}

void MessageWorld::send_honestly(int from, int to, std::size_t bytes, bool synchronous) {
  std::vector<std::byte> sent(bytes);
  for (std::size_t i = 0; i < bytes; ++i) sent[i] = static_cast<std::byte>(i * 7 + bytes);
  std::vector<std::byte> got(bytes);
  WorldProcess& sender = processes_->at(from);
  WorldProcess& receiver = processes_->at(to);
  rma_request_t sending = RMA_REQUEST_NULL;
  rma_request_t receiving = RMA_REQUEST_NULL;
  const Envelope envelope = {.context = kHonestContext, .tag = 5};
  demand(sender.messages->send({.address = sent.data(), .bytes = bytes}, to, envelope, synchronous, &sending)
             .ok(),
         "an honest send fails");
  const Messages::Wanted wanted = {.source = from, .tag = 5, .context = kHonestContext};
  demand(
      receiver.messages->receive({.address = got.data(), .bytes = bytes}, wanted, nullptr, &receiving).ok(),
      "a receive from an honest process fails");
  settle();
  PendingOperations& senders = sender.access->pending();
  PendingOperations& receivers = receiver.access->pending();
  // An operation that was over when it was issued has no request of its own.
  const auto complete = [](PendingOperations& pending, rma_request_t request) {
    return request == kCompleteRequest || pending.complete(request);
  };
  const auto succeeds = [](PendingOperations& pending, rma_request_t request) {
    return request == kCompleteRequest || pending.wait(request).ok();
  };
  demand(complete(senders, sending) && complete(receivers, receiving), "an honest message does not arrive");
  demand(succeeds(senders, sending) && succeeds(receivers, receiving), "an honest message fails");
  demand(sent == got, "an honest message arrives with other data");
}

}  // namespace librma::hostile
