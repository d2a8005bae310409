#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "transport/message_endpoint.hpp"
#include "transport/ofi/ofi_order.hpp"
#include "transport/transport.hpp"
#include "util/status.hpp"
#include "util/system/descriptor.hpp"
#include "util/tables/fifo.hpp"

namespace librma::transport {

/// The completions of one of the two ways to a device's peers, between the thread that takes them from the
/// provider's queue and the thread that polls. Thread-safe.
class OfiLane {
 public:
  /// Makes the descriptor that becomes readable. RMA_ERR_SYSTEM.
  [[nodiscard]] Status open();
  /// Makes room for one more completion, which push() or expect_no_more() ends. Returns false if there is no
  /// memory. A completion that the provider has reported cannot be given back to it, so each operation has
  /// its place here before it is posted.
  [[nodiscard]] bool expect();
  /// Gives back the room of one expected completion that push() will not add.
  void expect_no_more();
  /// Makes room for the completions of a new peer, so that some can always be expected. Returns false if
  /// there is no memory.
  [[nodiscard]] bool make_room();
  /// Adds a completion that was expected. `solicited`: it is of those that MessageEndpoint::Events::solicited
  /// names.
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
  Fifo<Completion> completions_;
  std::size_t expected_ = 0;  ///< with those that wait for take()
  /// Dekker's algorithm: push() adds to `count_` and then reads `armed_`; arm() does the opposite.
  std::atomic<std::size_t> count_ = 0;
  std::atomic<Armed> armed_ = Armed::no;
  Descriptor event_;
};

}  // namespace librma::transport
