#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "transport/ofi/fabric_choice.hpp"
#include "transport/ofi/libfabric.hpp"
#include "transport/transport.hpp"

namespace librma::transport {

/// The registrations of a domain, and how its provider names memory. Thread-safe.
///
/// Of a provider that names memory by offsets, this process chooses the keys. A key then has the address at
/// which its registration begins in its upper 47 bits, and the number of the registration, modulo 2^17, in
/// the others. So a peer finds the offset of an address by the key alone, and a key that was valid once is
/// refused after its memory was registered again.
///
/// The TCP providers before libfabric 1.19 look the keys of peers up without the lock under which their table
/// changes. A lookup that goes astray refuses a valid key, and that ends the connection. So a thread that
/// drives the provider keeps the table as it is meanwhile (keep_table()).
class OfiMemory {
 public:
  OfiMemory(const FabricTraits& traits, std::string name) : traits_(traits), name_(std::move(name)) {}

  /// `endpoint` is needed if the provider binds registrations to it. Both outlive the registrations.
  void open(fid_domain* domain, fid_ep* endpoint) {
    domain_ = domain;
    endpoint_ = endpoint;
  }

  /// See Transport::register_memory().
  [[nodiscard]] Result<Registration> add(std::byte* address, std::size_t bytes);
  void remove(const Registration& registration);
  void clear() { regions_.clear(); }

  /// Keeps other threads from changing the provider's table of keys while the result lives. The result owns
  /// no lock if a thread changes the table or is about to: threads that drive again and again would hardly
  /// ever leave the lock to that one.
  [[nodiscard]] std::unique_lock<std::mutex> keep_table() const {
    if (changing_.load(std::memory_order_relaxed) != 0) return {};  // orders nothing: the lock does
    return {table_lock_, std::try_to_lock};
  }

  /// Returns what the provider wants as the descriptor of local memory with this key.
  [[nodiscard]] void* descriptor(Key local) const {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): add() made the key of a pointer
    return traits_.local_keys && local != 0 ? fi_mr_desc(reinterpret_cast<fid_mr*>(local)) : nullptr;
  }
  /// Returns what the provider wants as the address of a place in a peer's memory.
  [[nodiscard]] std::uint64_t place(Remote remote) const {
    return traits_.offsets ? remote.address - (remote.key >> kNumberBits) : remote.address;
  }

  static constexpr unsigned kNumberBits = 17;
  /// Returns the key of the `number`-th registration, which begins at `base`, below 2^47.
  [[nodiscard]] static constexpr Key offset_key(std::uintptr_t base, std::uint64_t number) {
    return base << kNumberBits | (number & ((std::uint64_t{1} << kNumberBits) - 1));
  }

 private:
  /// Runs `change` while no thread drives the provider.
  template <typename Change>
  void change_table(const Change& change) {
    changing_.fetch_add(1, std::memory_order_relaxed);
    const std::lock_guard guard(table_lock_);
    changing_.fetch_sub(1, std::memory_order_relaxed);
    change();
  }
  [[nodiscard]] Result<OfiRegion> make(std::byte* address, std::size_t bytes);

  const FabricTraits traits_;
  const std::string name_;
  fid_domain* domain_ = nullptr;
  fid_ep* endpoint_ = nullptr;
  std::atomic<std::uint64_t> number_ = 0;
  mutable std::mutex table_lock_;
  std::atomic<int> changing_ = 0;  ///< threads that wait for table_lock_ in order to change the table
  std::mutex lock_;
  std::map<Key, OfiRegion> regions_;  ///< by local key
};

}  // namespace librma::transport
