#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "fabric/registrar.hpp"
#include "malloc/region_table.hpp"
#include "util/status.hpp"

namespace rma {

/// The memory that the program has registered (rma_register). It is listed in the region directory for other
/// ranks, and registered with the network if there is one. Thread-safe.
class UserRegions {
 public:
  /// `registrar` is null in a job without a network.
  UserRegions(RegionTable& regions, Registrar* registrar) : regions_(regions), registrar_(registrar) {}
  /// Deregisters all that is still registered.
  ~UserRegions();
  UserRegions(const UserRegions&) = delete;
  UserRegions& operator=(const UserRegions&) = delete;

  /// Lists [address, address + bytes), or counts one more user if it is listed already. It is no error if the
  /// network refuses to register the memory: other hosts then reach it by copies.
  [[nodiscard]] Status add(std::byte* address, std::size_t bytes);
  /// Returns a registration with the network that holds all of [address, address + bytes), if there is one.
  [[nodiscard]] std::optional<Registered> find(const std::byte* address, std::size_t bytes);
  /// Undoes one add of a region that starts at `address`. If several do, takes the shortest. RMA_ERR_ADDRESS
  /// if none does.
  [[nodiscard]] Status remove(std::byte* address);

 private:
  struct Entry {
    std::size_t count = 0;
    Registered registered;  ///< has no bytes if the network refused
  };

  RegionTable& regions_;
  Registrar* const registrar_;
  std::mutex lock_;  ///< guards entries_, and that it agrees with the table
  std::map<std::uintptr_t, std::map<std::size_t, Entry>> entries_;  ///< by base, then bytes
};

}  // namespace rma
