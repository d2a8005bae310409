#include "atomics/remote_atomics.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "../helper_thread/helper_world.hpp"
#include "job_of_one.hpp"

namespace librma {
namespace {

/// The job to which the served memory belongs.
class Owner final : public JobOfOne {
 public:
  Owner() { SetUp(); }
  void TestBody() override {}
  using JobOfOne::accumulator;
  using JobOfOne::expose;
};

/// Rank 0 sends requests, and rank 1 executes them.
class RemoteAtomic : public HelperWorld {
 protected:
  void start_both() {
    open(2);
    asker.emplace(*owner.accumulator, settings.packed_piece, *at(0).pending, at(0).network.get(), client(0),
                  server(0));
    owners.emplace(*owner.accumulator, settings.packed_piece, *at(1).pending, at(1).network.get(), client(1),
                   server(1));
    start();
  }
  Status accumulate(std::vector<Layout::Segment> to, const std::vector<double>& from) {
    const auto local = Layout::contiguous(reinterpret_cast<std::uintptr_t>(from.data()), from.size() * 8);
    return asker->accumulate(std::make_shared<Layout>(Layout::list(std::move(to))),
                             std::make_shared<Layout>(local), RMA_DOUBLE, nullptr, 1);
  }
  static Layout::Segment segment(const double* first, std::size_t count) {
    return {.address = reinterpret_cast<std::uintptr_t>(first), .bytes = count * sizeof(double)};
  }

  Owner owner;
  std::optional<RemoteAtomics> asker;
  std::optional<RemoteAtomics> owners;
};

/// Of three pieces, the second must not be accessed. The error names that one, wherever the others lie.
TEST_F(RemoteAtomic, AnAccumulateThatIsRefusedNamesThePiece) {
  start_both();
  std::array<double, 100> memory = {};
  owner.expose(memory.data(), 10 * sizeof(double));
  owner.expose(memory.data() + 50, 50 * sizeof(double));
  const std::vector<double> ones(12, 1.0);
  const Status refused =
      accumulate({segment(&memory[60], 4), segment(&memory[20], 4), segment(&memory[2], 4)}, ones);
  EXPECT_EQ(refused.code(), RMA_ERR_ADDRESS);
  const std::string place = fmt::format("{}", static_cast<const void*>(&memory[20]));
  EXPECT_NE(refused.text().find(place), std::string::npos) << refused.text();
  EXPECT_NE(refused.text().find("32 bytes"), std::string::npos) << refused.text();
  EXPECT_EQ(memory, (std::array<double, 100>{})) << "pieces that were asked for together change nothing";
  const Status good = accumulate({segment(&memory[60], 4), segment(&memory[2], 4)}, {1, 1, 1, 1, 1, 1, 1, 1});
  EXPECT_TRUE(good.ok()) << good.text();
  EXPECT_EQ(memory[60] + memory[5], 2.0);
}

/// Long pieces take several requests, which cut segments. The error names the whole segment all the same.
TEST_F(RemoteAtomic, ARefusalInTheMiddleOfASegmentNamesAllOfIt) {
  settings.packed_piece = 256;
  start_both();
  std::vector<double> memory(300);
  owner.expose(memory.data(), 150 * sizeof(double));
  const Status refused =
      accumulate({segment(memory.data(), 40), segment(&memory[100], 100)}, std::vector<double>(140, 1.0));
  EXPECT_EQ(refused.code(), RMA_ERR_ADDRESS);
  EXPECT_NE(refused.text().find(fmt::format("{}", static_cast<const void*>(&memory[100]))), std::string::npos)
      << refused.text();
  EXPECT_NE(refused.text().find("800 bytes"), std::string::npos) << refused.text();
}

}  // namespace
}  // namespace librma
