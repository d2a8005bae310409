#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "../seed.hpp"
#include "core/network/network.hpp"
#include "core/network/request_order.hpp"
#include "core/network/transfers.hpp"
#include "core/network/word_operations.hpp"
#include "malloc/region_table.hpp"
#include "slow_rail.hpp"
#include "util/statistics.hpp"

namespace librma {

/// Memory that begins at a page.
class Pages {
 public:
  explicit Pages(std::size_t bytes)
      : bytes_(bytes),
        memory_(static_cast<std::byte*>(
            mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {}
  ~Pages() { munmap(memory_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  [[nodiscard]] std::byte* data() const { return memory_; }
  [[nodiscard]] std::size_t size() const { return bytes_; }
  [[nodiscard]] std::byte& operator[](std::size_t i) const { return memory_[i]; }

 private:
  const std::size_t bytes_;
  std::byte* const memory_;
};

/// This process, which is rank 0, and rank 1. The memory of rank 1 lies in the test too, in one piece at
/// `theirs`: two adjacent extents of a heap, then memory that its user registered. `outside` is memory of
/// this process that is not registered; `own` is its heap.
class NetworkWorld : public testing::Test {
 protected:
  static constexpr std::size_t kExtent = 64 * 1024;
  static constexpr std::size_t kUser = 2 * kExtent;  ///< offset of the user's memory
  static constexpr std::size_t kTheirs = 3 * kExtent;
  static constexpr transport::Limits kLimits = {
      .max_message = 1 << 20, .max_gather = 1, .max_inline = 32, .max_outstanding = 8, .atomics64 = true};

  NetworkWorld()
      : theirs(kTheirs), own(kTheirs), outside(kTheirs), directory(RegionTable::directory_bytes(64)) {
    settings = read_settings({}).value();
    settings.inline_bytes = 16;
    settings.bounce_bytes = 256;
    settings.bounce_buffers = 4;
    settings.pipeline_bytes = 4096;
    settings.piece_bytes = 8192;
    settings.stripe_bytes = 16384;
  }
  ~NetworkWorld() override {
    network.reset();
    own_rails.reset();
    their_rails.reset();
  }

  void open(std::size_t rail_count, const transport::Limits& limits = kLimits) {
    std::vector<std::size_t> all(rail_count);
    std::iota(all.begin(), all.end(), std::size_t{0});
    open_ports(all, all, limits);
  }
  /// Each side lists the numbers of its ports that are up. Ports with the same number are in
  /// the same network.
  void open_ports(const std::vector<std::size_t>& my_ports, const std::vector<std::size_t>& their_ports,
                  const transport::Limits& limits = kLimits) {
    // No key of one rail is valid on another.
    const auto spread_keys = [](transport::Transport& transport, std::size_t port, std::byte* memory) {
      for (std::size_t i = 0; i < 100 * port; ++i) {
        EXPECT_TRUE(transport.register_memory(memory, 1).ok());
      }
    };
    std::vector<std::unique_ptr<transport::Transport>> mine;
    std::vector<std::unique_ptr<transport::Transport>> others;
    for (const std::size_t port : my_ports) {
      auto slow = std::make_unique<SlowRail>(fabric.open(static_cast<int>(2 * port), limits),
                                             "port " + std::to_string(port), seed + port);
      rails.push_back(slow.get());
      spread_keys(*slow, port, own.data());
      mine.push_back(std::move(slow));
    }
    for (const std::size_t port : their_ports) {
      auto other = fabric.open(static_cast<int>(2 * port + 1), limits);
      card.rails.push_back(
          {.name = "port " + std::to_string(port), .card = {other->card().begin(), other->card().end()}});
      spread_keys(*other, port, theirs.data());
      others.push_back(std::move(other));
    }
    own_rails = std::make_unique<Rails>(std::move(mine));
    their_rails = std::make_unique<Rails>(std::move(others));
    regions = std::make_unique<RegionTable>(std::span(directory.data(), directory.size()));
    extent = list(0, kExtent, kRegionExtent);
    list(kExtent, kExtent, kRegionExtent);
    user = list(kUser, kExtent, kRegionForeign);
    card.directory = {.address = reinterpret_cast<std::uintptr_t>(directory.data()),
                      .bytes = directory.size(),
                      .keys = their_rails->add(directory.data(), directory.size()).value().remote};
    own_heap = own_rails->add(own.data(), own.size()).value();
    network = std::make_unique<Network>(
        settings, pending, *own_rails, 2, [this](int /*rank*/) -> Result<NetworkCard> { return card; },
        [this](const std::byte* address) -> std::optional<Registered> {
          if (address < own.data() || address >= own.data() + own.size()) return std::nullopt;
          return own_heap;
        });
    pending.engine().add(*network);
    pending.set_progress_source(1, *network);
  }

  /// Registers and lists a part of `theirs`.
  Registered list(std::size_t offset, std::size_t bytes, std::uint32_t flags) {
    const Registered registered = their_rails->add(theirs.data() + offset, bytes).value();
    EXPECT_TRUE(regions
                    ->add({.base = reinterpret_cast<std::uintptr_t>(registered.address),
                           .bytes = bytes,
                           .generation = 0,
                           .flags = flags,
                           .count = 0,
                           .keys = registered.remote})
                    .ok());
    return registered;
  }
  void unlist_user() {
    EXPECT_TRUE(regions->remove(reinterpret_cast<std::uintptr_t>(user.address), kRegionForeign).ok());
    their_rails->remove(user);
  }

  /// Makes a blocking operation of several parts.
  [[nodiscard]] Status blocking(const std::function<Status(Batch&)>& issue) {
    Batch batch(1);
    Status status = issue(batch);
    Status flushed = network->posting().flush(batch);
    if (status.ok()) status = std::move(flushed);
    if (batch.operation() == RMA_REQUEST_NULL) return status;
    Status finished = pending.finish(batch.take_operation());
    return status.ok() ? std::move(finished) : std::move(status);
  }
  [[nodiscard]] Status put(std::size_t to, const void* from, std::size_t bytes) {
    return blocking(
        [&](Batch& batch) { return network->transfers().put(batch, theirs.data() + to, from, bytes); });
  }
  [[nodiscard]] Status get(void* to, std::size_t from, std::size_t bytes) {
    return blocking(
        [&](Batch& batch) { return network->transfers().get(batch, to, theirs.data() + from, bytes); });
  }
  /// Makes a put that the next fence completes.
  [[nodiscard]] Status leave_put(std::size_t to, const void* from, std::size_t bytes) {
    Batch batch(1);
    Status status = network->transfers().put(batch, theirs.data() + to, from, bytes);
    Status flushed = network->posting().flush(batch);
    if (batch.operation() != RMA_REQUEST_NULL) pending.leave(batch.take_operation());
    return status.ok() ? std::move(flushed) : std::move(status);
  }

  /// Returns different bytes for each `salt`. No byte is 0.
  static void fill(std::byte* to, std::size_t bytes, unsigned salt) {
    for (std::size_t i = 0; i < bytes; ++i)
      to[i] = static_cast<std::byte>((i * 7 + i / 251 + salt) % 255 + 1);
  }
  static bool same(const std::byte* a, const std::byte* b, std::size_t bytes) {
    return std::equal(a, a + bytes, b);
  }
  static std::uint64_t counted(Counter counter) { return total_counts()[static_cast<std::size_t>(counter)]; }

  const std::uint64_t seed = test_seed();
  Settings settings;
  Pages theirs;
  Pages own;
  Pages outside;
  Pages directory;
  transport::LoopbackFabric fabric;
  PendingOperations pending{2, {.spins = 10, .yields = 10}, std::chrono::seconds(60)};
  std::vector<SlowRail*> rails;
  std::unique_ptr<Rails> own_rails;
  std::unique_ptr<Rails> their_rails;
  std::unique_ptr<RegionTable> regions;
  NetworkCard card;
  Registered extent;  ///< the first one
  Registered user;
  Registered own_heap;
  std::unique_ptr<Network> network;
};

}  // namespace librma
