/// @file
/// The options of summa.
#ifndef SUMMA_OPTIONS_HPP
#define SUMMA_OPTIONS_HPP

#include <cstddef>
#include <cstdint>
#include <optional>

namespace summa {

enum class Mode { kOverlap, kBlocking };

/// One element of C.
struct Element {
  std::size_t row;
  std::size_t column;
};

struct Options {
  std::size_t m = 1024;  ///< rows of A and C
  std::size_t n = 1024;  ///< columns of B and C
  std::size_t k = 1024;  ///< columns of A, rows of B
  std::size_t block = 256;
  bool overlap = true;
  bool blocking = false;
  bool verify = false;
  bool json = false;
  std::uint64_t seed = 20240229;
  std::optional<Element> inject_error;  ///< spoil this element of the product, to try the verification
};

/// The options, or the exit code to end with: for --help, or for a wrong option. Every rank reads the same
/// command line; `speak` on one of them only.
struct Parsed {
  Options options;
  std::optional<int> exit_code;
};
Parsed parse_options(int argc, const char* const* argv, bool speak);

}  // namespace summa

#endif
