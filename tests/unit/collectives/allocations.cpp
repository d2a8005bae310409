#include "allocations.hpp"

#include <cstdlib>
#include <new>

namespace librma::testing_threads {

thread_local std::size_t allocations = 0;

}  // namespace librma::testing_threads

// The form that does not throw, too: otherwise a sanitizer's own would allocate what is freed below.
void* operator new(std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  ++librma::testing_threads::allocations;
  return std::malloc(bytes != 0 ? bytes : 1);
}
void* operator new(std::size_t bytes) {
  if (void* const memory = operator new(bytes, std::nothrow); memory != nullptr) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*bytes*/) noexcept { std::free(memory); }
