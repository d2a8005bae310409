// The calls that move data at each member's own pointer.

#include "twosided_compat/calls.hpp"
#include "twosided_compat/files/data_calls.hpp"

namespace librma::mpi {

int file_read(MPI_File file, void* buf, MPI_Count count, MPI_Datatype type, MPI_Status* status) {
  return run_access(file, {FileDirection::kRead, FilePointer::kIndividual}, 0, {buf, count, type}, status);
}

int file_write(MPI_File file, const void* buf, MPI_Count count, MPI_Datatype type, MPI_Status* status) {
  return run_access(file, {FileDirection::kWrite, FilePointer::kIndividual}, 0,
                    {const_cast<void*>(buf), count, type}, status);
}

int file_iread(MPI_File file, void* buf, MPI_Count count, MPI_Datatype type, MPI_Request* request) {
  return start_access(file, {FileDirection::kRead, FilePointer::kIndividual}, 0, {buf, count, type}, request);
}

int file_iwrite(MPI_File file, const void* buf, MPI_Count count, MPI_Datatype type, MPI_Request* request) {
  return start_access(file, {FileDirection::kWrite, FilePointer::kIndividual}, 0,
                      {const_cast<void*>(buf), count, type}, request);
}

int file_read_all(MPI_File file, void* buf, MPI_Count count, MPI_Datatype type, MPI_Status* status) {
  return run_access(file, {FileDirection::kRead, FilePointer::kIndividual, true}, 0, {buf, count, type},
                    status);
}

int file_write_all(MPI_File file, const void* buf, MPI_Count count, MPI_Datatype type, MPI_Status* status) {
  return run_access(file, {FileDirection::kWrite, FilePointer::kIndividual, true}, 0,
                    {const_cast<void*>(buf), count, type}, status);
}

int file_iread_all(MPI_File file, void* buf, MPI_Count count, MPI_Datatype type, MPI_Request* request) {
  return start_access(file, {FileDirection::kRead, FilePointer::kIndividual, true}, 0, {buf, count, type},
                      request);
}

int file_iwrite_all(MPI_File file, const void* buf, MPI_Count count, MPI_Datatype type,
                    MPI_Request* request) {
  return start_access(file, {FileDirection::kWrite, FilePointer::kIndividual, true}, 0,
                      {const_cast<void*>(buf), count, type}, request);
}

int file_read_all_begin(MPI_File file, void* buf, MPI_Count count, MPI_Datatype type) {
  return begin_access(file, {FileDirection::kRead, FilePointer::kIndividual, true}, 0, {buf, count, type});
}

int file_read_all_end(MPI_File file, void* /*buf*/, MPI_Status* status) {
  return end_access(file, {FileDirection::kRead, FilePointer::kIndividual, true}, status);
}

int file_write_all_begin(MPI_File file, const void* buf, MPI_Count count, MPI_Datatype type) {
  return begin_access(file, {FileDirection::kWrite, FilePointer::kIndividual, true}, 0,
                      {const_cast<void*>(buf), count, type});
}

int file_write_all_end(MPI_File file, const void* /*buf*/, MPI_Status* status) {
  return end_access(file, {FileDirection::kWrite, FilePointer::kIndividual, true}, status);
}

}  // namespace librma::mpi
