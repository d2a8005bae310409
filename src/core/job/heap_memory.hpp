#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/job/user_regions.hpp"
#include "fabric/rails.hpp"
#include "malloc/allocator.hpp"
#include "malloc/backing.hpp"
#include "malloc/region_table.hpp"
#include "malloc/registered_backing.hpp"
#include "malloc/window.hpp"
#include "util/settings.hpp"
#include "util/status.hpp"

namespace librma {

/// The memory of this process that other ranks may access: its heap with the aliased memory, and what the
/// user has registered. The heap begins with the region directory, which lists all of it.
class HeapMemory {
 public:
  /// Makes memory of the program a part of the heaps that this process reserves from now on: see
  /// make_alias(). If the process has `joined` a job, only what is a part already succeeds; RMA_ERR_STATE for
  /// the rest.
  [[nodiscard]] static Status alias(std::byte* address, std::size_t bytes, bool joined);
  /// Reserves the addresses of a heap for one of `locals` ranks of this host. RMA_ERR_NO_MEMORY,
  /// RMA_ERR_SYSTEM.
  [[nodiscard]] static Result<std::unique_ptr<HeapMemory>> reserve(const Settings& settings,
                                                                   std::size_t locals);
  /// Makes the allocator. With rails, the heap is registered as it grows. `rails` outlives this.
  [[nodiscard]] Status start(const Settings& settings, Rails& rails);

  [[nodiscard]] const Window& window() const { return window_; }
  /// See Window::share_limit().
  void share_limit(std::atomic<std::uint64_t>& shown, std::function<std::uint64_t()> others) {
    window_.share_limit(shown, std::move(others));
  }
  /// Returns the region directory.
  [[nodiscard]] std::span<std::byte> directory() const {
    return {window_.base() + directory_offset_, directory_bytes_};
  }
  [[nodiscard]] Allocator& allocator() { return *allocator_; }
  [[nodiscard]] UserRegions& user_regions() { return *user_regions_; }

  /// Returns the registration of the heap that `address` lies in.
  [[nodiscard]] std::optional<Registered> own_registration(const std::byte* address) const {
    return registered_ != nullptr ? registered_->find(address) : std::nullopt;
  }
  /// Returns the registration, of the heap or the user's, that holds all of [address, address + bytes).
  [[nodiscard]] std::optional<Registered> registration_of(std::uintptr_t address, std::size_t bytes) const;
  /// Returns whether other ranks may access all of [address, address + bytes) by requests: it lies in memory
  /// of the heap that is registered with the network, or the user has registered it and it is still mapped.
  [[nodiscard]] bool given_out(std::uintptr_t address, std::size_t bytes) const;

  ~HeapMemory();
  HeapMemory(const HeapMemory&) = delete;
  HeapMemory& operator=(const HeapMemory&) = delete;

 private:
  explicit HeapMemory(Window window) : window_(std::move(window)) {}
  /// Takes memory for the first `bytes` bytes of the directory.
  [[nodiscard]] Status back_directory(std::size_t bytes);
  /// Does what RegionTable::Grow asks for.
  [[nodiscard]] Result<RailKeys> grow_directory(Rails& rails, std::size_t offset, std::size_t bytes);

  Window window_;
  std::size_t directory_offset_ = 0;  ///< in the window, behind the aliased memory
  std::size_t directory_bytes_ = 0;
  std::size_t directory_backed_ = 0;              ///< the first bytes of it, which have memory
  std::vector<Registered> directory_registered_;  ///< the parts by which it has grown
  Rails* directory_rails_ = nullptr;              ///< with which these are registered
  std::unique_ptr<RegionTable> regions_;
  std::unique_ptr<Backing> backing_;
  RegisteredBacking* registered_ = nullptr;  // backing_ if there is a network, else null
  std::unique_ptr<Allocator> allocator_;
  std::unique_ptr<UserRegions> user_regions_;
};

}  // namespace librma
