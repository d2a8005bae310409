// The calls that move data at explicit offsets.

#include "twosided_compat/calls.hpp"
#include "twosided_compat/files/data_calls.hpp"

namespace librma::mpi {

int file_read_at(MPI_File file, MPI_Offset offset, void* buf, MPI_Count count, MPI_Datatype type,
                 MPI_Status* status) {
  return run_access(file, {FileDirection::kRead, FilePointer::kExplicit}, offset, {buf, count, type}, status);
}

int file_write_at(MPI_File file, MPI_Offset offset, const void* buf, MPI_Count count, MPI_Datatype type,
                  MPI_Status* status) {
  return run_access(file, {FileDirection::kWrite, FilePointer::kExplicit}, offset,
                    {const_cast<void*>(buf), count, type}, status);
}

int file_iread_at(MPI_File file, MPI_Offset offset, void* buf, MPI_Count count, MPI_Datatype type,
                  MPI_Request* request) {
  return start_access(file, {FileDirection::kRead, FilePointer::kExplicit}, offset, {buf, count, type},
                      request);
}

int file_iwrite_at(MPI_File file, MPI_Offset offset, const void* buf, MPI_Count count, MPI_Datatype type,
                   MPI_Request* request) {
  return start_access(file, {FileDirection::kWrite, FilePointer::kExplicit}, offset,
                      {const_cast<void*>(buf), count, type}, request);
}

int file_read_at_all(MPI_File file, MPI_Offset offset, void* buf, MPI_Count count, MPI_Datatype type,
                     MPI_Status* status) {
  return run_access(file, {FileDirection::kRead, FilePointer::kExplicit, true}, offset, {buf, count, type},
                    status);
}

int file_write_at_all(MPI_File file, MPI_Offset offset, const void* buf, MPI_Count count, MPI_Datatype type,
                      MPI_Status* status) {
  return run_access(file, {FileDirection::kWrite, FilePointer::kExplicit, true}, offset,
                    {const_cast<void*>(buf), count, type}, status);
}

int file_iread_at_all(MPI_File file, MPI_Offset offset, void* buf, MPI_Count count, MPI_Datatype type,
                      MPI_Request* request) {
  return start_access(file, {FileDirection::kRead, FilePointer::kExplicit, true}, offset, {buf, count, type},
                      request);
}

int file_iwrite_at_all(MPI_File file, MPI_Offset offset, const void* buf, MPI_Count count, MPI_Datatype type,
                       MPI_Request* request) {
  return start_access(file, {FileDirection::kWrite, FilePointer::kExplicit, true}, offset,
                      {const_cast<void*>(buf), count, type}, request);
}

int file_read_at_all_begin(MPI_File file, MPI_Offset offset, void* buf, MPI_Count count, MPI_Datatype type) {
  return begin_access(file, {FileDirection::kRead, FilePointer::kExplicit, true}, offset, {buf, count, type});
}

int file_read_at_all_end(MPI_File file, void* /*buf*/, MPI_Status* status) {
  return end_access(file, {FileDirection::kRead, FilePointer::kExplicit, true}, status);
}

int file_write_at_all_begin(MPI_File file, MPI_Offset offset, const void* buf, MPI_Count count,
                            MPI_Datatype type) {
  return begin_access(file, {FileDirection::kWrite, FilePointer::kExplicit, true}, offset,
                      {const_cast<void*>(buf), count, type});
}

int file_write_at_all_end(MPI_File file, const void* /*buf*/, MPI_Status* status) {
  return end_access(file, {FileDirection::kWrite, FilePointer::kExplicit, true}, status);
}

}  // namespace librma::mpi
