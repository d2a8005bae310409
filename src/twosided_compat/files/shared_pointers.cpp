// The calls that move data at the shared pointer.

#include "twosided_compat/calls.hpp"
#include "twosided_compat/files/data_calls.hpp"

namespace librma::mpi {

int file_read_shared(MPI_File file, void* buf, MPI_Count count, MPI_Datatype type, MPI_Status* status) {
  return run_access(file, {FileDirection::kRead, FilePointer::kShared}, 0, {buf, count, type}, status);
}

int file_write_shared(MPI_File file, const void* buf, MPI_Count count, MPI_Datatype type,
                      MPI_Status* status) {
  return run_access(file, {FileDirection::kWrite, FilePointer::kShared}, 0,
                    {const_cast<void*>(buf), count, type}, status);
}

int file_iread_shared(MPI_File file, void* buf, MPI_Count count, MPI_Datatype type, MPI_Request* request) {
  return start_access(file, {FileDirection::kRead, FilePointer::kShared}, 0, {buf, count, type}, request);
}

int file_iwrite_shared(MPI_File file, const void* buf, MPI_Count count, MPI_Datatype type,
                       MPI_Request* request) {
  return start_access(file, {FileDirection::kWrite, FilePointer::kShared}, 0,
                      {const_cast<void*>(buf), count, type}, request);
}

int file_read_ordered(MPI_File file, void* buf, MPI_Count count, MPI_Datatype type, MPI_Status* status) {
  return run_access(file, {FileDirection::kRead, FilePointer::kOrdered, true}, 0, {buf, count, type}, status);
}

int file_write_ordered(MPI_File file, const void* buf, MPI_Count count, MPI_Datatype type,
                       MPI_Status* status) {
  return run_access(file, {FileDirection::kWrite, FilePointer::kOrdered, true}, 0,
                    {const_cast<void*>(buf), count, type}, status);
}

int file_read_ordered_begin(MPI_File file, void* buf, MPI_Count count, MPI_Datatype type) {
  return begin_access(file, {FileDirection::kRead, FilePointer::kOrdered, true}, 0, {buf, count, type});
}

int file_read_ordered_end(MPI_File file, void* /*buf*/, MPI_Status* status) {
  return end_access(file, {FileDirection::kRead, FilePointer::kOrdered, true}, status);
}

int file_write_ordered_begin(MPI_File file, const void* buf, MPI_Count count, MPI_Datatype type) {
  return begin_access(file, {FileDirection::kWrite, FilePointer::kOrdered, true}, 0,
                      {const_cast<void*>(buf), count, type});
}

int file_write_ordered_end(MPI_File file, const void* /*buf*/, MPI_Status* status) {
  return end_access(file, {FileDirection::kWrite, FilePointer::kOrdered, true}, status);
}

}  // namespace librma::mpi
