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

/// Memory that the program has registered (rma_register): listed for others, and registered with the network
/// where there is one. Thread-safe.
class UserRegions {
 public:
  /// `registrar` is null without a network.
  UserRegions(RegionTable& regions, Registrar* registrar) : regions_(regions), registrar_(registrar) {}
  /// Deregisters what is left.
  ~UserRegions();
  UserRegions(const UserRegions&) = delete;
  UserRegions& operator=(const UserRegions&) = delete;

  /// Lists [address, address + bytes), counted where it is listed already. That the network refuses to
  /// register it is no error: ranks of this host reach it all the same.
  [[nodiscard]] Status add(std::byte* address, std::size_t bytes);
  /// A registration with the network that holds all of [address, address + bytes).
  [[nodiscard]] std::optional<Registered> find(const std::byte* address, std::size_t bytes);
  /// Takes back one add of a region that starts at `address`: of several, of the shortest. RMA_ERR_ADDRESS.
  [[nodiscard]] Status remove(std::byte* address);

 private:
  struct Entry {
    std::size_t count = 0;
    Registered registered;  ///< no bytes: the network refused
  };

  RegionTable& regions_;
  Registrar* const registrar_;
  std::mutex lock_;  ///< of the following, and of its agreement with the table
  std::map<std::uintptr_t, std::map<std::size_t, Entry>> entries_;  ///< by base, then bytes
};

}  // namespace rma
