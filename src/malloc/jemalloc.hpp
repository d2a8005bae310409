#pragma once

#include <cstddef>

// The few functions of jemalloc that the library uses, under the names that cmake/jemalloc.cmake gives them,
// and the types of jemalloc 5 that they take. This copy of jemalloc is private to the library. It does not
// affect the program's malloc, nor a jemalloc of the program's own.

extern "C" {

struct RmaJeExtentHooks {
  void* (*alloc)(RmaJeExtentHooks*, void* new_address, std::size_t bytes, std::size_t alignment, bool* zero,
                 bool* commit, unsigned arena);
  bool (*dalloc)(RmaJeExtentHooks*, void* address, std::size_t bytes, bool committed, unsigned arena);
  void (*destroy)(RmaJeExtentHooks*, void* address, std::size_t bytes, bool committed, unsigned arena);
  bool (*commit)(RmaJeExtentHooks*, void*, std::size_t, std::size_t offset, std::size_t length,
                 unsigned arena);
  bool (*decommit)(RmaJeExtentHooks*, void*, std::size_t, std::size_t offset, std::size_t length,
                   unsigned arena);
  bool (*purge_lazy)(RmaJeExtentHooks*, void*, std::size_t, std::size_t offset, std::size_t length,
                     unsigned arena);
  bool (*purge_forced)(RmaJeExtentHooks*, void*, std::size_t, std::size_t offset, std::size_t length,
                       unsigned arena);
  bool (*split)(RmaJeExtentHooks*, void*, std::size_t, std::size_t a, std::size_t b, bool committed,
                unsigned arena);
  bool (*merge)(RmaJeExtentHooks*, void* a, std::size_t, void* b, std::size_t, bool committed,
                unsigned arena);
};

void* librma_je_mallocx(std::size_t bytes, int flags);
void librma_je_dallocx(void* address, int flags);
int librma_je_mallctl(const char* name, void* old_value, std::size_t* old_bytes, void* new_value,
                      std::size_t new_bytes);
}
