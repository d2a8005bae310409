#pragma once

#include "file_case.hpp"

// The calls that move data of files, each as one function of the same arguments, in the plain and the large
// form.

namespace mpi_test {

/// What a call moves.
struct FileData {
  MPI_Offset offset;  ///< in etypes, of calls with explicit offsets
  void* memory;
  int count;
  MPI_Datatype type;
};

/// How a call is made.
enum class FileForm { kBlocking, kNonblocking, kCollective, kNonblockingCollective, kSplit };
inline constexpr int kFileForms = 5;

[[nodiscard]] constexpr bool is_collective(FileForm form) {
  return form != FileForm::kBlocking && form != FileForm::kNonblocking;
}

/// Moves data at an explicit offset. Returns the code of the call, and of the wait.
inline int at_offset(MPI_File file, bool writes, FileForm form, bool large, const FileData& data,
                     MPI_Status* status) {
  const auto [offset, memory, count, type] = data;
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_SUCCESS;
  switch (form) {
    case FileForm::kBlocking:
      if (writes) {
        return large ? MPI_File_write_at_c(file, offset, memory, count, type, status)
                     : MPI_File_write_at(file, offset, memory, count, type, status);
      }
      return large ? MPI_File_read_at_c(file, offset, memory, count, type, status)
                   : MPI_File_read_at(file, offset, memory, count, type, status);
    case FileForm::kCollective:
      if (writes) {
        return large ? MPI_File_write_at_all_c(file, offset, memory, count, type, status)
                     : MPI_File_write_at_all(file, offset, memory, count, type, status);
      }
      return large ? MPI_File_read_at_all_c(file, offset, memory, count, type, status)
                   : MPI_File_read_at_all(file, offset, memory, count, type, status);
    case FileForm::kNonblocking:
      if (writes) {
        code = large ? MPI_File_iwrite_at_c(file, offset, memory, count, type, &request)
                     : MPI_File_iwrite_at(file, offset, memory, count, type, &request);
      } else {
        code = large ? MPI_File_iread_at_c(file, offset, memory, count, type, &request)
                     : MPI_File_iread_at(file, offset, memory, count, type, &request);
      }
      break;
    case FileForm::kNonblockingCollective:
      if (writes) {
        code = large ? MPI_File_iwrite_at_all_c(file, offset, memory, count, type, &request)
                     : MPI_File_iwrite_at_all(file, offset, memory, count, type, &request);
      } else {
        code = large ? MPI_File_iread_at_all_c(file, offset, memory, count, type, &request)
                     : MPI_File_iread_at_all(file, offset, memory, count, type, &request);
      }
      break;
    case FileForm::kSplit:
      if (writes) {
        code = large ? MPI_File_write_at_all_begin_c(file, offset, memory, count, type)
                     : MPI_File_write_at_all_begin(file, offset, memory, count, type);
        return code != MPI_SUCCESS ? code : MPI_File_write_at_all_end(file, memory, status);
      }
      code = large ? MPI_File_read_at_all_begin_c(file, offset, memory, count, type)
                   : MPI_File_read_at_all_begin(file, offset, memory, count, type);
      return code != MPI_SUCCESS ? code : MPI_File_read_at_all_end(file, memory, status);
  }
  return code != MPI_SUCCESS ? code : MPI_Wait(&request, status);
}

/// Moves data at the individual pointer.
inline int at_pointer(MPI_File file, bool writes, FileForm form, bool large, const FileData& data,
                      MPI_Status* status) {
  void* const memory = data.memory;
  const int count = data.count;
  const MPI_Datatype type = data.type;
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_SUCCESS;
  switch (form) {
    case FileForm::kBlocking:
      if (writes) {
        return large ? MPI_File_write_c(file, memory, count, type, status)
                     : MPI_File_write(file, memory, count, type, status);
      }
      return large ? MPI_File_read_c(file, memory, count, type, status)
                   : MPI_File_read(file, memory, count, type, status);
    case FileForm::kCollective:
      if (writes) {
        return large ? MPI_File_write_all_c(file, memory, count, type, status)
                     : MPI_File_write_all(file, memory, count, type, status);
      }
      return large ? MPI_File_read_all_c(file, memory, count, type, status)
                   : MPI_File_read_all(file, memory, count, type, status);
    case FileForm::kNonblocking:
      if (writes) {
        code = large ? MPI_File_iwrite_c(file, memory, count, type, &request)
                     : MPI_File_iwrite(file, memory, count, type, &request);
      } else {
        code = large ? MPI_File_iread_c(file, memory, count, type, &request)
                     : MPI_File_iread(file, memory, count, type, &request);
      }
      break;
    case FileForm::kNonblockingCollective:
      if (writes) {
        code = large ? MPI_File_iwrite_all_c(file, memory, count, type, &request)
                     : MPI_File_iwrite_all(file, memory, count, type, &request);
      } else {
        code = large ? MPI_File_iread_all_c(file, memory, count, type, &request)
                     : MPI_File_iread_all(file, memory, count, type, &request);
      }
      break;
    case FileForm::kSplit:
      if (writes) {
        code = large ? MPI_File_write_all_begin_c(file, memory, count, type)
                     : MPI_File_write_all_begin(file, memory, count, type);
        return code != MPI_SUCCESS ? code : MPI_File_write_all_end(file, memory, status);
      }
      code = large ? MPI_File_read_all_begin_c(file, memory, count, type)
                   : MPI_File_read_all_begin(file, memory, count, type);
      return code != MPI_SUCCESS ? code : MPI_File_read_all_end(file, memory, status);
  }
  return code != MPI_SUCCESS ? code : MPI_Wait(&request, status);
}

/// Moves data at the shared pointer: in the order of ranks if the form is collective, which is never
/// nonblocking.
inline int at_shared_pointer(MPI_File file, bool writes, FileForm form, bool large, const FileData& data,
                             MPI_Status* status) {
  void* const memory = data.memory;
  const int count = data.count;
  const MPI_Datatype type = data.type;
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_SUCCESS;
  switch (form) {
    case FileForm::kBlocking:
      if (writes) {
        return large ? MPI_File_write_shared_c(file, memory, count, type, status)
                     : MPI_File_write_shared(file, memory, count, type, status);
      }
      return large ? MPI_File_read_shared_c(file, memory, count, type, status)
                   : MPI_File_read_shared(file, memory, count, type, status);
    case FileForm::kNonblocking:
      if (writes) {
        code = large ? MPI_File_iwrite_shared_c(file, memory, count, type, &request)
                     : MPI_File_iwrite_shared(file, memory, count, type, &request);
      } else {
        code = large ? MPI_File_iread_shared_c(file, memory, count, type, &request)
                     : MPI_File_iread_shared(file, memory, count, type, &request);
      }
      return code != MPI_SUCCESS ? code : MPI_Wait(&request, status);
    case FileForm::kCollective:
    case FileForm::kNonblockingCollective:
      if (writes) {
        return large ? MPI_File_write_ordered_c(file, memory, count, type, status)
                     : MPI_File_write_ordered(file, memory, count, type, status);
      }
      return large ? MPI_File_read_ordered_c(file, memory, count, type, status)
                   : MPI_File_read_ordered(file, memory, count, type, status);
    case FileForm::kSplit:
      if (writes) {
        code = large ? MPI_File_write_ordered_begin_c(file, memory, count, type)
                     : MPI_File_write_ordered_begin(file, memory, count, type);
        return code != MPI_SUCCESS ? code : MPI_File_write_ordered_end(file, memory, status);
      }
      code = large ? MPI_File_read_ordered_begin_c(file, memory, count, type)
                   : MPI_File_read_ordered_begin(file, memory, count, type);
      return code != MPI_SUCCESS ? code : MPI_File_read_ordered_end(file, memory, status);
  }
  return code;
}

}  // namespace mpi_test
