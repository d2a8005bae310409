#include "transport/shm/segment.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "util/range_check.hpp"
#include "util/system/file_memory.hpp"
#include "util/system/page_size.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma::transport {
namespace {

constexpr unsigned kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

std::size_t whole_pages(std::size_t bytes) {
  return (bytes + page_bytes() - 1) / page_bytes() * page_bytes();
}

// A file size beyond the process's limit (ulimit -f) would raise SIGXFSZ instead of failing.
Status check_file_size_limit(std::size_t bytes) {
  rlimit file_size{};
  if (getrlimit(RLIMIT_FSIZE, &file_size) == 0 && file_size.rlim_cur != RLIM_INFINITY &&
      file_size.rlim_cur < bytes) {
    return {RMA_ERR_NO_MEMORY,
            fmt::format("the memory for messages within the host is a file of {} addresses, and this process "
                        "may make files of at most {} bytes; raise that (ulimit -f)",
                        bytes, file_size.rlim_cur)};
  }
  return {};
}

}  // namespace

Result<ShmCard> ShmCard::decode(std::span<const std::byte> bytes) {
  ShmCard card;
  if (bytes.size() != sizeof card) {
    return Status(RMA_ERR_LAUNCH, fmt::format("a shm card of {} bytes", bytes.size()));
  }
  std::memcpy(&card, bytes.data(), sizeof card);
  if (card.magic != kMagic) return Status(RMA_ERR_LAUNCH, "a shm card without its magic number");
  if (card.version != kVersion) {
    return Status(RMA_ERR_VERSION, fmt::format("a shm card of version {}, where this librma has {}",
                                               card.version, std::uint32_t{kVersion}));
  }
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 46U;
  constexpr std::uint64_t kMostSeats = 1U << 16U;
  const bool sensible = card.rank >= 0 && card.seats > 0 && card.seats <= kMostSeats &&
                        card.bytes <= kMostBytes && card.bytes >= MappedSegment::first_free(card.seats) &&
                        card.bytes % page_bytes() == 0 && card.base % page_bytes() == 0;
  if (!sensible) return Status(RMA_ERR_LAUNCH, "a shm card with values out of range");
  return card;
}

MappedSegment::~MappedSegment() {
  if (base_ != nullptr) munmap(base_, bytes_);
}

MappedSegment::MappedSegment(MappedSegment&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

MappedSegment& MappedSegment::operator=(MappedSegment&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Result<MappedSegment> MappedSegment::map(int fd, std::size_t bytes) {
  std::byte* const base = map_sparse_file(fd, bytes);
  if (base == nullptr) {
    return system_failure(errno == ENOMEM ? RMA_ERR_NO_MEMORY : RMA_ERR_SYSTEM,
                          fmt::format("cannot map {} bytes of memory for messages within the host", bytes),
                          errno);
  }
  // Otherwise the system makes pages for the whole file, of which most has none, when it writes a core file.
  // A failure of this call changes nothing else.
  static_cast<void>(madvise(base, bytes, MADV_DONTDUMP));
  MappedSegment mapped;
  mapped.base_ = base;
  mapped.bytes_ = bytes;
  return mapped;
}

Result<MappedSegment> MappedSegment::of(const ShmCard& card, int file) {
  // Pages beyond the end of a file cannot be touched. So the size must be right, and must be sealed.
  struct stat about {};
  const int seals = fcntl(file, F_GET_SEALS);
  if (fstat(file, &about) != 0 || static_cast<std::uint64_t>(about.st_size) != card.bytes || seals < 0 ||
      (static_cast<unsigned>(seals) & kSeals) != kSeals) {
    return Status(RMA_ERR_LAUNCH, fmt::format("rank {} has handed over something else than memory for "
                                              "messages, of {} addresses",
                                              card.rank, card.bytes));
  }
  auto mapped = map(file, card.bytes);
  if (!mapped.ok()) return std::move(mapped).status().within(fmt::format("rank {}", card.rank));
  ShmCard there;
  std::memcpy(&there, mapped->base(), sizeof there);
  if (!(there == card)) {
    return Status(RMA_ERR_LAUNCH,
                  fmt::format("rank {} has handed over other memory than its card tells of", card.rank));
  }
  return mapped;
}

std::optional<std::span<std::byte>> MappedSegment::range(std::uint64_t offset, std::uint64_t bytes) const {
  if (!range_contains(bytes_, offset, bytes)) return {};
  return std::span(base_ + offset, bytes);
}

Result<std::unique_ptr<Segment>> Segment::create(std::size_t bytes, std::size_t seats) {
  const std::size_t first = whole_pages(MappedSegment::first_free(seats));
  bytes = first + whole_pages(bytes);
  RMA_TRY(check_file_size_limit(bytes));
  Descriptor file(memfd_create("rma-messages", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.open()) return system_failure(RMA_ERR_SYSTEM, "memfd_create", errno);
  if (ftruncate(file.get(), static_cast<off_t>(bytes)) != 0 || fcntl(file.get(), F_ADD_SEALS, kSeals) != 0) {
    return system_failure(RMA_ERR_SYSTEM, fmt::format("making a file of {} bytes", bytes), errno);
  }
  RMA_TRY_ASSIGN(mapped, MappedSegment::map(file.get(), bytes));
  std::unique_ptr<Segment> segment(new Segment(std::move(file), std::move(mapped), 0));
  // The memory of the head and the seats is zero, which is their initial state.
  RMA_TRY(segment->take(first).status());
  return segment;
}

Result<std::byte*> Segment::take(std::size_t bytes) {
  bytes = whole_pages(bytes);
  const std::lock_guard guard(lock_);
  if (bytes > mapped_.bytes() - used_) {
    return Status(RMA_ERR_NO_MEMORY,
                  fmt::format("{} of {} bytes for messages within the host are used, and {} more are wanted",
                              used_, mapped_.bytes(), bytes));
  }
  // The memory is taken now, so that a lack of memory is an error here and not a SIGBUS later.
  if (const int error = take_file_memory(file_.get(), used_, bytes); error != 0) {
    return system_failure(RMA_ERR_NO_MEMORY, fmt::format("{} bytes for messages within the host", bytes),
                          error);
  }
  std::byte* const memory = mapped_.base() + used_;
  used_ += bytes;
  return memory;
}

void Segment::give(std::byte* memory, std::size_t bytes) {
  give_file_memory(file_.get(), static_cast<std::size_t>(memory - mapped_.base()), whole_pages(bytes));
}

}  // namespace librma::transport
