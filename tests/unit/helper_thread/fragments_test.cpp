#include "helper_thread/fragments.hpp"

#include <algorithm>
#include <random>

#include "../random_layout.hpp"
#include "../seed.hpp"
#include "helper_world.hpp"

namespace librma {
namespace {

/// Rank 1 serves puts, gets and additions of bytes to any memory of this process.
class Fragments : public HelperWorld {
 protected:
  static constexpr std::size_t kMemory = 32768;

  void start_all() {
    open(2);
    server(1).serve(RequestKind::put, [](const Served& request) -> Answer {
      std::span<const std::byte> body = request.body;
      const auto part = Layout::decode(body);
      if (!part || part->bytes != body.size()) return {.status = RMA_ERR_ARGUMENT};
      unpack(part->layout, part->from, body);
      return {};
    });
    server(1).serve(RequestKind::get, [](const Served& request) -> Answer {
      std::span<const std::byte> body = request.body;
      const auto part = Layout::decode(body);
      if (!part || !body.empty() || part->bytes > request.room.size()) return {.status = RMA_ERR_ARGUMENT};
      pack(part->layout, part->from, request.room.first(part->bytes));
      return {.bytes = part->bytes};
    });
    server(1).serve(RequestKind::accumulate, [this](const Served& request) -> Answer {
      if (request.body.size() < sizeof prefix) return {.status = RMA_ERR_ARGUMENT};
      EXPECT_TRUE(std::equal(prefix.begin(), prefix.end(), request.body.begin()));
      std::span<const std::byte> body = request.body.subspan(sizeof prefix);
      const auto part = Layout::decode(body);
      if (!part || part->bytes != body.size()) return {.status = RMA_ERR_ARGUMENT};
      EXPECT_EQ(part->bytes % 4, 0U) << "half an element";
      part->visit([&](std::uintptr_t address, std::size_t bytes) {
        for (std::size_t i = 0; i < bytes; ++i) add(address + i, body[i]);
        body = body.subspan(bytes);
        return true;
      });
      return {};
    });
    start();
    for (std::size_t i = 0; i < kMemory; ++i) {
      theirs[i] = static_cast<std::byte>(i * 7);
      mine[i] = static_cast<std::byte>(i * 3 + 1);
    }
  }
  static void add(std::uintptr_t address, std::byte value) {
    auto* const at = reinterpret_cast<std::byte*>(address);
    *at = static_cast<std::byte>(std::to_integer<unsigned>(*at) + std::to_integer<unsigned>(value));
  }

  /// Returns a list of random segments that together cover `bytes` bytes from `start`.
  static Layout recut(std::mt19937_64& random, std::uintptr_t start, std::size_t bytes) {
    std::vector<Layout::Segment> segments;
    std::size_t done = 0;
    while (done < bytes) {
      const std::size_t some = std::min<std::size_t>(bytes - done, 1 + random() % 60);
      segments.push_back({.address = start + done, .bytes = some});
      done += some;
    }
    return Layout::list(std::move(segments));
  }

  void move_at_random(int cases) {
    std::mt19937_64 random(test_seed());
    const auto there = reinterpret_cast<std::uintptr_t>(theirs.data());
    const auto here = reinterpret_cast<std::uintptr_t>(mine.data());
    for (int i = 0; i < cases; ++i) {
      SCOPED_TRACE(i);
      RandomLayout remote;
      // Parts of strided shapes may lie far away. Shapes that leave the memory are drawn again.
      do {
        remote = random_layout(random, there + kMemory / 2, 4);
      } while (remote.addresses.empty() ||
               *std::min_element(remote.addresses.begin(), remote.addresses.end()) < there ||
               *std::max_element(remote.addresses.begin(), remote.addresses.end()) >= there + kMemory);
      const std::size_t bytes = remote.addresses.size();
      ASSERT_LE(bytes, kMemory);
      const RequestKind kind =
          std::array{RequestKind::put, RequestKind::get, RequestKind::accumulate}[random() % 3];
      std::vector<std::byte> expected_theirs = theirs;
      std::vector<std::byte> expected_mine = mine;
      const auto offset = [&](std::size_t k) { return remote.addresses[k] - there; };
      for (std::size_t k = 0; k < bytes; ++k) {
        if (kind == RequestKind::put) expected_theirs[offset(k)] = mine[k];
        if (kind == RequestKind::get) expected_mine[k] = theirs[offset(k)];
        if (kind == RequestKind::accumulate) {
          add(reinterpret_cast<std::uintptr_t>(expected_theirs.data() + offset(k)), mine[k]);
        }
      }
      const FragmentedTransfer transfer = {
          .kind = kind,
          .rank = 1,
          .remote = std::make_shared<Layout>(remote.layout),
          .local = std::make_shared<Layout>(recut(random, here, bytes)),
          .operation = at(0).pending->open(1),
          .prefix = kind == RequestKind::accumulate ? std::span<const std::byte>(prefix)
                                                    : std::span<const std::byte>(),
          .unit = kind == RequestKind::accumulate ? 4U : 1U,
          .most = std::array<std::size_t, 4>{16, 100, 1000, 1U << 20U}[random() % 4],
          .one_by_one = random() % 2 == 0};
      const Status asked = ask_in_fragments(client(0), *at(0).pending, transfer);
      ASSERT_TRUE(asked.ok()) << asked.text();
      const Status finished = at(0).pending->finish(transfer.operation);
      ASSERT_TRUE(finished.ok()) << finished.text();
      ASSERT_EQ(theirs, expected_theirs);
      ASSERT_EQ(mine, expected_mine);
    }
  }

  const std::array<std::byte, 24> prefix = {std::byte{1}, std::byte{2}, std::byte{3}};
  std::vector<std::byte> theirs = std::vector<std::byte>(kMemory);
  std::vector<std::byte> mine = std::vector<std::byte>(kMemory);
};

TEST_F(Fragments, AnyLayoutWithLargeBuffers) {
  settings.message_bytes = 2048;
  settings.helper_buffer = 65536;
  start_all();
  move_at_random(600);
}

TEST_F(Fragments, AnyLayoutWithSmallBuffers) {
  settings.helper_buffers = 2;
  start_all();
  move_at_random(600);
}

TEST_F(Fragments, BuffersThatHoldLessThanAMessage) {
  settings.message_bytes = 4096;
  settings.helper_buffer = 1024;
  start_all();
  move_at_random(300);
}

}  // namespace
}  // namespace librma
