/**
 * @file active_messages.hpp
 * Active messages. The rules are those of active_messages.h: what a handler may call, the order of messages,
 * and how many may be open.
 *
 * All sends throw ArgumentError if the rank, the count of words or the size of the payload is wrong, Error
 * (RMA_ERR_STATE) where such a message may not be sent, and PeerLostError if the rank is lost.
 */
#ifndef RMA_ACTIVE_MESSAGES_HPP
#define RMA_ACTIVE_MESSAGES_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

#include "rma/active_messages.h"
#include "rma/error.hpp"
#include "rma/global_ptr.hpp"

namespace rma::inline v0 {

/** The words of a message, at most RMA_AM_WORDS. */
using ActiveWords = std::span<const std::uint64_t>;

/** A handler that all ranks have registered, by its number. */
class ActiveHandler {
 public:
  ActiveHandler() noexcept = default;
  explicit ActiveHandler(int number) noexcept : number_(number) {}
  [[nodiscard]] int number() const noexcept { return number_; }

  /** Makes `rank` call the handler. Returns when the caller may reuse the words; the handler may run
   *  later. */
  void request(int rank, ActiveWords words = {}) const {
    check(rma_am_request(rank, number_, words.data(), count(words)));
  }
  /** Does the same with a payload, which the handler finds in a buffer of the library. */
  void request(int rank, ActiveWords words, std::span<const std::byte> payload) const {
    check(rma_am_request_medium(rank, number_, words.data(), count(words), payload.data(), payload.size()));
  }
  /** Does the same with a payload of any size, which lies at `dst` before its owner calls the handler. */
  template <Transferable T>
  void request(GlobalPtr<T> dst, ActiveWords words, std::span<const std::type_identity_t<T>> payload) const {
    check(rma_am_request_long(dst.rank(), number_, words.data(), count(words), payload.data(),
                              payload.size_bytes(), dst.address()));
  }

  /** Returns the count of words for the C interface. A count that is too large stays so, and the C function
   *  refuses it. */
  [[nodiscard]] static int count(ActiveWords words) noexcept {
    return words.size() > RMA_AM_WORDS ? RMA_AM_WORDS + 1 : static_cast<int>(words.size());
  }

 private:
  int number_ = -1;
};

/** A message as its handler sees it. It is valid while the handler runs. */
class ActiveMessage {
 public:
  ActiveMessage(rma_am_token_t* token, const rma_am_message_t& message) noexcept
      : token_(token), message_(message) {}

  /** Returns the rank that sent it. */
  [[nodiscard]] int source() const noexcept { return message_.source; }
  [[nodiscard]] ActiveWords words() const noexcept {
    return {message_.words, static_cast<std::size_t>(message_.word_count)};
  }
  /** Returns the payload: empty in a short message, in its place in a long one. */
  [[nodiscard]] std::span<std::byte> payload() const noexcept {
    return {static_cast<std::byte*>(message_.payload), message_.bytes};
  }
  /** Returns whether the message is a request, which may get one reply. */
  [[nodiscard]] bool is_request() const noexcept { return token_ != nullptr; }

  /** Makes the source of the request call `handler`. The forms are those of ActiveHandler::request; a long
   *  payload has at most active_limits().long_reply bytes, and `dst` is memory of the source. */
  void reply(ActiveHandler handler, ActiveWords words = {}) const {
    check(rma_am_reply(token_, handler.number(), words.data(), ActiveHandler::count(words)));
  }
  void reply(ActiveHandler handler, ActiveWords words, std::span<const std::byte> payload) const {
    check(rma_am_reply_medium(token_, handler.number(), words.data(), ActiveHandler::count(words),
                              payload.data(), payload.size()));
  }
  template <Transferable T>
  void reply(ActiveHandler handler, GlobalPtr<T> dst, ActiveWords words,
             std::span<const std::type_identity_t<T>> payload) const {
    if (dst.rank() != source()) throw_error(RMA_ERR_RANK, "reply: the payload goes to the request's source");
    check(rma_am_reply_long(token_, handler.number(), words.data(), ActiveHandler::count(words),
                            payload.data(), payload.size_bytes(), dst.address()));
  }

 private:
  rma_am_token_t* token_;
  const rma_am_message_t& message_;
};

/** Registers `function` as a handler, by reference: it stays where it is until the job ends. Any thread may
 *  call it, with an ActiveMessage; an exception that leaves it ends the program. Collective over the world
 *  team; all ranks register the same handlers in the same order. Throws NoMemoryError if RMA_AM_HANDLERS are
 *  registered. */
template <std::invocable<const ActiveMessage&> Function>
[[nodiscard]] ActiveHandler register_handler(Function& function) {
  int number = -1;
  check(rma_am_register(
      [](void* context, rma_am_token_t* token, const rma_am_message_t* message) noexcept {
        (*static_cast<Function*>(context))(ActiveMessage(token, *message));
      },
      const_cast<std::remove_const_t<Function>*>(std::addressof(function)), &number));
  return ActiveHandler(number);
}

/** The longest payloads in bytes, which are the same on all ranks. */
struct ActiveLimits {
  std::size_t medium = 0;
  std::size_t long_reply = 0;
};
[[nodiscard]] inline ActiveLimits active_limits() {
  ActiveLimits limits;
  check(rma_am_limits(&limits.medium, &limits.long_reply));
  return limits;
}

/** Takes in the messages that have arrived, and runs their handlers, unless another thread does so. */
inline void poll_active() { check(rma_am_poll()); }

/** Waits until `met()` returns true, and handles messages meanwhile. It reads what handlers write, with
 *  acquire order, must not throw, and calls no function of the library. A thread that waits long sleeps.
 *  Throws PeerLostError if `rank` is lost before; -1: no rank ends the wait. */
template <std::predicate Condition>
void wait_active(Condition&& met, int rank = -1) {
  using Called = std::remove_reference_t<Condition>;
  check(rma_am_wait([](void* context) { return (*static_cast<Called*>(context))() ? 1 : 0; },
                    const_cast<std::remove_const_t<Called>*>(std::addressof(met)), rank));
}

}  // namespace rma::inline v0

#endif
