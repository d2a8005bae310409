#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "twosided_compat/datatypes/datatypes.hpp"

namespace librma::mpi {

/// A buffer of the program: contiguous memory, or elements of a datatype.
struct Buffer {
  std::byte* data = nullptr;
  std::size_t bytes = 0;           ///< of data
  const Datatype* type = nullptr;  ///< of noncontiguous data, `count` elements at `data`; null for contiguous
  MPI_Count count = 0;             ///< of noncontiguous data

  [[nodiscard]] bool is_contiguous() const { return type == nullptr; }
  /// Calls visit(address, bytes) for the contiguous parts of the first `most` bytes, in order.
  template <class Visit>
  void visit(std::size_t most, const Visit& visit) const;
};

/// The text of the failure if the bytes of a buffer do not fit into an MPI_Count.
inline constexpr const char* kTooManyElements = "so many elements exceed the range of addresses";

/// Finds a buffer of a type for which dense_size() is 0: a derived one, one with holes, or MPI_DATATYPE_NULL,
/// which is as good as any other type for 0 elements. MPI_ERR_COUNT, MPI_ERR_TYPE (also if the type is not
/// committed), MPI_ERR_BUFFER.
[[nodiscard, gnu::noinline]] int find_typed_buffer(const void* address, MPI_Count count, MPI_Datatype type,
                                                   Buffer& buffer);

/// Finds a buffer of `count` elements. MPI_ERR_COUNT, MPI_ERR_TYPE, MPI_ERR_BUFFER.
[[nodiscard]] inline int find_buffer(const void* address, MPI_Count count, MPI_Datatype type,
                                     Buffer& buffer) {
  const std::size_t size = dense_size(type);
  if (size == 0) [[unlikely]]
    return find_typed_buffer(address, count, type, buffer);
  if (count < 0) [[unlikely]]
    return failure(MPI_ERR_COUNT, "count is negative");
  MPI_Count bytes = 0;
  if (__builtin_mul_overflow(count, static_cast<MPI_Count>(size), &bytes)) [[unlikely]]
    return failure(MPI_ERR_COUNT, kTooManyElements);
  buffer = {.data = static_cast<std::byte*>(const_cast<void*>(address)),
            .bytes = static_cast<std::size_t>(bytes)};
  if (address == nullptr && buffer.bytes != 0) [[unlikely]]
    return failure(MPI_ERR_BUFFER, "the buffer is null");
  return MPI_SUCCESS;
}

/// Copies the data of a buffer to contiguous memory, which has room for them.
void pack(const Buffer& from, std::byte* to);
/// Copies the first `bytes` bytes of data into a buffer, which has so many.
void unpack(const std::byte* from, std::size_t bytes, const Buffer& to);
/// Copies as many bytes of data as both have. The buffers may be the same memory, and do not overlap
/// otherwise.
void copy_data(const Buffer& from, const Buffer& to);

template <class Visit>
void Buffer::visit(std::size_t most, const Visit& visit) const {
  if (is_contiguous()) {
    visit(data, std::min(bytes, most));
    return;
  }
  type->map_of(count).visit(reinterpret_cast<std::uintptr_t>(data), 0,
                            static_cast<MPI_Count>(std::min(bytes, most)),
                            [&](std::byte* at, MPI_Count part, const PredefinedType&) {
                              visit(at, static_cast<std::size_t>(part));
                            });
}

}  // namespace librma::mpi
