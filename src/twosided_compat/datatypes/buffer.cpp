// Buffers of derived datatypes, and copies between them and contiguous memory.

#include "twosided_compat/datatypes/buffer.hpp"

#include <cstring>

#include "twosided_compat/objects/errors.hpp"
#include "util/try_assign.hpp"

namespace librma::mpi {
namespace {

/// Copies a part of a buffer. Most parts of derived types are single numbers, for which a call of memcpy
/// takes longer than the copy.
inline void copy_part(std::byte* to, const std::byte* from, std::size_t bytes) {
  switch (bytes) {
    case 4:
      std::memcpy(to, from, 4);
      return;
    case 8:
      std::memcpy(to, from, 8);
      return;
    case 16:
      std::memcpy(to, from, 16);
      return;
    default:
      std::memcpy(to, from, bytes);
  }
}

}  // namespace

int find_typed_buffer(const void* address, MPI_Count count, MPI_Datatype handle, Buffer& buffer) {
  // Programs pass MPI_DATATYPE_NULL with a count of 0, and MPICH accepts that.
  if (handle == MPI_DATATYPE_NULL && count == 0) {
    buffer = {.data = static_cast<std::byte*>(const_cast<void*>(address)), .bytes = 0};
    return MPI_SUCCESS;
  }
  RMA_TRY_ASSIGN(type, find_datatype(handle));
  if (!type->is_committed()) return failure(MPI_ERR_TYPE, "the datatype is not committed");
  if (count < 0) return failure(MPI_ERR_COUNT, "count is negative");
  const TypeMap map = type->map_of(count);
  if (map.overflows()) return failure(MPI_ERR_COUNT, kTooManyElements);
  buffer = {.data = static_cast<std::byte*>(const_cast<void*>(address)),
            .bytes = static_cast<std::size_t>(map.size())};
  if (map.empty()) return MPI_SUCCESS;
  // A null address may be MPI_BOTTOM: then the displacements of a derived type are addresses.
  const auto first = bits(address) + static_cast<std::uintptr_t>(map.low());
  if (address == nullptr && (type->predefined() != nullptr || first == 0))
    return failure(MPI_ERR_BUFFER, "the buffer is null");
  if (map.is_block()) {
    buffer.data = reinterpret_cast<std::byte*>(first);
  } else {
    buffer.type = type;
    buffer.count = count;
  }
  return MPI_SUCCESS;
}

void pack(const Buffer& from, std::byte* to) {
  if (from.bytes == 0) return;
  from.visit(from.bytes, [&](const std::byte* at, std::size_t bytes) {
    copy_part(to, at, bytes);
    to += bytes;
  });
}

void unpack(const std::byte* from, std::size_t bytes, const Buffer& to) {
  if (bytes == 0) return;
  to.visit(bytes, [&](std::byte* at, std::size_t part) {
    copy_part(at, from, part);
    from += part;
  });
}

void copy_data(const Buffer& from, const Buffer& to) {
  const std::size_t bytes = std::min(from.bytes, to.bytes);
  if (bytes == 0 || (from.data == to.data && from.type == to.type)) return;
  if (from.is_contiguous()) {
    unpack(from.data, bytes, to);
    return;
  }
  const auto packed = std::make_unique_for_overwrite<std::byte[]>(from.bytes);
  pack(from, packed.get());
  unpack(packed.get(), bytes, to);
}

}  // namespace librma::mpi
