// How the calls that move data of files are executed: at once, or by the threads of the file.

#include "twosided_compat/files/data_calls.hpp"

#include <fmt/format.h>

#include <numeric>
#include <utility>

#include "twosided_compat/binding/checked_arithmetic.hpp"
#include "twosided_compat/calls.hpp"
#include "twosided_compat/files/shared_pointer.hpp"
#include "twosided_compat/files/two_phase.hpp"
#include "twosided_compat/messages/requests.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma::mpi {
namespace {

/// The bytes that an access has moved.
struct Moved {
  std::size_t in_file = 0;
  MPI_Count in_memory = 0;
};

/// Checks that the call is allowed on the file.
int check_kind(const File& file, const AccessKind& kind) {
  RMA_TRY(file.check_access(kind.direction));
  const bool by_shared = kind.pointer == FilePointer::kShared || kind.pointer == FilePointer::kOrdered;
  if (file.is_sequential() && !by_shared) {
    return failure(MPI_ERR_UNSUPPORTED_OPERATION,
                   "the file was opened with MPI_MODE_SEQUENTIAL, so only its shared pointer can be used");
  }
  return MPI_SUCCESS;
}

/// Gives the access its position, and moves the pointer of the call behind it. The position of a call in the
/// order of ranks follows when all members are there.
int take_position(File& file, FilePointer pointer, MPI_Offset offset, FileAccess& access) {
  switch (pointer) {
    case FilePointer::kExplicit: {
      bool overflows = false;
      if (offset < 0) return failure(MPI_ERR_ARG, fmt::format("the offset is {}", offset));
      access.position = times(offset, access.view().etype_bytes(), overflows);
      if (overflows) return failure(MPI_ERR_ARG, fmt::format("the offset is {}", offset));
      return access.check_range();
    }
    case FilePointer::kIndividual:
      access.position = file.pointer();
      RMA_TRY(access.check_range());
      access.position = file.advance_pointer(access.bytes());
      return MPI_SUCCESS;
    case FilePointer::kShared:
      RMA_TRY(advance_shared_pointer(file, access.bytes(), access.position));
      return access.check_range();
    default:
      return MPI_SUCCESS;
  }
}

int prepare(File& file, const AccessKind& kind, MPI_Offset offset, const FileMemory& memory,
            FileAccess& access) {
  RMA_TRY(access.prepare(file, kind.direction, memory));
  if (access.bytes() % access.view().etype_bytes() != 0) {
    return failure(MPI_ERR_IO, fmt::format("{} bytes are no whole number of etypes, which have {}",
                                           access.bytes(), access.view().etype_bytes()));
  }
  return take_position(file, kind.pointer, offset, access);
}

/// Prepares the access of a call. A member of a collective call whose arguments are wrong, whose data cannot
/// be converted, or that has no memory for them takes part with an empty access, because the others wait for
/// it: `failed` is its code then.
int prepare_to_take_part(File& file, const AccessKind& kind, MPI_Offset offset, const FileMemory& memory,
                         FileAccess& access, int& failed) {
  RMA_TRY(check_kind(file, kind));  // which fails on all members or on none
  if (!kind.is_collective) return prepare(file, kind, offset, memory, access);
  failed = code_of([&] { return prepare(file, kind, offset, memory, access); });
  if (failed != MPI_SUCCESS) access.become_empty(file, kind.direction);
  return MPI_SUCCESS;
}

/// Gives each member its place behind the members before it. A member whose place is out of range takes part
/// in the rest with an empty access: `failed` is its code then.
int take_ordered_position(File& file, FileAccess& access, int& failed) {
  const Communicator& comm = file.comm();
  RMA_TRY(share_extents(file, {.bytes = access.bytes()}, failed));
  const auto bytes_before = [&](int rank) {
    return std::accumulate(file.extents.begin(), file.extents.begin() + rank, MPI_Count{0},
                           [](MPI_Count sum, const AccessExtent& extent) { return sum + extent.bytes; });
  };
  struct {
    MPI_Offset position = 0;
    int code = MPI_SUCCESS;
  } begin;
  if (comm.rank() == 0) begin.code = advance_shared_pointer(file, bytes_before(comm.size()), begin.position);
  RMA_TRY(share_from_first(file, &begin, sizeof begin));
  if (begin.code != MPI_SUCCESS) return failure(begin.code, "rank 0 cannot move the shared pointer");
  access.position = begin.position + bytes_before(comm.rank());
  if (const int code = access.check_range(); code != MPI_SUCCESS) {
    access.become_empty(file, access.direction());
    failed = code;
  }
  return MPI_SUCCESS;
}

/// Moves the data. Stores what was moved, in the file and in memory. `failed` is that of
/// prepare_to_take_part().
int execute(File& file, const AccessKind& kind, FileAccess& access, int failed, Moved& moved) {
  if (kind.pointer == FilePointer::kOrdered) RMA_TRY(take_ordered_position(file, access, failed));
  const Outcome outcome =
      kind.is_collective ? transfer_together(file, access, failed) : transfer(file, access);
  moved.in_file = outcome.bytes;
  return access.finish(outcome, moved.in_memory);
}

void hand_over(const std::shared_ptr<FileOperation>& operation) {
  File& file = operation->file;
  (operation->kind.is_collective ? file.collective_worker : file.worker).add(operation);
}

/// Lets a member that has failed take part in a collective operation, because the others wait for it. Returns
/// the member's code. The program gets no request, and does not end the operation.
int take_part_later(const std::shared_ptr<FileOperation>& operation) {
  const int failed = operation->code;
  hand_over(operation);
  return failed;
}

/// Does so for a member that has no memory for the operation: it waits for the others.
int take_part_at_once(File& file, const AccessKind& kind) {
  RMA_TRY(check_kind(file, kind));
  if (!kind.is_collective) return MPI_ERR_NO_MEM;
  file.finish_collective_operations();
  FileAccess access;
  access.become_empty(file, kind.direction);
  Moved moved;
  return execute(file, kind, access, MPI_ERR_NO_MEM, moved);
}

void describe(MPI_Status* status, MPI_Count bytes) {
  write_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, bytes);
}

int failed_later(const File& file, int code) {
  if (code == MPI_SUCCESS) return code;
  return failure(code,
                 fmt::format("a nonblocking operation on the file opened by rank {} of its communicator",
                             const_cast<File&>(file).comm().rank()));
}

/// Makes the request of an operation. Throws std::bad_alloc.
std::unique_ptr<Request> request_for(File& file, const std::shared_ptr<FileOperation>& operation) {
  auto request = std::make_unique<Request>(file, Request::Type::kFile);
  request->become<Request::HasEnded>([&owner = file, &self = *request, operation] {
    if (!operation->ended.load(std::memory_order_acquire)) return false;
    self.code = failed_later(owner, operation->code);
    self.receive.info.bytes = static_cast<std::size_t>(operation->bytes);
    return true;
  });
  return request;
}

}  // namespace

void FileOperation::run() {
  Moved moved;
  code = code_of([&] { return execute(file, kind, access, code, moved); });
  bytes = moved.in_memory;
  ended.store(true, std::memory_order_release);  // pairs with those who look for the end
}

int run_access(MPI_File handle, const AccessKind& kind, MPI_Offset offset, const FileMemory& memory,
               MPI_Status* status) {
  RMA_TRY_ASSIGN(file, find_file(handle));
  FileAccess access;
  int failed = MPI_SUCCESS;
  RMA_TRY(prepare_to_take_part(*file, kind, offset, memory, access, failed));
  if (kind.is_collective) file->finish_collective_operations();
  Moved moved;
  const int code = execute(*file, kind, access, failed, moved);
  // At the end of the file, and after a failure, the pointer is behind what was moved.
  const MPI_Count missing = access.bytes() - static_cast<MPI_Count>(moved.in_file);
  if (kind.pointer == FilePointer::kIndividual && missing != 0)
    static_cast<void>(file->advance_pointer(-missing));
  describe(status, moved.in_memory);
  return code;
}

int start_access(MPI_File handle, const AccessKind& kind, MPI_Offset offset, const FileMemory& memory,
                 MPI_Request* made) {
  RMA_TRY_ASSIGN(file, find_file(handle));
  std::shared_ptr<FileOperation> operation;
  std::unique_ptr<Request> request;
  const int made_both = code_of([&] {
    operation = std::make_shared<FileOperation>(*file, kind);
    request = request_for(*file, operation);
    return MPI_SUCCESS;
  });
  if (made_both != MPI_SUCCESS) return take_part_at_once(*file, kind);
  RMA_TRY(prepare_to_take_part(*file, kind, offset, memory, operation->access, operation->code));
  if (operation->code != MPI_SUCCESS) return take_part_later(operation);
  hand_over(operation);
  *made = request.release()->handle<MPI_Request>();
  return MPI_SUCCESS;
}

int begin_access(MPI_File handle, const AccessKind& kind, MPI_Offset offset, const FileMemory& memory) {
  RMA_TRY_ASSIGN(file, find_file(handle));
  if (file->split != nullptr)
    return failure(MPI_ERR_IO, "another split collective operation of the file has begun and not ended");
  std::shared_ptr<FileOperation> operation;
  const int made = code_of([&] {
    operation = std::make_shared<FileOperation>(*file, kind);
    return MPI_SUCCESS;
  });
  if (made != MPI_SUCCESS) return take_part_at_once(*file, kind);
  RMA_TRY(prepare_to_take_part(*file, kind, offset, memory, operation->access, operation->code));
  if (operation->code != MPI_SUCCESS) return take_part_later(operation);
  hand_over(operation);
  file->split = std::move(operation);
  return MPI_SUCCESS;
}

int end_access(MPI_File handle, const AccessKind& kind, MPI_Status* status) {
  RMA_TRY_ASSIGN(file, find_file(handle));
  if (file->split == nullptr || file->split->kind != kind)
    return failure(MPI_ERR_IO, "no split collective operation of this kind has begun");
  file->finish_collective_operations();
  const std::shared_ptr<FileOperation> operation = std::exchange(file->split, nullptr);
  describe(status, operation->bytes);
  return failed_later(*file, operation->code);
}

}  // namespace librma::mpi
