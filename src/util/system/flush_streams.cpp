#include "util/system/flush_streams.hpp"

#include <chrono>
#include <cstdio>
#include <future>
#include <memory>
#include <thread>

#include "util/system/interruptions.hpp"

// The FLUSH function of GNU Fortran's library. A null argument flushes all units. The address of the function
// is null if the process does not have the library.
extern "C" [[gnu::weak]] void _gfortran_flush_i4(const int* unit);  // NOLINT(*-identifier,*-naming)

namespace librma {

void flush_streams() noexcept {
  try {
    auto flushed = std::make_shared<std::promise<void>>();
    const std::future<void> over = flushed->get_future();
    const SignalsHeldBack held_back;  // the new thread inherits the mask
    std::thread([flushed] {
      std::fflush(nullptr);
      if (_gfortran_flush_i4 != nullptr) _gfortran_flush_i4(nullptr);
      flushed->set_value();
    }).detach();
    over.wait_for(std::chrono::seconds(1));
  } catch (...) {
    // There is no thread, or no memory for one. The process ends without flushing.
    return;
  }
}

}  // namespace librma
