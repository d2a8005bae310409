// Waits for several requests, and rma_abort.

#include <string>

#include "fortran/calls.hpp"

namespace librma::fortran {

rma_status_t wait_any(const CFI_cdesc_t& requests, int& index) {
  const auto count = static_cast<std::size_t>(requests.dim[0].extent);
  std::size_t place = count;
  const rma_status_t status = rma_wait_any(static_cast<rma_request_t*>(requests.base_addr), count, &place);
  index = place < count ? static_cast<int>(place) + 1 : 0;
  return status;
}

rma_status_t wait_all(const CFI_cdesc_t& requests) {
  return rma_wait_all(static_cast<rma_request_t*>(requests.base_addr),
                      static_cast<std::size_t>(requests.dim[0].extent));
}

}  // namespace librma::fortran

extern "C" void rma_fortran_abort(int exit_code, const CFI_cdesc_t* text) {
  const bool given = text != nullptr && text->type == CFI_type_char && text->rank == 0;
  const std::string said =
      given ? std::string(static_cast<const char*>(text->base_addr), text->elem_len) : "rma_abort";
  rma_abort(exit_code, said.c_str());
}
