#include "fortran/outcome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace librma::fortran {
namespace {

/// Assigns as Fortran does: truncates a long text and pads a short one with blanks. Does nothing if the
/// variable is not a character variable. (The caller reports the original failure, not this one.)
void assign(CFI_cdesc_t& variable, std::string_view text) {
  if (variable.type != CFI_type_char || variable.rank != 0) return;
  const std::size_t length = std::min(text.size(), variable.elem_len);
  std::memcpy(variable.base_addr, text.data(), length);
  std::memset(static_cast<char*>(variable.base_addr) + length, ' ', variable.elem_len - length);
}

void tell(rma_status_t code, const std::string& text, const Listener& listener) {
  if (listener.errmsg != nullptr) assign(*listener.errmsg, text);
  if (listener.stat != nullptr) {
    *listener.stat = code;
  } else {
    rma_abort(EXIT_FAILURE, text.c_str());
  }
}

}  // namespace

Status outcome(rma_status_t status) {
  return status == RMA_SUCCESS ? Status() : Status(status, rma_last_error());
}

void conclude(const char* call, const Status& status, const Listener& listener) {
  if (!status.ok()) {
    // A text of the runtime already begins with the name of a call, which may be another form of the call.
    const bool named = status.text().starts_with("rma_");
    tell(status.code(), named ? std::string(status.text()) : fmt::format("{}: {}", call, status.text()),
         listener);
  } else if (listener.stat != nullptr) {
    *listener.stat = RMA_SUCCESS;
  }
}

}  // namespace librma::fortran
