#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "shmem/job/job.hpp"
#include "util/copy_word.hpp"

// Puts and gets. The inlined part serves memory that this process has mapped; librma serves the rest.

namespace librma::shmem {

/// An element of this many bits whose type does not matter.
template <std::size_t Width>
struct alignas(Width < 128 ? Width / 8 : 8) Bits {
  std::byte bytes[Width / 8];  // NOLINT(modernize-avoid-c-arrays)
};

/// Longer transfers go through librma, which has faster copies for them.
inline constexpr std::size_t kMostInline = 1024;

/// Returns the size of `count` elements. A size that does not fit becomes one that no memory has.
template <typename T>
constexpr std::size_t bytes_of(std::size_t count) {
  std::size_t bytes = 0;
  return __builtin_mul_overflow(count, sizeof(T), &bytes) ? SIZE_MAX : bytes;
}

/// Copies to or from memory of another PE.
inline void copy(void* to, const void* from, std::size_t bytes) {
  if (copy_word<std::uint64_t>(to, from, bytes) || copy_word<std::uint32_t>(to, from, bytes)) return;
  std::memcpy(to, from, bytes);
}

// By librma: any memory, any size.
[[gnu::noinline]] void put_bytes(Call call, void* dest, const void* source, std::size_t bytes, int pe);
[[gnu::noinline]] void get_bytes(Call call, void* dest, const void* source, std::size_t bytes, int pe);
void put_bytes_nbi(Call call, void* dest, const void* source, std::size_t bytes, int pe);
void get_bytes_nbi(Call call, void* dest, const void* source, std::size_t bytes, int pe);

/// One block of a strided transfer, and the distances in bytes from one to the next.
struct Layout {
  std::size_t element;    ///< bytes of an element, by which distances are counted
  std::size_t block;      ///< elements of a block
  std::size_t blocks;     ///< how many there are
  std::ptrdiff_t dest;    ///< elements from block to block
  std::ptrdiff_t source;  ///< elements from block to block
};
void put_layout(Call call, void* dest, const void* source, const Layout& layout, int pe);
void get_layout(Call call, void* dest, const void* source, const Layout& layout, int pe);

template <typename T>
void put(Call call, void* dest, const void* source, std::size_t count, int pe) {
  const std::size_t bytes = bytes_of<T>(count);
  if (bytes <= kMostInline) {
    if (std::byte* const to = here(dest, bytes, pe); to != nullptr) [[likely]] {
      copy(to, source, bytes);
      return wake_after_store(pe);
    }
  }
  put_bytes(call, dest, source, bytes, pe);
}

template <typename T>
void get(Call call, void* dest, const void* source, std::size_t count, int pe) {
  const std::size_t bytes = bytes_of<T>(count);
  if (bytes <= kMostInline) {
    if (const std::byte* const from = here(source, bytes, pe); from != nullptr) [[likely]]
      return copy(dest, from, bytes);
  }
  get_bytes(call, dest, source, bytes, pe);
}

template <typename T>
void put_nbi(Call call, void* dest, const void* source, std::size_t count, int pe) {
  const std::size_t bytes = bytes_of<T>(count);
  if (bytes <= kMostInline) {
    if (std::byte* const to = here(dest, bytes, pe); to != nullptr) [[likely]] {
      copy(to, source, bytes);
      return wake_after_store(pe);
    }
  }
  put_bytes_nbi(call, dest, source, bytes, pe);
}

template <typename T>
void get_nbi(Call call, void* dest, const void* source, std::size_t count, int pe) {
  const std::size_t bytes = bytes_of<T>(count);
  if (bytes <= kMostInline) {
    if (const std::byte* const from = here(source, bytes, pe); from != nullptr) [[likely]]
      return copy(dest, from, bytes);
  }
  get_bytes_nbi(call, dest, source, bytes, pe);
}

template <typename T>
void put_value(Call call, T* dest, T value, int pe) {
  if (std::byte* const to = here(dest, sizeof(T), pe); to != nullptr) [[likely]] {
    if constexpr (sizeof(T) <= sizeof(std::uint64_t)) {
      // The generic form of the builtin takes floating types, too.
      __atomic_store(reinterpret_cast<T*>(to), &value, __ATOMIC_RELEASE);
    } else {
      std::memcpy(to, &value, sizeof(T));
    }
    return wake_after_store(pe);
  }
  put_bytes(call, dest, &value, sizeof(T), pe);
}

template <typename T>
T get_value(Call call, const T* source, int pe) {
  T value;
  if (const std::byte* const from = here(source, sizeof(T), pe); from != nullptr) [[likely]] {
    if constexpr (sizeof(T) <= sizeof(std::uint64_t)) {
      __atomic_load(reinterpret_cast<const T*>(from), &value, __ATOMIC_ACQUIRE);
    } else {
      std::memcpy(&value, from, sizeof(T));
    }
    return value;
  }
  get_bytes(call, &value, source, sizeof(T), pe);
  return value;
}

template <typename T>
void put_strided(Call call, void* dest, const void* source, std::ptrdiff_t dst, std::ptrdiff_t sst,
                 std::size_t count, int pe) {
  put_layout(call, dest, source,
             {.element = sizeof(T), .block = 1, .blocks = count, .dest = dst, .source = sst}, pe);
}

template <typename T>
void get_strided(Call call, void* dest, const void* source, std::ptrdiff_t dst, std::ptrdiff_t sst,
                 std::size_t count, int pe) {
  get_layout(call, dest, source,
             {.element = sizeof(T), .block = 1, .blocks = count, .dest = dst, .source = sst}, pe);
}

template <typename T>
void put_blocks(Call call, void* dest, const void* source, std::ptrdiff_t dst, std::ptrdiff_t sst,
                std::size_t block, std::size_t blocks, int pe) {
  put_layout(call, dest, source,
             {.element = sizeof(T), .block = block, .blocks = blocks, .dest = dst, .source = sst}, pe);
}

template <typename T>
void get_blocks(Call call, void* dest, const void* source, std::ptrdiff_t dst, std::ptrdiff_t sst,
                std::size_t block, std::size_t blocks, int pe) {
  get_layout(call, dest, source,
             {.element = sizeof(T), .block = block, .blocks = blocks, .dest = dst, .source = sst}, pe);
}

}  // namespace librma::shmem
