#pragma once

#include <cstddef>

namespace librma::process_heap {

/// The functions that the program would call if this library were not there: those of the next object that
/// has them, which is the C library unless the program brings another malloc.
struct Next {
  void* (*malloc)(std::size_t) = nullptr;
  void* (*calloc)(std::size_t, std::size_t) = nullptr;
  void* (*realloc)(void*, std::size_t) = nullptr;
  void (*free)(void*) = nullptr;
  int (*posix_memalign)(void**, std::size_t, std::size_t) = nullptr;
  void* (*aligned_alloc)(std::size_t, std::size_t) = nullptr;
  std::size_t (*malloc_usable_size)(void*) = nullptr;
  int (*madvise)(void*, std::size_t, int) = nullptr;
};

/// Returns them. The first call finds them. While it does so, its own allocations come from a small static
/// store. Ends the process if there are none.
[[nodiscard]] const Next& next() noexcept;

/// Returns whether no other object's malloc stands before this library's or takes its place behind it, so
/// that the program's memory is the C library's where it is not this library's.
[[nodiscard]] bool next_is_c_library() noexcept;

/// This library's malloc says so while next_is_c_library() runs. It must not then call next_is_c_library().
void note_call_of_malloc() noexcept;

}  // namespace librma::process_heap
