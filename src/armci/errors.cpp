// What goes wrong.

#include "armci/errors.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "armci/alias.hpp"

namespace rma::armci {

void die(std::string_view call, std::string_view text) {
  rma_abort(EXIT_FAILURE, fmt::format("{}: rank {}: {}", call, rma_rank(), text).c_str());
  std::abort();  // not reached
}

void require(rma_status_t status, const char* call) {
  if (status != RMA_SUCCESS) [[unlikely]]
    die(call, rma_last_error());
}

int failure(rma_status_t status, const char* call) {
  switch (status) {
    case RMA_SUCCESS:
      return 0;
    case RMA_ERR_ARGUMENT:
      return kNullArgument;
    case RMA_ERR_SIZE:
      return kBadSize;
    case RMA_ERR_RANK:
      return kBadProcess;
    default:
      die(call, rma_last_error());
  }
}

}  // namespace rma::armci

extern "C" {

void PARMCI_Error(const char* text, int code) {
  // An exit code has 8 bits, and 0 would call the job a success.
  const int exit_code = (code & 0xff) != 0 ? code : EXIT_FAILURE;
  rma_abort(
      exit_code,
      fmt::format("ARMCI_Error: rank {}: {} {}", rma_rank(), text != nullptr ? text : "", code).c_str());
}

void PARMCI_Cleanup(void) {}

}  // extern "C"

RMA_ARMCI(Error);
RMA_ARMCI(Cleanup);
