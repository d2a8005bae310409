#include <fmt/format.h>

#include <array>
#include <string>

#include "api/call.hpp"

namespace rma {
namespace {

thread_local std::string last_error;

constexpr std::array<const char*, 15> kNames = {
    "RMA_SUCCESS",     "RMA_ERR_NOT_INITIALIZED", "RMA_ERR_ARGUMENT",  "RMA_ERR_RANK",
    "RMA_ERR_SIZE",    "RMA_ERR_ALIGNMENT",       "RMA_ERR_ADDRESS",   "RMA_ERR_NO_MEMORY",
    "RMA_ERR_SETTING", "RMA_ERR_LAUNCH",          "RMA_ERR_PEER_LOST", "RMA_ERR_UNSUPPORTED",
    "RMA_ERR_SYSTEM",  "RMA_ERR_STATE",           "RMA_ERR_VERSION"};
static_assert(RMA_ERR_VERSION + 1 == kNames.size());

}  // namespace

rma_status_t fail(std::string_view call, const Status& failure) {
  last_error = fmt::format("{}: {}", call, failure.text());
  return failure.code();
}

rma_status_t fail_not_initialized(std::string_view call) {
  return fail(call, {RMA_ERR_NOT_INITIALIZED, "not between rma_init and rma_finalize"});
}

}  // namespace rma

extern "C" {

const char* rma_strerror(rma_status_t status) {
  const auto code = static_cast<std::size_t>(status);
  return code < rma::kNames.size() ? rma::kNames[code] : "no such status";
}

const char* rma_last_error(void) { return rma::last_error.c_str(); }

}  // extern "C"
