#include "allocations.hpp"

#include <cstdlib>
#include <new>

namespace rma::testing_threads {

thread_local std::size_t allocations = 0;

}  // namespace rma::testing_threads

void* operator new(std::size_t bytes) {
  ++rma::testing_threads::allocations;
  if (void* const memory = std::malloc(bytes != 0 ? bytes : 1); memory != nullptr) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*bytes*/) noexcept { std::free(memory); }
