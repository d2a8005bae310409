#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <shared_mutex>

#include "fabric/registrar.hpp"
#include "malloc/backing.hpp"
#include "malloc/region_table.hpp"
#include "malloc/window.hpp"

namespace librma {

/// The window's memory, which is registered with the network devices as it is taken, and listed in the region
/// table. It is never given back: other ranks remember its keys, and a device would go on to access pages
/// that the system has taken away. Memory that cannot be registered is given out all the same. Only the
/// window's own entry, which has no keys, covers it.
class RegisteredBacking final : public Backing {
 public:
  /// The memory grows by `extent` bytes, rounded up to the window's granule.
  RegisteredBacking(Window& window, RegionTable& regions, Registrar& registrar, std::size_t extent);
  ~RegisteredBacking() override;

  /// Takes over memory that is already behind [offset, offset + bytes), and that stays there.
  void adopt(std::size_t offset, std::size_t bytes);

  [[nodiscard]] std::size_t granule() const override { return extent_; }
  [[nodiscard]] Status back(std::size_t offset, std::size_t bytes) override;
  /// Memory stays registered when it is released, so this overwrites what is there.
  [[nodiscard]] Status back_zeroed(std::size_t offset, std::size_t bytes) override;
  void release(std::size_t /*offset*/, std::size_t /*bytes*/) override {}

  /// Returns the registered extent that contains `address`. Thread-safe.
  [[nodiscard]] std::optional<Registered> find(const std::byte* address) const;
  /// Returns whether there is memory behind all of [address, address + bytes). Thread-safe.
  [[nodiscard]] bool covers(std::uintptr_t address, std::size_t bytes) const;
  /// backed() returns the bytes that were taken; refused() returns how many of them could not
  /// be registered. Thread-safe.
  [[nodiscard]] std::size_t backed() const;
  [[nodiscard]] std::size_t refused() const;

 private:
  using Ends = std::map<std::size_t, std::size_t>;
  using Registrations = std::map<std::uintptr_t, Registered>;

  /// The contents of memory that was there before.
  enum class Old : std::uint8_t { kept, zeroed };

  /// Takes memory for [offset, end).
  Status back(std::size_t offset, std::size_t end, Old old);
  void enlist(std::size_t offset, std::size_t bytes);
  void note_backed(std::size_t begin, std::size_t end, Ends::node_type note) noexcept;

  Window& window_;
  RegionTable& regions_;
  Registrar& registrar_;
  const std::size_t extent_;
  mutable std::shared_mutex lock_;  ///< guards the members below against readers; only one thread at a
                                    ///< time takes memory
  Ends backed_;                     ///< end by begin; none is empty, no two are adjacent
  Registrations registered_;        ///< by address
  std::size_t refused_ = 0;
  std::size_t backed_bytes_ = 0;
};

}  // namespace librma
