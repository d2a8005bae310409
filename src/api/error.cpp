#include <fmt/format.h>

#include <array>
#include <exception>
#include <memory>
#include <new>
#include <string>

#include "api/call.hpp"
#include "api/forked.hpp"
#include "util/thread_end.hpp"

namespace librma {
namespace {

/// The text that rma_last_error returns. None of these variables has a destructor: see ThreadEnd.
constinit thread_local const char* last_error = "";
/// The usual place of the text; null until the thread's first failure.
constinit thread_local std::string* long_text = nullptr;
/// The place of the text if there is no memory for the usual one: the name of a call and a few words.
constinit thread_local std::array<char, 96> short_text = {};

void free_text(void* text) {
  last_error = "";
  long_text = nullptr;
  delete static_cast<std::string*>(text);
}

/// Returns this thread's long_text. Throws std::bad_alloc.
std::string& own_text() {
  static const ThreadEnd end(free_text);
  if (long_text != nullptr) return *long_text;
  auto made = std::make_unique<std::string>();
  if (!end.leave(made.get())) throw std::bad_alloc();
  long_text = made.release();
  return *long_text;
}

void keep(std::string_view call, std::string_view text) noexcept {
  try {
    std::string whole = fmt::format("{}: {}", call, text);
    std::string& kept = own_text();
    kept = std::move(whole);
    last_error = kept.c_str();
  } catch (const std::bad_alloc&) {
    // Keeps the beginning of the text if it is too long.
    const auto end = fmt::format_to_n(short_text.data(), short_text.size() - 1, "{}: {}", call, text).out;
    *end = '\0';
    last_error = short_text.data();
  }
}

constexpr std::array<const char*, 17> kNames = {
    "RMA_SUCCESS",       "RMA_ERR_NOT_INITIALIZED", "RMA_ERR_ARGUMENT",  "RMA_ERR_RANK",    "RMA_ERR_SIZE",
    "RMA_ERR_ALIGNMENT", "RMA_ERR_ADDRESS",         "RMA_ERR_NO_MEMORY", "RMA_ERR_SETTING", "RMA_ERR_LAUNCH",
    "RMA_ERR_PEER_LOST", "RMA_ERR_UNSUPPORTED",     "RMA_ERR_SYSTEM",    "RMA_ERR_STATE",   "RMA_ERR_VERSION",
    "RMA_ERR_TRUNCATED", "RMA_ERR_CANCELED"};
static_assert(RMA_ERR_CANCELED + 1 == kNames.size());

}  // namespace

rma_status_t fail(std::string_view call, const Status& failure) noexcept {
  keep(call, failure.text());
  Runtime* const runtime = current_runtime.load(std::memory_order_acquire);  // pairs with rma_init's store
  if (failure.code() == RMA_ERR_PEER_LOST && runtime != nullptr) {
    runtime->reported_loss.store(true, std::memory_order_relaxed);
  }
  return failure.code();
}

rma_status_t fail(std::string_view call, const std::exception& thrown) noexcept {
  if (dynamic_cast<const std::bad_alloc*>(&thrown) != nullptr) return fail(call, Status::exhausted());
  keep(call, thrown.what());
  return RMA_ERR_SYSTEM;
}

rma_status_t fail_without_runtime(std::string_view call) noexcept {
  if (in_forked_child()) {
    keep(call, "a forked child is not a member of the job that its parent had joined");
    return RMA_ERR_STATE;
  }
  keep(call, "the process is in no job: it may make this call only between rma_init and rma_finalize");
  return RMA_ERR_NOT_INITIALIZED;
}

extern "C" {

const char* rma_strerror(rma_status_t status) {
  const auto code = static_cast<std::size_t>(status);
  return code < kNames.size() ? kNames[code] : "no such status";
}

const char* rma_last_error(void) { return last_error; }

}  // extern "C"

}  // namespace librma
