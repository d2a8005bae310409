#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <vector>

#include "mpi.h"
#include "twosided_compat/files/access.hpp"
#include "twosided_compat/files/pending_messages.hpp"
#include "twosided_compat/files/pieces.hpp"

namespace librma::mpi {

/// How a range of a file is divided among aggregators: each has a part, which it works through in windows.
struct Division {
  std::vector<int> aggregators;  ///< their ranks
  MPI_Offset begin = 0;
  MPI_Offset end = 0;
  MPI_Offset part = 0;    ///< bytes of an aggregator's part
  MPI_Offset window = 0;  ///< bytes of a part in one round
  MPI_Offset rounds = 0;

  [[nodiscard]] MPI_Offset window_begin(std::size_t aggregator, MPI_Offset round) const {
    const MPI_Offset part_begin = begin + static_cast<MPI_Offset>(aggregator) * part;
    return std::min(part_begin + round * window, part_begin + part);
  }
  [[nodiscard]] MPI_Offset window_end(std::size_t aggregator, MPI_Offset round) const {
    return window_begin(aggregator, round + 1);
  }
};

/// The rounds of a collective access in two phases. The messages go by the communicator of the file.
///
/// A member that fails takes part in all rounds nevertheless, because the others wait for its messages: with
/// nothing of its own, and without memory for what the others send. At the end all members learn of it.
class FileExchange {
 public:
  /// Throws std::bad_alloc. Local: the members agree before run() that all of them have one.
  FileExchange(File& file, const FileAccess& access, const Division& division);

  /// Executes all rounds. A failure of one member is that of all.
  [[nodiscard]] Outcome run();

 private:
  /// A contiguous part of a window, as the messages have it: relative to the window.
  struct WindowPiece {
    std::uint32_t offset;
    std::uint32_t bytes;
  };
  /// How much of a window a member accesses.
  struct Amount {
    MPI_Count pieces = 0;
    MPI_Count bytes = 0;
  };
  /// What a member accesses of the window of one aggregator.
  struct Share {
    Amount amount;
    std::vector<WindowPiece> pieces;
    std::vector<std::byte> memory;  ///< of data that have no other contiguous place
    std::byte* data = nullptr;      ///< the data, one piece behind the other
    MPI_Offset position = 0;        ///< of the first byte, in this member's view
    bool refused = false;           ///< by its aggregator, which has no memory for it, or finds it wrong
  };

  [[nodiscard]] bool writes() const { return access_.direction() == FileDirection::kWrite; }
  [[nodiscard]] bool is_aggregator() const { return own_ < division_.aggregators.size(); }

  [[nodiscard]] int run_round(MPI_Offset round);
  /// Executes a step of this member. A failure becomes that of the access, and is told at the end.
  template <class Step>
  bool succeeds(const Step& step) {
    int code = MPI_SUCCESS;
    try {
      code = step();
    } catch (const std::bad_alloc&) {
      code = MPI_ERR_NO_MEM;
    }
    if (code_ == MPI_SUCCESS) code_ = code;
    return code == MPI_SUCCESS;
  }
  /// Finds what this member accesses of a window. Throws std::bad_alloc.
  void find_share(std::size_t aggregator, MPI_Offset round);
  /// Gives a share the room for its data. Throws std::bad_alloc.
  void collect(Share& share);
  /// Tells the aggregators how much this member accesses.
  [[nodiscard]] int exchange_amounts();
  /// Start the messages of a round: an aggregator's receives of lists and of data that are written, a
  /// member's sends of both and its receives of data that are read.
  [[nodiscard]] int start_aggregator();
  /// Makes room for the share of a rank. MPI_ERR_INTERN if no honest member announces it. Throws
  /// std::bad_alloc.
  [[nodiscard]] int make_room(std::size_t rank);
  /// Starts the receives of the share of another rank.
  [[nodiscard]] int receive_share(Share& share, int source);
  [[nodiscard]] int start_member();
  [[nodiscard]] int wait_for_lists();
  /// Accesses this aggregator's window, and sends back what was read.
  [[nodiscard]] int access_window(MPI_Offset round);
  /// Stores the pieces of all members, in the order of their offsets. MPI_ERR_INTERN if a message has a
  /// wrong one.
  [[nodiscard]] int merge(MPI_Offset round, std::vector<FilePiece>& merged) const;
  /// Reads pieces. Returns the offset up to which the file has data, as far as the pieces tell.
  [[nodiscard]] MPI_Offset read(std::span<FilePiece> pieces);
  [[nodiscard]] int send_replies(MPI_Offset begin, MPI_Offset end);
  /// Waits for the data that were read, and moves them to the program's memory.
  [[nodiscard]] int finish_read();
  void store(const Share& share, std::size_t bytes);

  File& file_;
  const FileAccess& access_;
  const Division& division_;
  std::size_t own_;                    ///< the place among the aggregators, or none
  std::vector<MPI_Offset> positions_;  ///< by aggregator: how far this member's data are exchanged
  std::vector<Share> out_;             ///< by aggregator: this member's shares
  std::vector<Share> in_;              ///< of an aggregator, by rank: the members' shares
  PendingMessages lists_;              ///< also the data that are written
  PendingMessages replies_;            ///< the data that are read: first those that this member gets
  std::vector<std::size_t> awaited_;   ///< the aggregators of those
  std::size_t own_bytes_ = 0;          ///< of an aggregator that reads: what its own share has got
  std::vector<Amount> amounts_;        ///< by aggregator: what this member announces in a round
  std::vector<Amount> all_amounts_;    ///< by rank and aggregator: what all members announce
  int code_ = MPI_SUCCESS;             ///< of this member
  std::size_t bytes_ = 0;              ///< of this member's data, which were moved
  PieceMover mover_;
};

}  // namespace librma::mpi
