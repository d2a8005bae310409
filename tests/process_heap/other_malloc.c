/* Another malloc, which a program may bring: it gives out pieces of one store and takes nothing back. */
#include <stddef.h>
#include <string.h>

static _Alignas(64) unsigned char store[64 << 20];
static size_t used;

void* aligned_alloc(size_t alignment, size_t bytes) {
  const size_t begin = (used + sizeof bytes + alignment - 1) / alignment * alignment;
  if (bytes > sizeof store || begin > sizeof store - bytes) return NULL;
  memcpy(store + begin - sizeof bytes, &bytes, sizeof bytes);
  used = begin + bytes;
  return store + begin;
}

int posix_memalign(void** block, size_t alignment, size_t bytes) {
  *block = aligned_alloc(alignment, bytes);
  return 0;
}

void* malloc(size_t bytes) { return aligned_alloc(16, bytes); }

void* calloc(size_t count, size_t bytes) { return malloc(count * bytes); /* never used before, so zeros */ }

size_t malloc_usable_size(void* block) {
  size_t bytes;
  memcpy(&bytes, (unsigned char*)block - sizeof bytes, sizeof bytes);
  return bytes;
}

void* realloc(void* block, size_t bytes) {
  void* const moved = malloc(bytes);
  if (block == NULL || moved == NULL) return moved;
  const size_t had = malloc_usable_size(block);
  return memcpy(moved, block, had < bytes ? had : bytes);
}

void free(void* block) { (void)block; }
