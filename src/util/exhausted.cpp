#include "util/exhausted.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace librma {

void end_exhausted(std::string_view wanted) noexcept {
  std::array<char, 256> text = {};
  const auto end =
      fmt::format_to_n(text.data(), text.size(), "rma: process {} ends, because no memory is left for {}\n",
                       getpid(), wanted)
          .out;
  // The process ends, whether or not the message could be written.
  [[maybe_unused]] const ssize_t written =
      write(STDERR_FILENO, text.data(), static_cast<std::size_t>(end - text.data()));
  std::abort();
}

}  // namespace librma
