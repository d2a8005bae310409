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
#include "util/process_identity.hpp"
#include "util/status.hpp"

// What a process of a host shows the others of that host, and its mapping there. All that lies in a segment
// may have been written by any of them: what is read from there is checked. A dishonest process can keep
// messages from arriving, as it could by a signal; it cannot make others touch memory that is not meant.

namespace rma::transport {

/// How others reach a process's segment: a wire format, checked when read.
struct ShmCard {
  static constexpr std::uint64_t kMagic = 0x6d68732d616d72;  // "rma-shm"
  static constexpr std::uint32_t kVersion = 2;               ///< of this, and of the segment

  std::uint64_t magic = kMagic;
  std::uint32_t version = kVersion;
  std::uint32_t process = 0;
  std::uint64_t token = 0;  ///< drawn at random: tells the segment from all others
  std::uint64_t bytes = 0;  ///< of the segment
  std::uint64_t base = 0;   ///< of the segment, in its owner's addresses
  std::int32_t rank = -1;
  std::uint32_t seats = 0;  ///< processes of the host
  std::uint32_t segment_fd = 0;
  std::uint32_t bell_fd = 0;  ///< a pipe: who writes there wakes the owner
  std::uint64_t started = 0;  ///< when the process did: see ProcessIdentity

  [[nodiscard]] ProcessIdentity identity() const {
    return {.process = static_cast<pid_t>(process), .started = started};
  }
  bool operator==(const ShmCard&) const = default;

  /// RMA_ERR_VERSION when another librma wrote it, RMA_ERR_LAUNCH when it makes no sense.
  [[nodiscard]] static Result<ShmCard> decode(std::span<const std::byte> bytes);
};
static_assert(sizeof(ShmCard) == 64);

/// What a segment begins with.
struct SegmentHead {
  ShmCard card;  ///< its owner's, for those who have mapped it to know it again
  /// How often the owner's threads have begun to sleep. Whoever has something for it and sees another number
  /// than the last time rings once: see ShmMessageEndpoint::arm().
  alignas(64) std::atomic<std::uint32_t> sleeps = 0;
  std::atomic<std::uint32_t> calls = 0;   ///< raised by each process that has called at its seat
  std::atomic<std::uint32_t> closed = 0;  ///< 1: the owner is leaving
};

/// What the owner of a segment and one other process of the host tell each other; it lies in the owner's
/// segment. `called` publishes the card in front of it and `admitted` what is behind it (release, acquire).
struct Seat {
  enum class Answer : std::uint32_t { none, admitted, refused };

  ShmCard caller;  ///< written by the other process, once
  std::atomic<std::uint32_t> called = 0;
  std::array<std::uint32_t, 15> unused = {};
  // Written by the owner:
  alignas(64) std::atomic<Answer> admitted = Answer::none;
  std::uint32_t buffers = 0;         ///< set aside for messages of the other process
  std::uint64_t queue = 0;           ///< where the slots for these lie, from the segment's start
  QueueShape shape;                  ///< and how many; none without buffers
  std::atomic<std::uint64_t> taken;  ///< messages that the owner has taken from there
};

/// A file of this process.
class Descriptor {
 public:
  Descriptor() noexcept = default;
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool open() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

/// A segment that is mapped here: the head, the seats, and then what its owner takes of it.
class MappedSegment {
 public:
  MappedSegment() noexcept = default;
  ~MappedSegment();
  MappedSegment(MappedSegment&& other) noexcept;
  MappedSegment& operator=(MappedSegment&& other) noexcept;
  MappedSegment(const MappedSegment&) = delete;
  MappedSegment& operator=(const MappedSegment&) = delete;

  /// RMA_ERR_NO_MEMORY, RMA_ERR_SYSTEM.
  [[nodiscard]] static Result<MappedSegment> map(int fd, std::size_t bytes);
  /// The segment of the card's owner. RMA_ERR_PEER_LOST when that process is no more; RMA_ERR_LAUNCH when
  /// what is there is not what the card says; RMA_ERR_NO_MEMORY, RMA_ERR_SYSTEM.
  [[nodiscard]] static Result<MappedSegment> of(const ShmCard& card);

  [[nodiscard]] SegmentHead& head() const { return *reinterpret_cast<SegmentHead*>(base_); }
  [[nodiscard]] Seat& seat(std::size_t number) const {
    return reinterpret_cast<Seat*>(base_ + sizeof(SegmentHead))[number];
  }
  /// Where memory that is taken can begin.
  [[nodiscard]] static constexpr std::size_t first_free(std::size_t seats) {
    return sizeof(SegmentHead) + seats * sizeof(Seat);
  }
  /// [offset, offset + bytes), if it lies in the segment.
  [[nodiscard]] std::optional<std::span<std::byte>> range(std::uint64_t offset, std::uint64_t bytes) const;
  [[nodiscard]] std::byte* base() const { return base_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
};

/// This process's segment: a memfd, which has no name and so leaves nothing behind, of a size that nobody can
/// change. It is sparse: memory is the system's until it is taken. Thread-safe.
class Segment final : public PeerMemory {
 public:
  /// RMA_ERR_NO_MEMORY, RMA_ERR_SYSTEM.
  [[nodiscard]] static Result<std::unique_ptr<Segment>> create(std::size_t bytes, std::size_t seats);

  /// Zeroed whole pages. The addresses are given out only once: a peer that was given up may write there
  /// still, late, and meets nobody else's.
  [[nodiscard]] Result<std::byte*> take(std::size_t bytes) override;
  /// Gives the memory back to the system.
  void give(std::byte* memory, std::size_t bytes) override;

  [[nodiscard]] const MappedSegment& mapped() const { return mapped_; }
  [[nodiscard]] int fd() const { return file_.get(); }

 private:
  Segment(Descriptor file, MappedSegment mapped, std::size_t used)
      : file_(std::move(file)), mapped_(std::move(mapped)), used_(used) {}

  const Descriptor file_;
  const MappedSegment mapped_;
  std::mutex lock_;
  std::size_t used_;  ///< from the start; guarded by lock_
};

}  // namespace rma::transport
