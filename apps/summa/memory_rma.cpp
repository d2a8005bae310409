// Memory from librma's heap. Every rank can access it, and no path needs to register it.

#include <algorithm>
#include <rma/rma.hpp>

#include "memory.hpp"

namespace summa {

namespace {

// An element that no cache line or page of a neighbour disturbs.
constexpr std::size_t kAlignment = 64;

}  // namespace

Buffer make_buffer(std::size_t elements) {
  void* address = nullptr;
  rma::check(rma_malloc_local(elements * sizeof(double), kAlignment, &address));
  auto* const memory = static_cast<double*>(address);
  // This touches the pages, so that the product finds all of them.
  std::fill_n(memory, elements, 0.0);
  return {memory, [](double* each) {
            // After an error the job may be gone.
            if (rma_initialized() == 1) static_cast<void>(rma_free_local(each));
          }};
}

}  // namespace summa
