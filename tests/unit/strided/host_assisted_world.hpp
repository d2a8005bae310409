#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "../helper_thread/helper_world.hpp"
#include "strided/host_assisted.hpp"

namespace librma {

/// Ranks with host-assisted transfers over loopback endpoints. Most of their memory is registered.
///
/// A rank's memory has three parts: two that are registered separately, and one that is not. No transfer
/// touches bytes of another, so the result does not depend on their order.
class HostAssistedWorld : public HelperWorld {
 protected:
  static constexpr std::size_t kPart = std::size_t{1} << 20;
  using Random = std::mt19937_64;

  struct Memory {
    std::vector<std::byte> bytes;
    std::vector<std::byte> model;
    std::array<std::size_t, 3> used = {};  ///< bytes of each part that transfers use
    std::mutex lock;
    std::vector<Registered> registered;
    std::unique_ptr<HostAssisted> host_assisted;
  };
  /// A transfer and its outcome.
  struct Drawn {
    int from = 0;
    int to = 0;
    bool put = false;
    bool reachable = true;  ///< whether all of the target's side is registered
    std::shared_ptr<const Layout> remote = {};
    std::shared_ptr<const Layout> local = {};
    rma_request_t operation = RMA_REQUEST_NULL;
    Status status = {};
  };

  void open_ranks(Random& random, int count) {
    settings.message_bytes = 512;
    open(count);
    for (int rank = 0; rank < count; ++rank) {
      transport::MessageEndpoint::Limits limits = at(rank).endpoint->messages().limits();
      limits.gather = static_cast<std::uint32_t>(1 + random() % 5);
      limits.scatters = static_cast<std::uint32_t>(1 + random() % 8);
      at(rank).endpoint->messages().set_limits(limits);
      auto& memory = *memories.emplace_back(std::make_unique<Memory>());
      memory.bytes.resize(3 * kPart);
      for (std::size_t i = 0; i < memory.bytes.size(); i += 8) {
        const std::uint64_t word = random();
        std::memcpy(&memory.bytes[i], &word, sizeof word);
      }
      memory.model = memory.bytes;
      for (std::size_t part = 0; part < 2; ++part) {
        memory.registered.push_back(at(rank).rails->add(&memory.bytes[part * kPart], kPart).value());
      }
      const auto find = [&memory](std::uintptr_t address, std::size_t bytes) -> std::optional<Registered> {
        const std::lock_guard guard(memory.lock);
        for (const Registered& each : memory.registered) {
          const std::size_t offset = address - reinterpret_cast<std::uintptr_t>(each.address);
          if (offset < each.bytes && bytes <= each.bytes - offset) return each;
        }
        return std::nullopt;
      };
      memory.host_assisted =
          std::make_unique<HostAssisted>(find, *at(rank).pending, *at(rank).network, channel(rank));
    }
    start();
  }
  ~HostAssistedWorld() override { close(); }
  [[nodiscard]] Memory& memory(int rank) { return *memories[static_cast<std::size_t>(rank)]; }

  static std::size_t below(Random& random, std::size_t count) { return random() % count; }

  /// Returns `bytes` bytes of a part that no other transfer uses; no value if the part is full.
  std::optional<std::uintptr_t> take(int rank, std::size_t part, std::size_t bytes) {
    std::size_t& used = memory(rank).used[part];
    if (bytes > kPart - used) return std::nullopt;
    used += bytes;
    return reinterpret_cast<std::uintptr_t>(&memory(rank).bytes[part * kPart + used - bytes]);
  }
  /// Draws segments of these sizes, in any order, in the registered parts, with `outside` of them in
  /// the other part.
  std::optional<Layout> draw_list(Random& random, int rank, const std::vector<std::size_t>& sizes,
                                  std::size_t outside) {
    std::vector<std::size_t> order(sizes.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), random);
    std::vector<Layout::Segment> segments(sizes.size());
    for (const std::size_t i : order) {
      const std::size_t part = outside > 0 ? 2 : below(random, 2);
      outside -= outside > 0 ? 1 : 0;
      const auto place = take(rank, part, sizes[i] + below(random, 40));
      if (!place) return std::nullopt;
      segments[i] = {.address = *place, .bytes = sizes[i]};
    }
    return Layout::list(std::move(segments));
  }
  /// Draws segments along dimensions with these counts, upwards or downwards, with gaps.
  std::optional<Layout> draw_strided(Random& random, int rank, std::size_t part, std::size_t segment,
                                     const std::vector<std::size_t>& counts) {
    std::vector<Layout::Dimension> dimensions;
    std::size_t extent = segment;
    std::size_t start = 0;
    for (const std::size_t count : counts) {
      const std::size_t stride = extent + below(random, 30);
      const bool down = random() % 2 == 0;
      dimensions.push_back({.count = count, .stride = (down ? -1 : 1) * static_cast<std::int64_t>(stride)});
      if (down) start += stride * (count - 1);
      extent += stride * (count - 1);
    }
    const auto place = take(rank, part, extent);
    if (!place) return std::nullopt;
    return Layout::strided(*place + start, segment, dimensions);
  }
  /// Draws a transfer between two ranks; returns no value if their memory is used up. `outside_percent` says
  /// how often the target's side is not registered.
  std::optional<Drawn> draw(Random& random, int from, int to, std::size_t outside_percent) {
    Drawn drawn = {.from = from, .to = to, .put = random() % 2 == 0};
    drawn.reachable = below(random, 100) >= outside_percent;
    const std::size_t local_part = below(random, 3);
    std::optional<Layout> remote;
    std::optional<Layout> local;
    std::size_t segment = 1 + below(random, std::size_t{1} << below(random, 11));
    if (random() % 2 == 0) {
      std::vector<std::size_t> counts(below(random, 4));
      for (std::size_t& count : counts) count = 1 + below(random, 7);
      if (counts.empty() && random() % 2 == 0)
        segment = 100000 + below(random, 500000);  // longer than a chunk
      remote = draw_strided(random, to, drawn.reachable ? below(random, 2) : 2, segment, counts);
      std::size_t segments = 1;
      for (const std::size_t count : counts) segments *= count;
      local = random() % 2 == 0 ? draw_strided(random, from, local_part, segment, counts)
                                : draw_list(random, from, std::vector<std::size_t>(segments, segment), 0);
    } else {
      std::vector<std::size_t> sizes(1 + below(random, 90));
      for (std::size_t& size : sizes) size = 1 + below(random, segment);
      remote = draw_list(random, to, sizes, drawn.reachable ? 0 : 1 + below(random, sizes.size()));
      local = draw_list(random, from, sizes, local_part == 2 ? sizes.size() : 0);
    }
    if (!remote || !local) return std::nullopt;
    drawn.remote = std::make_shared<Layout>(std::move(*remote));
    drawn.local = std::make_shared<Layout>(std::move(*local));
    return drawn;
  }

  /// `before` is called directly before the start, which may throw std::bad_alloc.
  void begin(
      Drawn& drawn, const std::function<void()>& before = [] {}) {
    drawn.operation = at(drawn.from).pending->open(drawn.to);
    ASSERT_NE(drawn.operation, RMA_REQUEST_NULL);
    using transport::Direction;
    before();
    try {
      drawn.status = memory(drawn.from)
                         .host_assisted->start({.direction = drawn.put ? Direction::write : Direction::read,
                                                .rank = drawn.to,
                                                .remote = drawn.remote,
                                                .local = drawn.local,
                                                .operation = drawn.operation});
    } catch (const std::bad_alloc&) {
      drawn.status = Status(RMA_ERR_NO_MEMORY, "");
    }
    at(drawn.from).pending->detach(drawn.operation);
  }
  void end(Drawn& drawn) {
    Status finished = at(drawn.from).pending->wait(drawn.operation);
    if (drawn.status.ok()) drawn.status = std::move(finished);
  }
  /// Draws faults at a rank: for a while there is no room for messages, scatters and gathers.
  void hinder(Random& random, int rank) {
    at(rank).endpoint->messages().set_faults(
        {.refused_messages = static_cast<std::uint32_t>(below(random, 4)),
         .refused_transfers = static_cast<std::uint32_t>(below(random, 6))});
  }

  [[nodiscard]] std::byte& model_of(int rank, const std::byte* address) {
    return memory(rank).model[static_cast<std::size_t>(address - memory(rank).bytes.data())];
  }
  /// Applies a transfer to the model. Each byte of a failed transfer may have moved or not.
  void account(const Drawn& drawn) {
    const auto bytes_of_layout = [](const Layout& layout) {
      std::vector<std::byte*> all;
      layout.visit(0, layout.bytes(), [&](std::uintptr_t address, std::size_t bytes) {
        for (std::size_t i = 0; i < bytes; ++i) all.push_back(reinterpret_cast<std::byte*>(address) + i);
        return true;
      });
      return all;
    };
    const auto remote = bytes_of_layout(*drawn.remote);
    const auto local = bytes_of_layout(*drawn.local);
    const auto& source = drawn.put ? local : remote;
    const auto& sink = drawn.put ? remote : local;
    const int source_rank = drawn.put ? drawn.from : drawn.to;
    const int sink_rank = drawn.put ? drawn.to : drawn.from;
    for (std::size_t i = 0; i < sink.size(); ++i) {
      const std::byte moved = model_of(source_rank, source[i]);
      std::byte& model = model_of(sink_rank, sink[i]);
      if (drawn.status.ok() || *sink[i] == moved) model = moved;
    }
  }
  /// Checks that all memory is as the models say, and that nothing is under way any more.
  void check(std::vector<Drawn>& all) {
    ASSERT_TRUE(settle()) << "the ranks never come to rest";
    for (const Drawn& drawn : all) account(drawn);
    for (int rank = 0; rank < static_cast<int>(ranks.size()); ++rank) {
      const Memory& rank_memory = memory(rank);
      const auto [wrong, model] =
          std::mismatch(rank_memory.bytes.begin(), rank_memory.bytes.end(), rank_memory.model.begin());
      EXPECT_EQ(wrong - rank_memory.bytes.begin(), static_cast<std::ptrdiff_t>(rank_memory.bytes.size()))
          << "the first byte of rank " << rank << " that is not as its model";
    }
  }

  std::vector<std::unique_ptr<Memory>> memories;
};

}  // namespace librma
