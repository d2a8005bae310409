/**
 * @file halo.hpp
 * The pattern of most applications: a rank posts a receive from each neighbour, sends to each, and waits for
 * all of them.
 */
#pragma once

#include "twosided/group.hpp"

namespace rma::bench {

/** The neighbours of a rank: in a ring, at the faces of a cube, and at its faces, edges and corners. */
inline constexpr std::array<int, 3> kNeighbours = {2, 6, 26};
inline constexpr std::array<std::size_t, 4> kHaloSizes = {64, 512, 4096, 65536};

/** The neighbours are the other ranks in turn, so that a job of few ranks exchanges several messages with
 * each of them, as a small periodic grid does. Every message has a buffer of its own. */
class Halo {
 public:
  Halo(const MpiMember& member, int neighbours, std::size_t bytes)
      : rank_(member.rank()),
        size_(member.size()),
        neighbours_(neighbours),
        bytes_(bytes),
        sent_(total()),
        received_(total()),
        requests_(2 * static_cast<std::size_t>(neighbours)) {}

  void operator()() {
    const int count = static_cast<int>(bytes_);
    MPI_Request* request = requests_.data();
    for (int i = 0; i < neighbours_; ++i)
      MPI_Irecv(at(received_, i), count, MPI_BYTE, source(i), i, MPI_COMM_WORLD, request++);
    for (int i = 0; i < neighbours_; ++i)
      MPI_Isend(at(sent_, i), count, MPI_BYTE, target(i), i, MPI_COMM_WORLD, request++);
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }

  /** Exchanges once. Returns whether this rank has got the data of all its neighbours. */
  bool is_right() {
    for (int i = 0; i < neighbours_; ++i) {
      std::memset(at(sent_, i), value(rank_, i), bytes_);
      std::memset(at(received_, i), 0, bytes_);
    }
    (*this)();
    bool right = true;
    for (int i = 0; i < neighbours_; ++i) {
      const char* const begin = at(received_, i);
      right =
          right && std::all_of(begin, begin + bytes_, [&](char byte) { return byte == value(source(i), i); });
    }
    return right;
  }

 private:
  static constexpr std::size_t kLine = 64;

  [[nodiscard]] std::size_t stride() const { return (bytes_ + kLine - 1) / kLine * kLine + kLine; }
  [[nodiscard]] std::size_t total() const { return stride() * static_cast<std::size_t>(neighbours_); }
  [[nodiscard]] char* at(const LocalBuffer& buffer, int i) const {
    return buffer.data() + stride() * static_cast<std::size_t>(i);
  }
  [[nodiscard]] int distance(int i) const { return 1 + i % (size_ - 1); }
  [[nodiscard]] int target(int i) const { return (rank_ + distance(i)) % size_; }
  [[nodiscard]] int source(int i) const { return (rank_ + size_ - distance(i)) % size_; }
  /** Returns the bytes of the i-th message of a rank. None is 0. */
  static char value(int rank, int i) { return static_cast<char>(1 + (7 * i + 31 * rank) % 113); }

  int rank_;
  int size_;
  int neighbours_;
  std::size_t bytes_;
  LocalBuffer sent_;
  LocalBuffer received_;
  std::vector<MPI_Request> requests_;
};

/** A row is the time of an exchange divided by the number of neighbours. */
inline void halo_suite(MpiMeasure& measure) {
  const MpiMember& member = measure.backend();
  if (member.size() < 2) return;
  for (const int neighbours : kNeighbours) {
    for (const std::size_t bytes : kHaloSizes) {
      const RowName name{"halo",
                         "twosided halo " + size_text(bytes) + " of " + std::to_string(neighbours) +
                             " neighbours " + ranks_text(member.size()),
                         "", bytes};
      Halo halo(member, neighbours, bytes);
      if (!measure.agree(name, halo.is_right())) continue;
      measure.together(
          name, [&](std::size_t) { halo(); }, static_cast<std::size_t>(neighbours));
    }
  }
}

}  // namespace rma::bench
