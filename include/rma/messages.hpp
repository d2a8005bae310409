/**
 * @file messages.hpp
 * Typed two-sided messages. The rules are those of messages.h.
 *
 * A message has a tag of the sender's choice and goes within a context, a number that separates the messages
 * of one part of a program from those of others. Each operation has a blocking form and a `_nb` form, which
 * returns a Request; the program leaves the buffer alone until it has waited for that. All forms throw
 * ArgumentError if the rank or the tag is wrong, and PeerLostError if the rank is lost.
 */
#ifndef RMA_MESSAGES_HPP
#define RMA_MESSAGES_HPP

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "rma/error.hpp"
#include "rma/global_ptr.hpp"
#include "rma/messages.h"
#include "rma/request.hpp"

namespace rma::inline v0 {

/** The wildcards of receives and probes. */
inline constexpr int kAnySource = RMA_ANY_SOURCE;
inline constexpr int kAnyTag = RMA_ANY_TAG;

/** The context and the tag of a message. A receive may use kAnyTag. */
struct Label {
  int tag = 0;
  std::uint32_t context = 0;
};

/** A message as its receiver sees it. */
using MessageInfo = rma_message_info_t;

// ---- Sends ------------------------------------------------------------------------------------------------

/** The elements of a span that can be sent. */
template <class T>
concept Sendable = Transferable<std::remove_const_t<T>>;

/** Sends the elements of `data` to `rank`. Returns when the caller may reuse `data`. */
template <Sendable T>
void send(std::span<T> data, int rank, Label label = {}) {
  check(rma_send(data.data(), data.size_bytes(), rank, label.tag, label.context));
}
/** Sends one value. */
template <Transferable T>
void send_value(const T& value, int rank, Label label = {}) {
  send(std::span<const T>(&value, 1), rank, label);
}

/** Does the same, but returns only after a receive has matched the message. */
template <Sendable T>
void ssend(std::span<T> data, int rank, Label label = {}) {
  check(rma_ssend(data.data(), data.size_bytes(), rank, label.tag, label.context));
}

template <Sendable T>
[[nodiscard]] Request send_nb(std::span<T> data, int rank, Label label = {}) {
  rma_request_t handle = RMA_REQUEST_NULL;
  check(rma_send_nb(data.data(), data.size_bytes(), rank, label.tag, label.context, &handle));
  return Request(handle);
}

template <Sendable T>
[[nodiscard]] Request ssend_nb(std::span<T> data, int rank, Label label = {}) {
  rma_request_t handle = RMA_REQUEST_NULL;
  check(rma_ssend_nb(data.data(), data.size_bytes(), rank, label.tag, label.context, &handle));
  return Request(handle);
}

// ---- Receives ---------------------------------------------------------------------------------------------

/** Receives a message into `data`, and says what it was. Throws Error (RMA_ERR_TRUNCATED) if it is longer
 *  than `data`. */
template <Transferable T>
MessageInfo recv(std::span<T> data, int source = kAnySource, Label label = {.tag = kAnyTag}) {
  MessageInfo info = {};
  check(rma_recv(data.data(), data.size_bytes(), source, label.tag, label.context, &info));
  return info;
}

/** Receives one value. Throws Error (RMA_ERR_TRUNCATED) if the message is longer than a T, and Error
 *  (RMA_ERR_SIZE) if it is shorter. */
template <Transferable T>
[[nodiscard]] T recv_value(int source = kAnySource, Label label = {.tag = kAnyTag}) {
  T value;
  const MessageInfo info = recv(std::span<T>(&value, 1), source, label);
  if (info.bytes != sizeof value) {
    throw_error(RMA_ERR_SIZE, "recv_value: the message has " + std::to_string(info.bytes) +
                                  " bytes, and the value has " + std::to_string(sizeof value));
  }
  return value;
}

/** Posts a receive. `info`, unless null, is filled when the request was waited for. */
template <Transferable T>
[[nodiscard]] Request recv_nb(std::span<T> data, int source = kAnySource, Label label = {.tag = kAnyTag},
                              MessageInfo* info = nullptr) {
  rma_request_t handle = RMA_REQUEST_NULL;
  check(rma_recv_nb(data.data(), data.size_bytes(), source, label.tag, label.context, info, &handle));
  return Request(handle);
}

// ---- Probes -----------------------------------------------------------------------------------------------

/** Waits until a message is there that the receive with the same arguments would match, and describes it. */
[[nodiscard]] inline MessageInfo probe(int source = kAnySource, Label label = {.tag = kAnyTag}) {
  MessageInfo info = {};
  check(rma_probe(source, label.tag, label.context, &info));
  return info;
}

/** Makes this test once. Returns no value if there is no such message. */
[[nodiscard]] inline std::optional<MessageInfo> iprobe(int source = kAnySource,
                                                       Label label = {.tag = kAnyTag}) {
  MessageInfo info = {};
  int found = 0;
  check(rma_iprobe(source, label.tag, label.context, &found, &info));
  return found != 0 ? std::optional(info) : std::nullopt;
}

// ---- Persistent operations --------------------------------------------------------------------------------

/** A send or receive that the program starts again and again with the same arguments. */
class Persistent {
 public:
  template <Sendable T>
  [[nodiscard]] static Persistent send(std::span<T> data, int rank, Label label = {}) {
    Persistent sending;
    check(rma_send_init(data.data(), data.size_bytes(), rank, label.tag, label.context, &sending.handle_));
    return sending;
  }
  template <Transferable T>
  [[nodiscard]] static Persistent recv(std::span<T> data, int source = kAnySource,
                                       Label label = {.tag = kAnyTag}, MessageInfo* info = nullptr) {
    Persistent receiving;
    check(rma_recv_init(data.data(), data.size_bytes(), source, label.tag, label.context, info,
                        &receiving.handle_));
    return receiving;
  }
  ~Persistent() {
    if (handle_ != nullptr) static_cast<void>(rma_persistent_free(&handle_));
  }
  Persistent(Persistent&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Persistent& operator=(Persistent&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  Persistent(const Persistent&) = delete;
  Persistent& operator=(const Persistent&) = delete;

  /** Starts the operation. The caller waits for the request before it starts the operation again. */
  [[nodiscard]] Request start() {
    rma_request_t handle = RMA_REQUEST_NULL;
    check(rma_start(handle_, &handle));
    return Request(handle);
  }

 private:
  Persistent() = default;
  rma_persistent_t handle_ = nullptr;
};

}  // namespace rma::inline v0

#endif
