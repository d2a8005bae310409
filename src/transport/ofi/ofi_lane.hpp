#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>

#include "transport/message_endpoint.hpp"
#include "transport/transport.hpp"
#include "util/status.hpp"
#include "util/system/descriptor.hpp"

namespace librma::transport {

/// The completions of one of the two ways to a device's peers, between the thread that takes them from the
/// provider's queue and the thread that polls. Thread-safe.
class OfiLane {
 public:
  /// RMA_ERR_SYSTEM.
  [[nodiscard]] Status open();
  /// `solicited`: it is of those that MessageEndpoint::Events::solicited names.
  void push(const Completion& completion, bool solicited);
  /// Fills `completions` from the front. Returns how many it has filled.
  [[nodiscard]] std::size_t take(std::span<Completion> completions);
  /// Becomes readable when push() adds a completion of the kind that the last arm() has asked for.
  [[nodiscard]] int event_fd() const { return event_.get(); }
  /// Returns false if there are completions already.
  [[nodiscard]] bool arm(MessageEndpoint::Events events);

 private:
  enum class Armed : std::uint8_t { no, solicited, all };

  std::mutex lock_;
  std::deque<Completion> completions_;
  /// Dekker's algorithm: push() adds to `count_` and then reads `armed_`; arm() does the opposite.
  std::atomic<std::size_t> count_ = 0;
  std::atomic<Armed> armed_ = Armed::no;
  Descriptor event_;
};

}  // namespace librma::transport
