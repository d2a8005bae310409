// The calls that pack data into contiguous memory. Packed data are the bytes of the elements, one behind the
// other, as a message has them.

#include <fmt/format.h>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/communicators/communicator.hpp"
#include "twosided_compat/datatypes/buffer.hpp"
#include "util/try.hpp"

namespace librma::mpi {
namespace {

/// Checks that `needed` bytes lie between the position and the end of the packed data.
int check_room(const void* packed, MPI_Count size, const MPI_Count* position, std::size_t needed) {
  if (position == nullptr) return failure(MPI_ERR_ARG, "position is null");
  if (size < 0 || *position < 0 || *position > size)
    return failure(MPI_ERR_ARG, fmt::format("position {} is not within {} bytes", *position, size));
  if (needed > static_cast<std::size_t>(size - *position)) {
    return failure(MPI_ERR_TRUNCATE,
                   fmt::format("{} bytes at position {} exceed {} bytes", needed, *position, size));
  }
  if (packed == nullptr && needed != 0) return failure(MPI_ERR_BUFFER, "the packed buffer is null");
  return MPI_SUCCESS;
}

}  // namespace

int pack(const void* inbuf, MPI_Count incount, MPI_Datatype datatype, void* outbuf, MPI_Count outsize,
         MPI_Count* position, MPI_Comm handle) {
  Buffer buffer;
  RMA_TRY(find_communicator(handle).failure());
  RMA_TRY(find_buffer(inbuf, incount, datatype, buffer));
  RMA_TRY(check_room(outbuf, outsize, position, buffer.bytes));
  pack(buffer, static_cast<std::byte*>(outbuf) + *position);
  *position += static_cast<MPI_Count>(buffer.bytes);
  return MPI_SUCCESS;
}

int unpack(const void* inbuf, MPI_Count insize, MPI_Count* position, void* outbuf, MPI_Count outcount,
           MPI_Datatype datatype, MPI_Comm handle) {
  Buffer buffer;
  RMA_TRY(find_communicator(handle).failure());
  RMA_TRY(find_buffer(outbuf, outcount, datatype, buffer));
  RMA_TRY(check_room(inbuf, insize, position, buffer.bytes));
  unpack(static_cast<const std::byte*>(inbuf) + *position, buffer.bytes, buffer);
  *position += static_cast<MPI_Count>(buffer.bytes);
  return MPI_SUCCESS;
}

int pack_size(MPI_Count incount, MPI_Datatype datatype, MPI_Comm handle, MPI_Count* size) {
  Datatype* type = nullptr;
  RMA_TRY(find_communicator(handle).failure());
  RMA_TRY(find_datatype(datatype).store(type));
  if (size == nullptr) return failure(MPI_ERR_ARG, "size is null");
  if (incount < 0 || __builtin_mul_overflow(incount, type->size(), size))
    return failure(MPI_ERR_COUNT, fmt::format("the count is {}", incount));
  return MPI_SUCCESS;
}

}  // namespace librma::mpi
