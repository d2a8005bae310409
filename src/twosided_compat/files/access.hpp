#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <string>

#include "mpi.h"
#include "twosided_compat/datatypes/buffer.hpp"
#include "twosided_compat/files/file_view.hpp"
#include "twosided_compat/files/storage.hpp"
#include "twosided_compat/files/type_in_file.hpp"
#include "twosided_compat/files/worker.hpp"

namespace librma::mpi {

class File;

enum class FileDirection : std::uint8_t { kRead, kWrite };

/// The memory of the program that a call reads or writes.
struct FileMemory {
  void* address;
  MPI_Count count;
  MPI_Datatype type;
};

/// Whose pointer says where an access is.
enum class FilePointer : std::uint8_t {
  kExplicit,    ///< none: the call says it
  kIndividual,  ///< the member's
  kShared,      ///< that of all members, for each call alone
  kOrdered,     ///< that of all members, for their calls in the order of ranks
};

/// One access to the data of a file: what is moved, in the view's terms, and where it is in memory.
class FileAccess {
 public:
  /// Checks the arguments of a call, and converts what is written to the view's representation.
  [[nodiscard]] int prepare(const File& file, FileDirection direction, const FileMemory& memory);
  /// Gives up the data. A member of a collective call that has failed takes part with such an access.
  void become_empty(const File& file, FileDirection direction);

  [[nodiscard]] FileDirection direction() const { return direction_; }
  [[nodiscard]] const FileView& view() const { return *view_; }
  /// Returns the data as they are in the file.
  [[nodiscard]] const Buffer& data() const { return data_; }
  [[nodiscard]] MPI_Count bytes() const { return static_cast<MPI_Count>(data_.bytes); }
  [[nodiscard]] MPI_Offset end() const { return position + bytes(); }

  /// Checks that the range at `position` can be addressed. MPI_ERR_ARG.
  [[nodiscard]] int check_range() const;

  /// Calls visit(address, bytes) for the contiguous parts of bytes [from, to) of data(), in order.
  template <class Visit>
  void visit_data(MPI_Count from, MPI_Count to, const Visit& visit) const;

  /// Moves what was read to the program's memory. Stores how many bytes of that memory were moved. Returns
  /// the code of the outcome, or that of the conversion.
  [[nodiscard]] int finish(const Outcome& outcome, MPI_Count& bytes) const;

  MPI_Offset position = 0;  ///< in the view

 private:
  FileDirection direction_ = FileDirection::kRead;
  std::shared_ptr<const FileView> view_;
  FileMemory memory_ = {};
  HeldType type_;       // of the memory, if it is one of the program
  HeldType file_type_;  // the same in the file, if that is not the memory's representation
  std::unique_ptr<std::byte[]> converted_;
  Buffer data_;
};

/// What a call on the data of a file does.
struct AccessKind {
  FileDirection direction;
  FilePointer pointer;
  bool is_collective = false;

  bool operator==(const AccessKind&) const = default;
};

/// What a member tells the others about its part of a collective access.
struct AccessExtent {
  MPI_Offset begin = 0;
  MPI_Offset end = 0;
  MPI_Count bytes = 0;
  MPI_Count parts = 0;
  std::int32_t ascending = 1;
  std::int32_t wish = 0;            ///< the Switch of the hint
  std::int32_t code = MPI_SUCCESS;  ///< of a member that fails
  std::int32_t sieved = 0;          ///< a part and a gap of so many bytes together go by one call
};

/// A nonblocking operation or a split collective one.
struct FileOperation : public Worker::Task {
  FileOperation(File& in, const AccessKind& of) : file(in), kind(of) {}

  /// Executes the operation: by the thread of the file, or by the one that has started it.
  void run() override;

  File& file;
  const AccessKind kind;
  FileAccess access;
  int code = MPI_SUCCESS;
  MPI_Count bytes = 0;
  /// Pairs: the thread that executes the operation releases the results, the thread that sees it acquires
  /// them.
  std::atomic<bool> ended = false;
};

/// Returns the code of a step, which may throw std::bad_alloc. A member of a collective call whose step an
/// exception ended would leave the others waiting.
template <class Step>
[[nodiscard]] int code_of(const Step& step) {
  try {
    return step();
  } catch (const std::bad_alloc&) {
    return MPI_ERR_NO_MEM;
  }
}

/// Moves the data of an access, by this process alone.
[[nodiscard]] Outcome transfer(File& file, const FileAccess& access);

template <class Visit>
void FileAccess::visit_data(MPI_Count from, MPI_Count to, const Visit& visit) const {
  if (from >= to) return;
  if (data_.is_contiguous()) {
    visit(data_.data + from, static_cast<std::size_t>(to - from));
    return;
  }
  data_.type->map_of(data_.count)
      .visit(reinterpret_cast<std::uintptr_t>(data_.data), from, to,
             [&](std::byte* at, MPI_Count part, const PredefinedType&) {
               visit(at, static_cast<std::size_t>(part));
             });
}

}  // namespace librma::mpi
