#pragma once

#include <cstddef>

#include "mpi.h"
#include "twosided_compat/communicator.hpp"
#include "twosided_compat/datatypes.hpp"

// The arguments of a transfer as programs give them, and their checks.

namespace rma::mpi {

/// A buffer as the library moves it.
struct Buffer {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
};

/// Finds the distance of the elements of a type in a buffer. MPI_ERR_TYPE.
[[nodiscard]] inline int find_extent(MPI_Datatype type, std::size_t& extent) {
  extent = dense_size(type);
  if (extent != 0) [[likely]]
    return MPI_SUCCESS;
  const auto* const object = find<Datatype>(type);
  if (object == nullptr) return failure(MPI_ERR_TYPE, "the datatype is null or was freed");
  if (!object->is_committed()) return failure(MPI_ERR_TYPE, "the datatype is not committed");
  // Types with holes, such as MPI_DOUBLE_INT, travel with their holes.
  extent = static_cast<std::size_t>(object->bounds().extent);
  return MPI_SUCCESS;
}

/// Checks a buffer of `count` elements. MPI_ERR_COUNT, MPI_ERR_TYPE, MPI_ERR_BUFFER.
[[nodiscard]] inline int find_buffer(const void* address, MPI_Count count, MPI_Datatype type,
                                     Buffer& buffer) {
  std::size_t extent = 0;
  if (const int code = find_extent(type, extent); code != MPI_SUCCESS) [[unlikely]]
    return code;
  if (count < 0) [[unlikely]]
    return failure(MPI_ERR_COUNT, "count is negative");
  buffer = {.data = static_cast<std::byte*>(const_cast<void*>(address)),
            .bytes = static_cast<std::size_t>(count) * extent};
  if (address == nullptr && buffer.bytes != 0) [[unlikely]]
    return failure(MPI_ERR_BUFFER, "the buffer is null");
  return MPI_SUCCESS;
}

/// Returns how many of the bytes that have come are data, as MPI_Get_count counts them.
[[nodiscard]] inline MPI_Count data_bytes(MPI_Datatype type, std::size_t bytes) {
  if (dense_size(type) != 0) [[likely]]
    return static_cast<MPI_Count>(bytes);
  const auto* const object = find<Datatype>(type);
  if (object == nullptr || object->bounds().extent == 0) return static_cast<MPI_Count>(bytes);
  return static_cast<MPI_Count>(bytes) / object->bounds().extent * object->size();
}

[[nodiscard, gnu::cold]] int bad_rank(int rank, const Communicator& comm);
[[nodiscard, gnu::cold]] int bad_tag(int tag);

/// Checks the destination and tag of a send. MPI_PROC_NULL is a good destination.
[[nodiscard]] inline int check_destination(const Communicator& comm, int rank, int tag) {
  if (static_cast<unsigned>(rank) >= static_cast<unsigned>(comm.peer_count()) && rank != MPI_PROC_NULL)
      [[unlikely]]
    return bad_rank(rank, comm);
  if (tag < 0) [[unlikely]]
    return bad_tag(tag);
  return MPI_SUCCESS;
}

/// Checks the source and tag of a receive or probe. MPI_PROC_NULL and the wildcards are good.
[[nodiscard]] inline int check_source(const Communicator& comm, int rank, int tag) {
  if (static_cast<unsigned>(rank) >= static_cast<unsigned>(comm.peer_count()) && rank != MPI_PROC_NULL &&
      rank != MPI_ANY_SOURCE) [[unlikely]] {
    return bad_rank(rank, comm);
  }
  if (tag < 0 && tag != MPI_ANY_TAG) [[unlikely]]
    return bad_tag(tag);
  return MPI_SUCCESS;
}

}  // namespace rma::mpi
