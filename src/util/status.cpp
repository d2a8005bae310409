#include "util/status.hpp"

#include <fmt/format.h>

#include <system_error>

namespace rma {

Status system_failure(rma_status_t code, std::string_view what, int error_number) {
  return {code, fmt::format("{}: {} (errno {})", what, std::generic_category().message(error_number),
                            error_number)};
}

}  // namespace rma
