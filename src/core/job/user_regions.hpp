#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "fabric/registrar.hpp"
#include "malloc/region_table.hpp"
#include "util/status.hpp"

namespace librma {

/// Memory that the program has registered (rma_register). It is listed for other ranks, and registered with
/// the network if there is one. Thread-safe.
class UserRegions {
 public:
  /// `registrar` is null without a network.
  UserRegions(RegionTable& regions, Registrar* registrar) : regions_(regions), registrar_(registrar) {}
  /// Deregisters the remaining regions.
  ~UserRegions();
  UserRegions(const UserRegions&) = delete;
  UserRegions& operator=(const UserRegions&) = delete;

  /// Lists [address, address + bytes), and counts how often. It is no error if the network refuses to
  /// register the memory: ranks of this host reach it all the same.
  [[nodiscard]] Status add(std::byte* address, std::size_t bytes);
  /// Returns a registration with the network that holds all of [address, address + bytes), or no value.
  [[nodiscard]] std::optional<Registered> find(const std::byte* address, std::size_t bytes);
  /// Undoes one add() of the shortest region that starts at `address`. RMA_ERR_ADDRESS if there is none.
  [[nodiscard]] Status remove(std::byte* address);

 private:
  struct Entry {
    std::size_t count = 0;
    Registered registered;  ///< empty if the network refused to register the region
  };

  RegionTable& regions_;
  Registrar* const registrar_;
  std::mutex lock_;  ///< guards entries_ and its agreement with regions_
  std::map<std::uintptr_t, std::map<std::size_t, Entry>> entries_;  ///< by base, then bytes
  std::map<std::size_t, std::size_t>
      lengths_;  ///< how many entries have so many bytes: bounds the search in find()
};

}  // namespace librma
