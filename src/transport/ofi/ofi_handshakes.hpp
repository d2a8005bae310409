#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "transport/ofi/ofi_driver.hpp"
#include "transport/ofi/ofi_memory.hpp"
#include "transport/ofi/ofi_wire.hpp"

namespace librma::transport {

/// Sends and receives handshakes as tagged messages of libfabric, with a tag of their own. As the caller sees
/// it they may be lost: one is dropped if the provider does not take it in time. Handshakes are handled by
/// the service thread only, because what answers them takes locks that a thread may hold while it posts.
class OfiHandshakes {
 public:
  OfiHandshakes(OfiDriver& driver, OfiMemory& memory) : driver_(driver), memory_(memory) {}

  /// Posts the receives. RMA_ERR_SYSTEM, RMA_ERR_NO_MEMORY.
  [[nodiscard]] Status open(fid_ep* endpoint, fid_av* addresses);
  /// Returns the name by which libfabric knows an address. RMA_ERR_SYSTEM if it is no address.
  [[nodiscard]] Result<fi_addr_t> resolve(const OfiAddress& address);
  /// Sends a handshake, now or from the service thread.
  void send(const OfiAddress& to, const OfiHandshake& handshake);
  /// OfiDriver::HandshakeEnded. Needs no memory: a thread that threw here would lose completions.
  void ended(const Local& memory, std::size_t arrived);

  /// Passes the handshakes that have arrived to `receiver` and sends those that wait. Only the service thread
  /// calls it. Returns whether some wait still.
  template <typename Receiver>
  [[nodiscard]] bool serve(const Receiver& receiver) {
    serving_.clear();
    {
      const std::lock_guard guard(lock_);
      serving_.swap(arrived_);
    }
    for (const OfiHandshake& arrived : serving_) receiver(std::as_bytes(std::span(&arrived, 1)));
    return send_waiting();
  }

 private:
  static constexpr std::size_t kReceives = 64;
  static constexpr std::size_t kSends = 32;
  /// Handshakes beyond these that come before the service thread looks are dropped.
  static constexpr std::size_t kMostArrived = 4 * kReceives;
  static constexpr std::size_t kSlot = 320;
  static_assert(sizeof(OfiHandshake) <= kSlot);
  /// Attempts to send, each at least 0.1 ms after the one before. A caller repeats its hello meanwhile.
  static constexpr int kAttempts = 2000;
  /// The tag of handshakes. Gathers have a mark that is not below 2^32.
  static constexpr std::uint64_t kTag = 0;

  struct Waiting {
    fi_addr_t to;
    Local memory;
    int attempts;
  };
  [[nodiscard]] bool send_waiting();
  [[nodiscard]] long post(const Waiting& waiting);
  void post_receive(const Local& slot);

  OfiDriver& driver_;
  OfiMemory& memory_;
  fid_ep* endpoint_ = nullptr;
  fid_av* addresses_ = nullptr;
  std::vector<std::byte> slots_;
  Registration registration_;
  std::mutex lock_;                    ///< guards the members below
  std::vector<OfiHandshake> arrived_;  ///< with room for kMostArrived
  std::vector<Local> free_sends_;
  std::list<Waiting> waiting_;
  std::map<std::array<std::uint8_t, OfiAddress::kMostBytes>, fi_addr_t> known_;
  std::vector<OfiHandshake> serving_;  ///< the service thread's own; with room for kMostArrived
};

}  // namespace librma::transport
