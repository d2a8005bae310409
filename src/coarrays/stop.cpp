// stop, error stop and fail image.

#include <cstdio>
#include <cstdlib>
#include <string>

#include "coarrays/entry_points.hpp"
#include "coarrays/images.hpp"

namespace librma::coarrays {
namespace {

[[noreturn]] void stop(int code, const std::string& text) {
  if (!text.empty()) std::fprintf(stderr, "STOP %s\n", text.c_str());
  std::fflush(nullptr);
  leave();
  std::exit(code);
}

[[noreturn]] void error_stop(int code, const std::string& text) {
  rma_abort(code, text.empty() ? nullptr : ("ERROR STOP " + text).c_str());
  __builtin_unreachable();  // rma_abort does not return
}

}  // namespace

void caf_stop_numeric(int code, bool quiet) { stop(code, quiet ? "" : std::to_string(code)); }

void caf_stop_str(const char* text, std::size_t length, bool quiet) {
  stop(0, quiet ? "" : std::string(text, length));
}

void caf_error_stop(int code, bool quiet) { error_stop(code, quiet ? "" : std::to_string(code)); }

void caf_error_stop_str(const char* text, std::size_t length, bool quiet) {
  error_stop(1, quiet ? "" : std::string(text, length));
}

}  // namespace librma::coarrays
