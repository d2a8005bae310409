#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "mpi.h"
#include "twosided_compat/files/hints.hpp"
#include "twosided_compat/files/storage.hpp"

namespace librma::mpi {

/// A contiguous part of a file, and the contiguous memory that is written there or read from there.
struct FilePiece {
  MPI_Offset offset;
  std::size_t bytes;
  std::byte* data;

  [[nodiscard]] MPI_Offset end() const { return offset + static_cast<MPI_Offset>(bytes); }
};

/// Without a hint, a piece goes together with the gap before it if both together have at most this many
/// bytes: to move them takes about as long as another system call.
constexpr MPI_Count kMostWithGap = 4096;
/// The limits for reads, which need no lock and move the gap once. The system copies long ranges faster by
/// the byte than single pages, unless the file is one of tmpfs, which has single pages.
constexpr MPI_Count kMostReadWithGap = 16384;
constexpr MPI_Count kMostReadInMemoryWithGap = 8192;

/// How pieces are moved.
struct PiecePolicy {
  /// Whether gaps between pieces may be read or written together with them (data sieving).
  Switch sieve = Switch::kAutomatic;
  MPI_Count most_with_gap = kMostWithGap;
  std::size_t buffer_bytes = 0;  ///< of the memory for pieces that go by one system call
  /// Writes take locks, because some process of the file may write gaps.
  bool locks = false;
};

/// Writes and reads lists of pieces by few system calls. Neighbours go by one. Small pieces with small gaps
/// go together with the gaps: a write reads the range, changes it and writes it under an exclusive lock, so
/// that what other processes write into the gaps is not lost.
class PieceMover {
 public:
  PieceMover(const Storage& storage, const PiecePolicy& policy) : storage_(storage), policy_(policy) {}

  /// Move the pieces, best in the order of their offsets. The outcome counts the bytes of the pieces from the
  /// first one on.
  [[nodiscard]] Outcome write(std::span<const FilePiece> pieces);
  [[nodiscard]] Outcome read(std::span<const FilePiece> pieces);

 private:
  /// Pieces that go by one system call.
  struct Window {
    std::span<const FilePiece> pieces;
    std::size_t data_bytes = 0;  ///< of the pieces
    bool has_gaps = false;

    [[nodiscard]] MPI_Offset begin() const { return pieces.front().offset; }
    [[nodiscard]] MPI_Offset end() const { return pieces.back().end(); }
    [[nodiscard]] std::size_t span() const { return static_cast<std::size_t>(end() - begin()); }
  };

  /// Returns the longest window at the beginning of the pieces.
  [[nodiscard]] Window first_window(std::span<const FilePiece> pieces, bool sieves) const;
  /// Moves all windows: `move` moves one.
  template <class Move>
  [[nodiscard]] static Outcome for_each_window(std::span<const FilePiece> pieces, const Move& move);
  [[nodiscard]] bool is_vector(const Window& window) const;
  [[nodiscard]] std::span<iovec> vector_of(const Window& window);
  /// Returns memory of at least so many bytes, whose contents are indeterminate.
  [[nodiscard]] std::byte* buffer(std::size_t bytes);

  [[nodiscard]] Outcome write_window(const Window& window);
  [[nodiscard]] Outcome write_data(const Window& window);
  [[nodiscard]] Outcome change_range(const Window& window);
  [[nodiscard]] Outcome read_window(const Window& window);

  const Storage& storage_;
  const PiecePolicy policy_;
  std::unique_ptr<std::byte[]> buffer_;
  std::size_t buffer_bytes_ = 0;
  std::vector<iovec> vector_;
};

}  // namespace librma::mpi
