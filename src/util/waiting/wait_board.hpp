#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <type_traits>

// The file in which the ranks of a job on one host say what they wait for, for the launcher
// (docs/protocols.md, "A hang explains itself"). The launcher makes it before the ranks start. A page
// describes the job, and each rank has a page behind it, which only that rank's process writes. The launcher
// reads the pages without the ranks' help: their threads may all sleep. It trusts nothing that it reads.

namespace librma {

/// The variable by which the launcher tells the ranks where the file is.
inline constexpr const char* kWaitBoardVariable = "RMARUN_WAITS";

/// Ranks at equal distances: first, first + stride, and so on.
struct RankRun {
  std::int32_t first = 0;
  std::int32_t count = 0;
  std::int32_t stride = 1;
};

/// The wait of one thread.
struct WaitRecord {
  static constexpr std::size_t kMostRuns = 48;

  std::int64_t since = 0;     ///< CLOCK_MONOTONIC in nanoseconds
  std::uint64_t meeting = 0;  ///< not 0: a collective call, with a number that is the same at all its members
  std::int32_t process = 0;   ///< the ids of the process and of the thread, as the rank itself sees them
  std::int32_t thread = 0;    ///< 0 in a record of no wait
  std::uint16_t run_count = 0;  ///< of `runs`
  std::uint8_t any = 0;         ///< 1: one of the awaited ranks is enough
  std::uint8_t more = 0;        ///< 1: there are more awaited ranks than `runs` can name
  std::uint32_t reserved = 0;
  std::array<char, 48> call = {};            ///< as all texts, it ends at a null character, if there is one
  std::array<char, 296> about = {};          ///< the arguments: "from rank 3, tag 7, MPI_COMM_WORLD"
  std::array<RankRun, kMostRuns> runs = {};  ///< the awaited ranks
};
static_assert(std::is_trivially_copyable_v<WaitRecord> && sizeof(WaitRecord) % sizeof(std::uint64_t) == 0);

/// The place of one record. Its owner writes it word by word while `version` is odd. A reader that finds the
/// same even version before and after it has copied the words has a whole record.
class WaitSlot {
 public:
  /// Takes the slot for the calling thread. Returns false if another thread has it.
  [[nodiscard]] bool claim() {
    return taken_.load(std::memory_order_relaxed) == 0 && taken_.exchange(1, std::memory_order_acquire) == 0;
  }
  /// Gives it back. Acquire and release order the records of the two owners.
  void give_back() { taken_.store(0, std::memory_order_release); }

  /// Writes a record. The owner calls it.
  void write(const WaitRecord& record) {
    const auto words = std::bit_cast<Words>(record);
    const std::uint32_t version = version_.load(std::memory_order_relaxed) | 1U;
    version_.store(version, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);  // pairs with the acquire fence in read()
    for (std::size_t i = 0; i < words.size(); ++i) words_[i].store(words[i], std::memory_order_relaxed);
    version_.store(version + 1, std::memory_order_release);  // pairs with the first load in read()
  }
  /// Returns the record, or no value while its owner writes it.
  [[nodiscard]] std::optional<WaitRecord> read() const {
    const std::uint32_t before = version_.load(std::memory_order_acquire);
    if (before % 2 != 0) return std::nullopt;
    Words words;
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = words_[i].load(std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (version_.load(std::memory_order_relaxed) != before) return std::nullopt;
    return std::bit_cast<WaitRecord>(words);
  }

 private:
  using Words = std::array<std::uint64_t, sizeof(WaitRecord) / sizeof(std::uint64_t)>;

  std::atomic<std::uint32_t> taken_;
  std::atomic<std::uint32_t> version_;
  std::array<std::atomic<std::uint64_t>, std::tuple_size_v<Words>> words_;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// A rank's part of the file. All zero is its first state.
struct WaitPage {
  static constexpr std::size_t kBytes = 4096;
  static constexpr std::size_t kSlots = 4;  ///< if more threads of a rank wait, the others are not shown

  std::array<WaitSlot, kSlots> slots;
};
static_assert(sizeof(WaitPage) <= WaitPage::kBytes);

/// The first page.
struct WaitBoardHead {
  static constexpr std::uint64_t kFormat = 0x31647261'6f627772;  // changes with everything in this header

  std::uint64_t format = kFormat;
  std::uint64_t ranks = 0;
  std::array<char, 256> job =
      {};  ///< the job's name (Bootstrap::job_id): other jobs may inherit the variable
};
static_assert(sizeof(WaitBoardHead) <= WaitPage::kBytes);

constexpr std::size_t wait_board_bytes(std::size_t ranks) { return (ranks + 1) * WaitPage::kBytes; }

/// Copies a text into such an array. It is cut short if it does not fit.
template <std::size_t kSize>
void copy_text(std::string_view text, std::array<char, kSize>& into) {
  into.fill('\0');
  std::memcpy(into.data(), text.data(), text.size() < kSize ? text.size() : kSize);
}
template <std::size_t kSize>
std::string_view text_of(const std::array<char, kSize>& from) {
  const void* const end = std::memchr(from.data(), '\0', kSize);
  return {from.data(),
          end == nullptr ? kSize : static_cast<std::size_t>(static_cast<const char*>(end) - from.data())};
}

}  // namespace librma
