#include "util/flush_streams.hpp"

#include <chrono>
#include <cstdio>
#include <future>
#include <memory>
#include <thread>

// The FLUSH of GNU Fortran's library; of a null pointer, all units. Null where the process has no such
// library.
extern "C" [[gnu::weak]] void _gfortran_flush_i4(const int* unit);  // NOLINT(*-identifier,*-naming)

namespace rma {

void flush_streams() noexcept {
  try {
    auto flushed = std::make_shared<std::promise<void>>();
    const std::future<void> over = flushed->get_future();
    std::thread([flushed] {
      std::fflush(nullptr);
      if (_gfortran_flush_i4 != nullptr) _gfortran_flush_i4(nullptr);
      flushed->set_value();
    }).detach();
    over.wait_for(std::chrono::seconds(1));
  } catch (...) {
    // No thread, or no memory for it: the process ends all the same.
    return;
  }
}

}  // namespace rma
