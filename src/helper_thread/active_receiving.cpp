// How active messages are taken in, and their handlers run.

#include <algorithm>
#include <cstring>
#include <utility>

#include "helper_thread/active_front.hpp"
#include "helper_thread/active_messages.hpp"
#include "util/take_head.hpp"

namespace librma {
namespace {

std::byte* address_of(std::uint64_t address) {
  return reinterpret_cast<std::byte*>(address);  // NOLINT(performance-no-int-to-ptr): of this process
}

}  // namespace

bool ActiveMessages::settle(int rank, std::uint32_t count) {
  std::atomic<std::uint32_t>& open = peer(rank).open;
  // Only the thread with the turn makes the count smaller, but for a request that could not be sent.
  if (open.load(std::memory_order_relaxed) < count) return false;
  open.fetch_sub(count, std::memory_order_relaxed);
  return true;
}

bool ActiveMessages::take_place(int source, ActiveForm form, std::span<const std::byte>& body,
                                std::span<std::byte>& payload) {
  const auto place = take_head<ActivePlace>(body);
  if (!place || (place->bytes != 0 && !memory_.in_reach(place->address, place->bytes, source))) return false;
  payload = {address_of(place->address), place->bytes};
  if (form == ActiveForm::long_put) return body.empty();
  if (body.size() != place->bytes) return false;
  std::ranges::copy(body, payload.begin());
  return true;
}

bool ActiveMessages::receive(int source, std::size_t rail, std::span<const std::byte> body) {
  const auto taken = take_head<ActiveHeader>(body);
  if (!taken || taken->form >= ActiveForm::count_ || taken->reply > 1) return false;
  const ActiveHeader& header = *taken;
  const std::size_t word_bytes = header.words * sizeof(std::uint64_t);
  if (header.words > RMA_AM_WORDS || body.size() < word_bytes) return false;
  // The message is a copy of this process, which nobody else changes, and aligned to 8 bytes.
  const auto* const words = reinterpret_cast<const std::uint64_t*>(body.data());
  body = body.subspan(word_bytes);

  std::span<std::byte> payload;
  if (has_place(header.form)) {
    if (!take_place(source, header.form, body, payload)) return false;
  } else if (header.form == ActiveForm::medium) {
    payload = {const_cast<std::byte*>(body.data()), body.size()};
  } else if (!body.empty()) {
    return false;
  }
  if (header.form == ActiveForm::data) return true;
  if (header.form == ActiveForm::done) return settle(source, header.done);
  if (header.reply != 0 && !settle(source, header.done + 1U)) return false;
  if (header.handler >= handler_count_.load(std::memory_order_acquire)) return false;

  const ActiveHandling handled(turn_token_, source, rail);
  handle(header.reply == 0 ? &turn_token_ : nullptr, {.source = source,
                                                      .handler = header.handler,
                                                      .word_count = header.words,
                                                      .words = words,
                                                      .payload = payload.data(),
                                                      .bytes = payload.size()});
  if (header.reply == 0 && !turn_token_.replied) owe(source, rail);
  return true;
}

void ActiveMessages::handle(rma_am_token_t* token, const rma_am_message_t& message) const {
  const Handler& handler = handlers_[static_cast<std::size_t>(message.handler)];
  handler.run(handler.context, token, &message);
}

void ActiveMessages::owe(int rank, std::size_t rail) {
  std::uint32_t& owed = peer(rank).owed;
  if (++owed < kMostOwed) return;
  ActiveFront front({.handler = 0}, ActiveForm::done, {});
  front.header.done = static_cast<std::uint16_t>(std::exchange(owed, 0));
  outbox_->send(rank, rail, front.encoded(), {});
}

// ---- Messages to this rank ----

void ActiveMessages::handle_own(rma_am_token_t* token, const ActiveMessage& message) const {
  std::array<std::uint64_t, RMA_AM_WORDS> words;
  std::ranges::copy(message.words, words.begin());
  std::vector<std::uint64_t> buffer;
  void* payload = nullptr;
  const std::size_t bytes = message.payload.size();
  if (message.form == ActiveForm::medium) {
    buffer.resize(bytes / sizeof(std::uint64_t) + 1);
    payload = buffer.data();
  } else if (message.form == ActiveForm::long_carried) {
    payload = message.place;
  }
  if (bytes != 0) std::memmove(payload, message.payload.data(), bytes);
  handle(token, {.source = rank_,
                 .handler = message.handler,
                 .word_count = static_cast<int>(message.words.size()),
                 .words = words.data(),
                 .payload = payload,
                 .bytes = bytes});
}

}  // namespace librma
