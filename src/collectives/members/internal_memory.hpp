#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "core/job/job.hpp"
#include "util/status.hpp"
#include "util/try_assign.hpp"

namespace librma {

/// Gives internal memory back to this process's heap.
struct FreeInternal {
  void operator()(std::byte* memory) const {
    static_cast<void>(job->memory().allocator().free(MemoryKind::internal, memory).ok());
  }
  Job* job = nullptr;
};
using InternalMemory = std::unique_ptr<std::byte, FreeInternal>;

/// Takes `bytes` bytes of this process's heap, aligned to 64. RMA_ERR_NO_MEMORY.
[[nodiscard]] inline Result<InternalMemory> take_internal(Job& job, std::size_t bytes) {
  constexpr std::size_t kAlignment = 64;
  RMA_TRY_ASSIGN(memory, job.memory().allocator().allocate(MemoryKind::internal, bytes, kAlignment));
  return InternalMemory(memory, FreeInternal{&job});
}

}  // namespace librma
