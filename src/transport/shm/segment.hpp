#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include "transport/shm/message_queue.hpp"
#include "transport/transport.hpp"
#include "util/status.hpp"
#include "util/system/descriptor.hpp"

// The memory that a process shows to the other processes of its host, and its mapping there. Any of them
// may write to all of a segment, so a reader checks everything that it reads from there. A dishonest
// process can keep messages from arriving, as it could by a signal. It cannot make others access memory
// outside the segment.

namespace librma::transport {

/// Tells other processes how to reach a process's segment. This is a wire format; it is checked when
/// it is read.
struct ShmCard {
  static constexpr std::uint64_t kMagic = 0x6d68732d616d72;  // "rma-shm"
  static constexpr std::uint32_t kVersion = 3;               ///< version of the card and of the segment

  std::uint64_t magic = kMagic;
  std::uint32_t version = kVersion;
  std::int32_t rank = -1;
  std::uint64_t token = 0;  ///< drawn at random; distinguishes the segment from all others
  std::uint64_t bytes = 0;  ///< size of the segment
  std::uint64_t base = 0;   ///< address of the segment in its owner's address space
  std::uint64_t seats = 0;  ///< number of processes of the host

  bool operator==(const ShmCard&) const = default;

  /// Decodes a card. RMA_ERR_VERSION if another version of librma wrote it, RMA_ERR_LAUNCH if it is not
  /// valid.
  [[nodiscard]] static Result<ShmCard> decode(std::span<const std::byte> bytes);
};
static_assert(sizeof(ShmCard) == 48);

/// The beginning of a segment.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): the words have a cache line of their own
struct SegmentHead {
  ShmCard card;  ///< the owner's card, by which a process that has mapped the segment recognizes it
  /// The number of times that the owner's threads have begun to sleep. A process that has sent something and
  /// sees another number than the last time signals once: see ShmMessageEndpoint::arm().
  alignas(64) std::atomic<std::uint32_t> sleeps = 0;
  std::atomic<std::uint32_t> calls = 0;   ///< each process that has called at its seat adds 1
  std::atomic<std::uint32_t> closed = 0;  ///< 1: the owner is leaving
};

/// The data that the owner of a segment and one other process of the host exchange. It lies in the
/// owner's segment. `called` publishes the card in front of it, and `admitted` publishes the members
/// behind it (release, acquire).
struct Seat {
  enum class Answer : std::uint32_t { none, admitted, refused };

  ShmCard caller;  ///< the other process writes it once
  std::atomic<std::uint32_t> called = 0;
  // The owner writes the members below.
  alignas(64) std::atomic<Answer> admitted = Answer::none;
  std::uint32_t buffers = 0;         ///< number of buffers set aside for the other process's messages
  std::uint64_t queue = 0;           ///< offset of the slots for these messages from the segment's start
  QueueShape shape;                  ///< the shape of these slots; no slots without buffers
  std::atomic<std::uint64_t> taken;  ///< number of messages that the owner has taken from the slots
};

/// A segment that is mapped here. It holds the head, the seats, and then the memory that its owner has taken.
class MappedSegment {
 public:
  MappedSegment() noexcept = default;
  ~MappedSegment();
  MappedSegment(MappedSegment&& other) noexcept;
  MappedSegment& operator=(MappedSegment&& other) noexcept;
  MappedSegment(const MappedSegment&) = delete;
  MappedSegment& operator=(const MappedSegment&) = delete;

  /// Maps the file of a segment. RMA_ERR_NO_MEMORY, RMA_ERR_SYSTEM.
  [[nodiscard]] static Result<MappedSegment> map(int fd, std::size_t bytes);
  /// Maps the segment of the process that published `card`, which has handed `file` over. RMA_ERR_LAUNCH if
  /// the segment does not match the card; RMA_ERR_NO_MEMORY, RMA_ERR_SYSTEM.
  [[nodiscard]] static Result<MappedSegment> of(const ShmCard& card, int file);

  [[nodiscard]] SegmentHead& head() const { return *reinterpret_cast<SegmentHead*>(base_); }
  [[nodiscard]] Seat& seat(std::size_t number) const {
    return reinterpret_cast<Seat*>(base_ + sizeof(SegmentHead))[number];
  }
  /// Returns the smallest offset of memory that can be taken.
  [[nodiscard]] static constexpr std::size_t first_free(std::size_t seats) {
    return sizeof(SegmentHead) + seats * sizeof(Seat);
  }
  /// Returns [offset, offset + bytes) as a span; no value if it does not lie in the segment.
  [[nodiscard]] std::optional<std::span<std::byte>> range(std::uint64_t offset, std::uint64_t bytes) const;
  [[nodiscard]] std::byte* base() const { return base_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
};

/// This process's segment. It is a memfd, which has no name and so leaves nothing behind, and whose size is
/// sealed. It is sparse: it uses memory of the system only from take() on. Thread-safe.
class Segment final : public PeerMemory {
 public:
  /// Makes a segment. RMA_ERR_NO_MEMORY, RMA_ERR_SYSTEM.
  [[nodiscard]] static Result<std::unique_ptr<Segment>> create(std::size_t bytes, std::size_t seats);

  /// Returns zeroed whole pages. Each address is given out only once. So a late write of a peer that was
  /// given up damages no other peer's memory.
  [[nodiscard]] Result<std::byte*> take(std::size_t bytes) override;
  /// Gives the memory back to the system, but not its addresses.
  void give(std::byte* memory, std::size_t bytes) override;

  [[nodiscard]] const MappedSegment& mapped() const { return mapped_; }
  [[nodiscard]] int fd() const { return file_.get(); }

 private:
  Segment(Descriptor file, MappedSegment mapped, std::size_t used)
      : file_(std::move(file)), mapped_(std::move(mapped)), used_(used) {}

  const Descriptor file_;
  const MappedSegment mapped_;
  std::mutex lock_;
  std::size_t used_;  ///< bytes from the start; guarded by lock_
};

}  // namespace librma::transport
