// Read-modify-write on integers of 4 and 8 bytes, and waiting for a flag.

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "fortran/array.hpp"
#include "fortran/numbers.hpp"
#include "fortran/outcome.hpp"
#include "util/try.hpp"

namespace rma::fortran {
namespace {

/// Returns an operand for a target of `bytes` bytes.
Result<std::int64_t> operand_of(const CFI_cdesc_t* given, const char* argument, std::int64_t bytes) {
  if (given == nullptr) return std::int64_t{0};
  auto value = integer(*given, argument);
  if (value.ok() && bytes == sizeof(std::int32_t) &&
      value.value() != static_cast<std::int32_t>(value.value())) {
    return Status(RMA_ERR_SIZE,
                  fmt::format("{} is {}, and the target an integer of 4 bytes", argument, value.value()));
  }
  return value;
}

/// Executes an atomic. `operand`, `compare` and `old` may be null if the operation has none; `old` also if
/// the caller does not need it.
Status update(rma_atomic_op_t op, const RemoteArray& target, const CFI_cdesc_t* operand,
              const CFI_cdesc_t* compare, const CFI_cdesc_t* old) {
  RMA_TRY(target.check("target"));
  const bool wide = target.type == CFI_type_int64_t;
  if ((!wide && target.type != CFI_type_int32_t) ||
      target.bytes() != static_cast<std::size_t>(target.element_bytes)) {
    return {RMA_ERR_ARGUMENT,
            fmt::format("target is {} of {} bytes in all: expected one integer of 4 or 8 bytes",
                        type_name(static_cast<CFI_type_t>(target.type),
                                  static_cast<std::size_t>(target.element_bytes)),
                        target.bytes())};
  }
  auto given = operand_of(operand, "operand", target.element_bytes);
  if (!given.ok()) return std::move(given).status();
  auto expected = operand_of(compare, "expected", target.element_bytes);
  if (!expected.ok()) return std::move(expected).status();
  if (old != nullptr) {
    // This check comes before any change: the variable must be able to hold every value.
    const std::int64_t widest =
        wide ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int32_t>::min();
    RMA_TRY(store(widest, *old, "old"));
  }

  if (wide) {
    std::uint64_t before = 0;
    Status status = outcome(rma_atomic64(op, reinterpret_cast<std::uint64_t*>(target.address),
                                         static_cast<std::uint64_t>(given.value()),
                                         static_cast<std::uint64_t>(expected.value()), &before, target.rank));
    if (!status.ok()) return status;
    return old != nullptr ? store(static_cast<std::int64_t>(before), *old, "old") : Status();
  }
  std::uint32_t before = 0;
  Status status = outcome(rma_atomic32(op, reinterpret_cast<std::uint32_t*>(target.address),
                                       static_cast<std::uint32_t>(given.value()),
                                       static_cast<std::uint32_t>(expected.value()), &before, target.rank));
  if (!status.ok()) return status;
  return old != nullptr ? store(static_cast<std::int32_t>(before), *old, "old") : Status();
}

}  // namespace
}  // namespace rma::fortran

using rma::fortran::conclude;
using rma::fortran::integer;
using rma::fortran::outcome;
using rma::fortran::RemoteArray;
using rma::fortran::update;

extern "C" {

void rma_fortran_fetch_add(const RemoteArray* target, const CFI_cdesc_t* operand, const CFI_cdesc_t* old,
                           int* stat, CFI_cdesc_t* errmsg) {
  conclude("rma_fetch_add", update(RMA_FETCH_ADD, *target, operand, nullptr, old), {stat, errmsg});
}

void rma_fortran_fetch_and(const RemoteArray* target, const CFI_cdesc_t* operand, const CFI_cdesc_t* old,
                           int* stat, CFI_cdesc_t* errmsg) {
  conclude("rma_fetch_and", update(RMA_AND, *target, operand, nullptr, old), {stat, errmsg});
}

void rma_fortran_fetch_or(const RemoteArray* target, const CFI_cdesc_t* operand, const CFI_cdesc_t* old,
                          int* stat, CFI_cdesc_t* errmsg) {
  conclude("rma_fetch_or", update(RMA_OR, *target, operand, nullptr, old), {stat, errmsg});
}

void rma_fortran_fetch_xor(const RemoteArray* target, const CFI_cdesc_t* operand, const CFI_cdesc_t* old,
                           int* stat, CFI_cdesc_t* errmsg) {
  conclude("rma_fetch_xor", update(RMA_XOR, *target, operand, nullptr, old), {stat, errmsg});
}

void rma_fortran_swap(const RemoteArray* target, const CFI_cdesc_t* operand, const CFI_cdesc_t* old,
                      int* stat, CFI_cdesc_t* errmsg) {
  conclude("rma_swap", update(RMA_SWAP, *target, operand, nullptr, old), {stat, errmsg});
}

void rma_fortran_compare_swap(const RemoteArray* target, const CFI_cdesc_t* expected,
                              const CFI_cdesc_t* operand, const CFI_cdesc_t* old, int* stat,
                              CFI_cdesc_t* errmsg) {
  conclude("rma_compare_swap", update(RMA_COMPARE_SWAP, *target, operand, expected, old), {stat, errmsg});
}

void rma_fortran_atomic_set(const RemoteArray* target, const CFI_cdesc_t* operand, int* stat,
                            CFI_cdesc_t* errmsg) {
  conclude("rma_atomic_set", update(RMA_SET, *target, operand, nullptr, nullptr), {stat, errmsg});
}

void rma_fortran_atomic_fetch(const RemoteArray* target, const CFI_cdesc_t* old, int* stat,
                              CFI_cdesc_t* errmsg) {
  conclude("rma_atomic_fetch", update(RMA_FETCH, *target, nullptr, nullptr, old), {stat, errmsg});
}

void rma_fortran_wait_until(const std::uint64_t* flag, int compare, const CFI_cdesc_t* value,
                            std::uint64_t* seen, int* stat, CFI_cdesc_t* errmsg) {
  auto number = integer(*value, "value");
  conclude("rma_wait_until",
           !number.ok() ? std::move(number).status()
                        : outcome(rma_wait_until(flag, static_cast<rma_compare_t>(compare),
                                                 static_cast<std::uint64_t>(number.value()), seen)),
           {stat, errmsg});
}

void rma_fortran_test_until(const std::uint64_t* flag, int compare, std::int64_t value, int* met, int* stat,
                            CFI_cdesc_t* errmsg) {
  *met = 0;
  conclude(rma_test_until(flag, static_cast<rma_compare_t>(compare), static_cast<std::uint64_t>(value), met),
           {stat, errmsg});
}

}  // extern "C"
