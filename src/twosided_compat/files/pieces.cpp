// Lists of pieces of files, by few system calls.

#include "twosided_compat/files/pieces.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>

namespace librma::mpi {
namespace {

/// Pieces that are this long on average go from and to their places. Shorter ones go through a buffer,
/// because the system takes longer for an entry of a vector than for a copy of so many bytes.
constexpr std::size_t kVectorPiece = 1024;

/// Copies a piece. A call of memcpy takes longer than the copy of a single element.
void copy_piece(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes == sizeof(std::uint64_t)) {
    std::memcpy(to, from, sizeof(std::uint64_t));
  } else {
    std::memcpy(to, from, bytes);
  }
}

/// Returns how many bytes of the pieces lie below `end`, which is the end of what was moved of their range.
std::size_t bytes_below(std::span<const FilePiece> pieces, MPI_Offset end) {
  std::size_t bytes = 0;
  for (const FilePiece& piece : pieces) {
    if (end <= piece.offset) break;
    bytes += std::min(piece.bytes, static_cast<std::size_t>(end - piece.offset));
  }
  return bytes;
}

}  // namespace

PieceMover::Window PieceMover::first_window(std::span<const FilePiece> pieces, bool sieves) const {
  Window window = {.pieces = pieces.first(1), .data_bytes = pieces.front().bytes};
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    const FilePiece& next = pieces[i];
    if (next.offset < window.end()) break;
    const auto gap = static_cast<std::size_t>(next.offset - window.end());
    if (gap != 0) {
      const bool worth = policy_.sieve == Switch::kEnable ||
                         gap + next.bytes <= static_cast<std::size_t>(policy_.most_with_gap);
      if (!sieves || !worth) break;
    }
    // A window without gaps may go by a vector, which needs no buffer.
    const bool fits = window.span() + gap + next.bytes <= policy_.buffer_bytes;
    if (!fits && (gap != 0 || window.has_gaps || window.data_bytes < kVectorPiece * i)) break;
    window.has_gaps = window.has_gaps || gap != 0;
    window.data_bytes += next.bytes;
    window.pieces = pieces.first(i + 1);
  }
  return window;
}

template <class Move>
Outcome PieceMover::for_each_window(std::span<const FilePiece> pieces, const Move& move) {
  Outcome total;
  while (!pieces.empty()) {
    const Window window = move.window(pieces);
    const Outcome moved = move.move(window);
    total.bytes += moved.bytes;
    total.code = moved.code;
    if (moved.code != MPI_SUCCESS || moved.bytes != window.data_bytes) break;
    pieces = pieces.subspan(window.pieces.size());
  }
  return total;
}

bool PieceMover::is_vector(const Window& window) const {
  return window.data_bytes / window.pieces.size() >= kVectorPiece || window.span() > policy_.buffer_bytes;
}

std::span<iovec> PieceMover::vector_of(const Window& window) {
  vector_.clear();
  for (const FilePiece& piece : window.pieces) vector_.push_back({piece.data, piece.bytes});
  return vector_;
}

std::byte* PieceMover::buffer(std::size_t bytes) {
  if (buffer_bytes_ < bytes) {
    // Without zeros: they would touch all of the memory, of which most accesses need a part.
    buffer_.reset();
    buffer_bytes_ = 0;
    const std::size_t enough = std::max(bytes, policy_.buffer_bytes);
    buffer_ = std::make_unique_for_overwrite<std::byte[]>(enough);
    buffer_bytes_ = enough;
  }
  return buffer_.get();
}

Outcome PieceMover::write(std::span<const FilePiece> pieces) {
  const bool sieves = policy_.locks && policy_.sieve != Switch::kDisable && storage_.can_read();
  struct Writing {
    PieceMover& self;
    bool sieves;
    [[nodiscard]] Window window(std::span<const FilePiece> rest) const {
      return self.first_window(rest, sieves);
    }
    [[nodiscard]] Outcome move(const Window& window) const { return self.write_window(window); }
  };
  return for_each_window(pieces, Writing{*this, sieves});
}

Outcome PieceMover::write_window(const Window& window) {
  if (!policy_.locks) return write_data(window);
  const auto mode = window.has_gaps ? RangeLock::Mode::kExclusive : RangeLock::Mode::kShared;
  const RangeLock lock(storage_, mode, window.begin(), window.end());
  if (lock.code() != MPI_SUCCESS) return {.code = lock.code()};
  return window.has_gaps ? change_range(window) : write_data(window);
}

Outcome PieceMover::write_data(const Window& window) {
  const FilePiece& first = window.pieces.front();
  if (window.pieces.size() == 1) return storage_.write(first.offset, first.data, first.bytes);
  if (is_vector(window)) return storage_.write_parts(window.begin(), vector_of(window));
  std::byte* const data = buffer(window.span());
  for (const FilePiece& piece : window.pieces)
    copy_piece(data + (piece.offset - window.begin()), piece.data, piece.bytes);
  return storage_.write(window.begin(), data, window.span());
}

Outcome PieceMover::change_range(const Window& window) {
  std::byte* const data = buffer(window.span());
  const Outcome before = storage_.read(window.begin(), data, window.span());
  if (before.code != MPI_SUCCESS) return {.code = before.code};
  // The gaps behind the end of the file become zeros, as they do without sieving.
  std::memset(data + before.bytes, 0, window.span() - before.bytes);
  for (const FilePiece& piece : window.pieces)
    copy_piece(data + (piece.offset - window.begin()), piece.data, piece.bytes);
  const Outcome after = storage_.write(window.begin(), data, window.span());
  return {.code = after.code,
          .bytes = bytes_below(window.pieces, window.begin() + static_cast<MPI_Offset>(after.bytes))};
}

Outcome PieceMover::read(std::span<const FilePiece> pieces) {
  struct Reading {
    PieceMover& self;
    [[nodiscard]] Window window(std::span<const FilePiece> rest) const {
      return self.first_window(rest, self.policy_.sieve != Switch::kDisable);
    }
    [[nodiscard]] Outcome move(const Window& window) const { return self.read_window(window); }
  };
  return for_each_window(pieces, Reading{*this});
}

Outcome PieceMover::read_window(const Window& window) {
  const FilePiece& first = window.pieces.front();
  if (window.pieces.size() == 1) return storage_.read(first.offset, first.data, first.bytes);
  if (!window.has_gaps && is_vector(window)) return storage_.read_parts(window.begin(), vector_of(window));
  std::byte* const data = buffer(window.span());
  const Outcome got = storage_.read(window.begin(), data, window.span());
  const MPI_Offset end = window.begin() + static_cast<MPI_Offset>(got.bytes);
  for (const FilePiece& piece : window.pieces) {
    if (end <= piece.offset) break;
    copy_piece(piece.data, data + (piece.offset - window.begin()),
               std::min(piece.bytes, static_cast<std::size_t>(end - piece.offset)));
  }
  return {.code = got.code, .bytes = bytes_below(window.pieces, end)};
}

}  // namespace librma::mpi
