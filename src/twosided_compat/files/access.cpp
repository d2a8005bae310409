// Accesses to the data of a file: their arguments, and how one process executes them alone.

#include "twosided_compat/files/access.hpp"

#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <vector>

#include "twosided_compat/files/file.hpp"
#include "twosided_compat/objects/errors.hpp"
#include "util/try.hpp"

namespace librma::mpi {
namespace {

/// The pieces that one process collects before it moves them.
constexpr std::size_t kMostPieces = std::size_t{1} << 14U;
/// Data that are contiguous neither in memory nor in the file go through contiguous memory of this size.
constexpr MPI_Count kStagedBytes = MPI_Count{4} << 20U;

/// Collects pieces, and moves them in portions.
class Portions {
 public:
  Portions(const Storage& storage, const PiecePolicy& policy, FileDirection direction)
      : mover_(storage, policy), direction_(direction) {}

  void add(MPI_Offset offset, std::byte* data, std::size_t bytes) {
    if (stopped_) return;
    pieces_.push_back({offset, bytes, data});
    if (pieces_.size() == kMostPieces) static_cast<void>(move());
  }
  /// Moves what is left. Returns whether everything so far was moved.
  [[nodiscard]] bool move() {
    if (stopped_ || pieces_.empty()) return !stopped_;
    std::size_t wanted = 0;
    for (const FilePiece& piece : pieces_) wanted += piece.bytes;
    const Outcome moved = direction_ == FileDirection::kWrite ? mover_.write(pieces_) : mover_.read(pieces_);
    pieces_.clear();
    total_.bytes += moved.bytes;
    total_.code = moved.code;
    stopped_ = moved.code != MPI_SUCCESS || moved.bytes != wanted;
    return !stopped_;
  }
  [[nodiscard]] const Outcome& total() const { return total_; }

 private:
  PieceMover mover_;
  const FileDirection direction_;
  std::vector<FilePiece> pieces_;
  Outcome total_;
  bool stopped_ = false;
};

/// Adds the pieces of bytes [from, to) of the access's data, which lie at `data`.
void add_pieces(const FileAccess& access, MPI_Count from, MPI_Count to, std::byte* data, Portions& portions) {
  access.view().visit(access.position + from, access.position + to,
                      [&](MPI_Offset offset, std::size_t bytes) {
                        portions.add(offset, data, bytes);
                        data += bytes;
                      });
}

/// Moves data that are contiguous neither in memory nor in the file.
void transfer_staged(const FileAccess& access, Portions& portions) {
  std::vector<std::byte> staged(static_cast<std::size_t>(std::min(access.bytes(), kStagedBytes)));
  for (MPI_Count from = 0; from < access.bytes(); from += kStagedBytes) {
    const MPI_Count to = std::min(access.bytes(), from + kStagedBytes);
    std::byte* next = staged.data();
    if (access.direction() == FileDirection::kWrite) {
      access.visit_data(from, to, [&](const std::byte* at, std::size_t bytes) {
        std::memcpy(next, at, bytes);
        next += bytes;
      });
    }
    add_pieces(access, from, to, staged.data(), portions);
    const bool all = portions.move();
    if (access.direction() == FileDirection::kRead) {
      next = staged.data();
      const auto got = static_cast<MPI_Count>(portions.total().bytes);
      access.visit_data(from, std::min(to, got), [&](std::byte* at, std::size_t bytes) {
        std::memcpy(at, next, bytes);
        next += bytes;
      });
    }
    if (!all) return;
  }
}

}  // namespace

int FileAccess::prepare(const File& file, FileDirection direction, const FileMemory& memory) {
  direction_ = direction;
  view_ = file.view();
  memory_ = memory;
  // No data need no type in messages. The types of files are always looked at.
  if (memory.type == MPI_DATATYPE_NULL) return failure(MPI_ERR_TYPE, "the datatype is null");
  RMA_TRY(find_buffer(memory.address, memory.count, memory.type, data_));
  if (data_.type != nullptr) type_ = HeldType(*find<Datatype>(memory.type));
  if (view_->representation().is_native()) return MPI_SUCCESS;
  Datatype& type = *find<Datatype>(memory.type);
  type_ = HeldType(type);
  RMA_TRY(view_->representation().find_type(type, file_type_));
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(file_type_->size(), memory.count, &bytes))
    return failure(MPI_ERR_COUNT, fmt::format("the count is {}", memory.count));
  converted_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
  data_ = {.data = converted_.get(), .bytes = bytes};
  if (direction == FileDirection::kRead || bytes == 0) return MPI_SUCCESS;
  return view_->representation().write(memory.address, memory.count, type, converted_.get(), bytes);
}

void FileAccess::become_empty(const File& file, FileDirection direction) {
  *this = FileAccess();
  direction_ = direction;
  view_ = file.view();
}

int FileAccess::check_range() const {
  if (view_->reaches(position, bytes())) return MPI_SUCCESS;
  return failure(MPI_ERR_ARG,
                 fmt::format("{} bytes at position {} exceed the range of offsets", bytes(), position));
}

int FileAccess::finish(const Outcome& outcome, MPI_Count& bytes) const {
  bytes = static_cast<MPI_Count>(outcome.bytes);
  if (converted_ == nullptr) return outcome.code;
  // Elements that are there in part only are left out.
  const MPI_Count element = file_type_->size();
  const MPI_Count count = element > 0 ? bytes / element : 0;
  bytes = count * type_->size();
  if (direction_ == FileDirection::kWrite || count == 0) return outcome.code;
  const int code = view_->representation().read(memory_.address, count, *type_, converted_.get(),
                                                static_cast<std::size_t>(count * element));
  return outcome.code != MPI_SUCCESS ? outcome.code : code;
}

Outcome transfer(File& file, const FileAccess& access) {
  if (access.bytes() == 0) return {};
  const FileView& view = access.view();
  if (!view.has_data()) {
    if (access.direction() == FileDirection::kRead) return {};
    return {.code = failure(MPI_ERR_IO, "the filetype of the view has no data, so nothing can be written")};
  }
  PiecePolicy policy = file.policy(access.direction());
  std::optional<RangeLock> lock;
  if (file.atomic.load(std::memory_order_relaxed)) {
    const bool writes = access.direction() == FileDirection::kWrite;
    lock.emplace(file.storage(), writes ? RangeLock::Mode::kExclusive : RangeLock::Mode::kShared,
                 view.offset_of(access.position), view.offset_of(access.end() - 1) + 1);
    if (lock->code() != MPI_SUCCESS) return {.code = lock->code()};
    policy.locks = false;
  }
  if (access.data().is_contiguous() && view.is_contiguous()) {
    const FilePiece piece = {view.offset_of(access.position), access.data().bytes, access.data().data};
    PieceMover mover(file.storage(), policy);
    return access.direction() == FileDirection::kWrite ? mover.write({&piece, 1}) : mover.read({&piece, 1});
  }
  Portions portions(file.storage(), policy, access.direction());
  if (access.data().is_contiguous()) {
    add_pieces(access, 0, access.bytes(), access.data().data, portions);
  } else if (view.is_contiguous()) {
    MPI_Offset offset = view.offset_of(access.position);
    access.visit_data(0, access.bytes(), [&](std::byte* at, std::size_t bytes) {
      portions.add(offset, at, bytes);
      offset += static_cast<MPI_Offset>(bytes);
    });
  } else {
    transfer_staged(access, portions);
  }
  static_cast<void>(portions.move());
  return portions.total();
}

}  // namespace librma::mpi
