#pragma once

#include <map>
#include <optional>
#include <shared_mutex>

#include "fabric/registrar.hpp"
#include "malloc/backing.hpp"
#include "malloc/region_table.hpp"
#include "malloc/window.hpp"

namespace rma {

/// The window's memory, registered with the network's devices as it is taken and listed in the region table.
/// It is never given back: others remember its keys, and a device that reads and writes pages which the
/// system has taken away would read and write nobody's memory. What cannot be registered is given out all the
/// same, and listed without keys by the window's own entry.
class RegisteredBacking final : public Backing {
 public:
  /// `extent` is what the memory grows by, and is rounded up to the window's granule.
  RegisteredBacking(Window& window, RegionTable& regions, Registrar& registrar, std::size_t extent);
  ~RegisteredBacking() override;

  /// Memory that is behind [offset, offset + bytes) already, and stays.
  void adopt(std::size_t offset, std::size_t bytes);

  [[nodiscard]] std::size_t granule() const override { return extent_; }
  [[nodiscard]] Status back(std::size_t offset, std::size_t bytes) override;
  void release(std::size_t /*offset*/, std::size_t /*bytes*/) override {}

  /// The registered extent that `address` lies in. Thread-safe.
  [[nodiscard]] std::optional<Registered> find(const std::byte* address) const;
  /// Whether there is memory behind all of [address, address + bytes). Thread-safe.
  [[nodiscard]] bool covers(std::uintptr_t address, std::size_t bytes) const;
  /// Bytes taken, and bytes of them that could not be registered. Thread-safe.
  [[nodiscard]] std::size_t backed() const;
  [[nodiscard]] std::size_t refused() const;

 private:
  using Ends = std::map<std::size_t, std::size_t>;
  using Registrations = std::map<std::uintptr_t, Registered>;

  void enlist(std::size_t offset, std::size_t bytes);
  void note_backed(std::size_t begin, std::size_t end, Ends::node_type note) noexcept;

  Window& window_;
  RegionTable& regions_;
  Registrar& registrar_;
  const std::size_t extent_;
  mutable std::shared_mutex lock_;  ///< of the following, for those who do not take memory
  Ends backed_;                     ///< by begins, none adjacent or empty
  Registrations registered_;        ///< by address
  std::size_t refused_ = 0;
  std::size_t backed_bytes_ = 0;
};

}  // namespace rma
