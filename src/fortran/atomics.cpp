// Read-modify-write on integers of 4 and 8 bytes, and waiting for a flag.

#include <fmt/format.h>

#include <limits>

#include "fortran/calls.hpp"
#include "fortran/numbers.hpp"
#include "fortran/outcome.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma::fortran {
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

}  // namespace

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
  RMA_TRY_ASSIGN(given, operand_of(operand, "operand", target.element_bytes));
  RMA_TRY_ASSIGN(expected, operand_of(compare, "expected", target.element_bytes));
  if (old != nullptr) {
    // This check comes before any change: the variable must be able to hold every value.
    const std::int64_t widest =
        wide ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int32_t>::min();
    RMA_TRY(store(widest, *old, "old"));
  }

  if (wide) {
    std::uint64_t before = 0;
    RMA_TRY(outcome(rma_atomic64(op, reinterpret_cast<std::uint64_t*>(target.address),
                                 static_cast<std::uint64_t>(given), static_cast<std::uint64_t>(expected),
                                 &before, target.rank)));
    return old != nullptr ? store(static_cast<std::int64_t>(before), *old, "old") : Status();
  }
  std::uint32_t before = 0;
  RMA_TRY(outcome(rma_atomic32(op, reinterpret_cast<std::uint32_t*>(target.address),
                               static_cast<std::uint32_t>(given), static_cast<std::uint32_t>(expected),
                               &before, target.rank)));
  return old != nullptr ? store(static_cast<std::int32_t>(before), *old, "old") : Status();
}

Status wait_until(const std::uint64_t& flag, int compare, const CFI_cdesc_t& value, std::uint64_t* seen) {
  RMA_TRY_ASSIGN(number, integer(value, "value"));
  return outcome(
      rma_wait_until(&flag, static_cast<rma_compare_t>(compare), static_cast<std::uint64_t>(number), seen));
}

}  // namespace librma::fortran
