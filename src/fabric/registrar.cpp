#include "fabric/registrar.hpp"

#include <sys/mman.h>

#include <cerrno>

namespace librma {

Result<std::byte*> Registrar::take_peer_memory(std::size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return system_failure(RMA_ERR_NO_MEMORY, "memory that peers write to", errno);
  return static_cast<std::byte*>(memory);
}

void Registrar::give_peer_memory(std::byte* memory, std::size_t bytes) { munmap(memory, bytes); }

}  // namespace librma
