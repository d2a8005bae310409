// Memory of the program that becomes a part of the heap.

#include "api/alias.hpp"

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "api/call.hpp"
#include "api/check.hpp"
#include "api/forked.hpp"
#include "core/job/heap_memory.hpp"
#include "util/range_check.hpp"
#include "util/settings.hpp"
#include "util/text.hpp"
#include "util/try.hpp"

namespace librma {
namespace {

/// The request of rma_alias_at_init, and the reason if rma_init could not fulfil it.
struct Requested {
  std::mutex lock;  // guards the rest
  std::byte* address = nullptr;
  std::size_t bytes = 0;
  std::optional<Status> refusal;

  [[nodiscard]] bool holds(const void* begin, std::size_t length) const {
    return range_contains(
        bytes, reinterpret_cast<std::uintptr_t>(begin) - reinterpret_cast<std::uintptr_t>(address), length);
  }
};

/// Returns the one request. It is made when it is first needed, because constructors of other libraries ask.
Requested& requested() {
  static Requested* const kRequested = new Requested;
  return *kRequested;
}

Status check_memory(void* address, std::size_t bytes) {
  RMA_TRY(check_range(address, bytes, "address"));
  return bytes == 0 ? Status(RMA_ERR_SIZE, "an alias of 0 bytes") : Status();
}

/// Memory of the program, and where it lies in the heap, if it does.
struct AliasRange {
  std::byte* address = nullptr;
  std::size_t bytes = 0;
  std::byte* in_heap = nullptr;
};

AliasRange alias_range(const Window& window) {
  const Alias& alias = window.alias();
  if (alias.bytes != 0) return {alias.address, alias.bytes, window.aliased(alias.address, alias.bytes)};
  Requested& request = requested();
  const std::lock_guard guard(request.lock);
  return {request.address, request.bytes, nullptr};
}

/// Returns why the memory has no alias, if rma_alias_at_init has asked for one and rma_init could not make
/// it.
std::optional<Status> refusal_of(const void* address, std::size_t bytes) {
  Requested& request = requested();
  const std::lock_guard guard(request.lock);
  if (!request.refusal || !request.holds(address, bytes)) return std::nullopt;
  return Status(RMA_ERR_ADDRESS,
                text("{} bytes at {} have no alias: {}", bytes, address, request.refusal->text()));
}

bool has_joined() { return current_runtime.load(std::memory_order_acquire) != nullptr; }

Status copy_of(const Status& status) { return {status.code(), std::string(status.text())}; }

/// The body of rma_alias, which needs no runtime.
Status make_alias_of(void* address, std::size_t bytes) {
  RMA_TRY(check_memory(address, bytes));
  const auto settings = read_settings();
  if (!settings.ok()) return copy_of(settings.status());
  if (!settings.value().alias) return {RMA_ERR_UNSUPPORTED, "RMA_ALIAS is 0; set it to 1 to have aliases"};
  Requested& request = requested();
  const std::lock_guard guard(request.lock);
  if (has_joined() && request.refusal && request.holds(address, bytes)) return copy_of(*request.refusal);
  return HeapMemory::alias(static_cast<std::byte*>(address), bytes, has_joined());
}

Status request_alias(void* address, std::size_t bytes) {
  RMA_TRY(check_memory(address, bytes));
  Requested& request = requested();
  const std::lock_guard guard(request.lock);
  if (request.bytes != 0 && (request.address != address || request.bytes != bytes)) {
    return {RMA_ERR_STATE, text("an alias of {} bytes at {} is requested already", request.bytes,
                                static_cast<void*>(request.address))};
  }
  request.address = static_cast<std::byte*>(address);
  request.bytes = bytes;
  return {};
}

}  // namespace

bool make_requested_alias() {
  Requested& request = requested();
  std::byte* address = nullptr;
  std::size_t bytes = 0;
  {
    const std::lock_guard guard(request.lock);
    request.refusal.reset();
    address = request.address;
    bytes = request.bytes;
  }
  if (bytes == 0) return true;
  Status status = make_alias_of(address, bytes);
  if (status.ok()) return true;
  const bool unwanted = status.code() == RMA_ERR_UNSUPPORTED;  // by RMA_ALIAS=0
  const std::lock_guard guard(request.lock);
  request.refusal = std::move(status);
  return unwanted;
}

extern "C" {

rma_status_t rma_alias(void* address, size_t bytes) try {
  if (in_forked_child()) return fail_without_runtime(__func__);
  const Status status = make_alias_of(address, bytes);
  return status.ok() ? RMA_SUCCESS : fail(__func__, status);
} catch (const std::exception& thrown) {
  return fail("rma_alias", thrown);
}

rma_status_t rma_alias_at_init(void* address, size_t bytes) try {
  if (in_forked_child()) return fail_without_runtime(__func__);
  const Status status = request_alias(address, bytes);
  return status.ok() ? RMA_SUCCESS : fail(__func__, status);
} catch (const std::exception& thrown) {
  return fail("rma_alias_at_init", thrown);
}

rma_status_t rma_find_alias(const void* address, size_t bytes, void** heap_address) {
  return call(__func__, -1, bytes, [&](Runtime& runtime) -> Status {
    RMA_TRY(check_range(address, bytes, "address"));
    RMA_TRY(check_not_null(heap_address, "heap_address"));
    *heap_address = runtime.job->memory().window().aliased(address, bytes);
    if (*heap_address != nullptr) return {};
    if (auto refusal = refusal_of(address, bytes)) return std::move(*refusal);
    return {RMA_ERR_ADDRESS, text("{} bytes at {} were not aliased before rma_init", bytes, address)};
  });
}

rma_status_t rma_alias_range(void** address, size_t* bytes, void** heap_address) {
  return call(__func__, -1, 0, [&](Runtime& runtime) -> Status {
    RMA_TRY(check_not_null(address, "address"));
    RMA_TRY(check_not_null(bytes, "bytes"));
    RMA_TRY(check_not_null(heap_address, "heap_address"));
    const AliasRange range = alias_range(runtime.job->memory().window());
    *address = range.address;
    *bytes = range.bytes;
    *heap_address = range.in_heap;
    return {};
  });
}

}  // extern "C"

}  // namespace librma
