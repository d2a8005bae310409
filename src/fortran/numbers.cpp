#include "fortran/numbers.hpp"

#include <fmt/format.h>

#include <cstring>

#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma::fortran {
namespace {

template <typename T>
std::int64_t read(const void* address) {
  T value;
  std::memcpy(&value, address, sizeof value);
  return value;
}

}  // namespace

std::string type_name(CFI_type_t type, std::size_t bytes) {
  if (type == CFI_type_struct || type == CFI_type_other) return fmt::format("a type of {} bytes", bytes);
  switch (type & CFI_type_mask) {
    case CFI_type_Integer:
      return fmt::format("integer of {} bytes", bytes);
    case CFI_type_Logical:
      return fmt::format("logical of {} bytes", bytes);
    case CFI_type_Real:
      return fmt::format("real of {} bytes", bytes);
    case CFI_type_Complex:
      return fmt::format("complex of {} bytes", bytes);
    case CFI_type_Character:
      return fmt::format("character of {} bytes", bytes);
    default:
      return fmt::format("a type of {} bytes", bytes);
  }
}

Result<std::int64_t> integer_at(const void* address, const CFI_cdesc_t& given, const char* argument) {
  switch (given.type) {
    case CFI_type_int8_t:
      return read<std::int8_t>(address);
    case CFI_type_int16_t:
      return read<std::int16_t>(address);
    case CFI_type_int32_t:
      return read<std::int32_t>(address);
    case CFI_type_int64_t:
      return read<std::int64_t>(address);
    default:
      return Status(RMA_ERR_ARGUMENT, fmt::format("{} is {}: expected an integer of at most 8 bytes",
                                                  argument, type_name(given.type, given.elem_len)));
  }
}

Result<std::int64_t> integer(const CFI_cdesc_t& given, const char* argument) {
  if (given.rank != 0) {
    return Status(RMA_ERR_ARGUMENT,
                  fmt::format("{} has {} dimensions: expected one number", argument, given.rank));
  }
  return integer_at(given.base_addr, given, argument);
}

Result<int> integers(const CFI_cdesc_t& given, const char* argument, std::span<std::int64_t> values) {
  const CFI_index_t count = given.rank == 0 ? 1 : given.dim[0].extent;
  if (given.rank > 1 || count < 0 || static_cast<std::size_t>(count) > values.size()) {
    return Status(RMA_ERR_ARGUMENT,
                  fmt::format("{} is no list of at most {} integers", argument, values.size()));
  }
  for (CFI_index_t i = 0; i < count; ++i) {
    const auto* const address =
        static_cast<const char*>(given.base_addr) + (i == 0 ? 0 : i * given.dim[0].sm);
    RMA_TRY_ASSIGN(value, integer_at(address, given, argument));
    values[static_cast<std::size_t>(i)] = value;
  }
  return static_cast<int>(count);
}

Status store(std::int64_t value, const CFI_cdesc_t& variable, const char* argument) {
  if (variable.rank == 0 && variable.type == CFI_type_int64_t) {
    std::memcpy(variable.base_addr, &value, sizeof value);
    return {};
  }
  if (variable.rank == 0 && variable.type == CFI_type_int32_t) {
    const auto narrow = static_cast<std::int32_t>(value);
    if (narrow != value) {
      return {RMA_ERR_SIZE, fmt::format("{} is an integer of 4 bytes, too small for {}", argument, value)};
    }
    std::memcpy(variable.base_addr, &narrow, sizeof narrow);
    return {};
  }
  return {RMA_ERR_ARGUMENT, fmt::format("{} is {}: expected one integer of 4 or 8 bytes", argument,
                                        type_name(variable.type, variable.elem_len))};
}

std::optional<rma_type_t> element_type(CFI_type_t type) {
  static_assert(sizeof(int) == sizeof(std::int32_t) && sizeof(long) == sizeof(std::int64_t));
  switch (type) {
    case CFI_type_int32_t:
      return RMA_INT;
    case CFI_type_int64_t:
      return RMA_LONG;
    case CFI_type_float:
      return RMA_FLOAT;
    case CFI_type_double:
      return RMA_DOUBLE;
    case CFI_type_float_Complex:
      return RMA_COMPLEX_FLOAT;
    case CFI_type_double_Complex:
      return RMA_COMPLEX_DOUBLE;
    default:
      return std::nullopt;
  }
}

Result<rma_type_t> addend_type(const CFI_cdesc_t& src, const CFI_cdesc_t* scale) {
  const auto type = element_type(src.type);
  if (!type) {
    return Status(RMA_ERR_ARGUMENT, fmt::format("src is {}: integer, real and complex of C's kinds can be "
                                                "accumulated",
                                                type_name(src.type, src.elem_len)));
  }
  if (scale == nullptr) return *type;
  if (scale->rank != 0) return Status(RMA_ERR_ARGUMENT, "scale is an array: expected one number");
  RMA_TRY(check_same_type(scale->type, scale->elem_len, "scale", src.type, src.elem_len, "src"));
  return *type;
}

Status check_same_type(CFI_type_t one, std::size_t one_bytes, const char* one_name, CFI_type_t other,
                       std::size_t other_bytes, const char* other_name) {
  const auto unnamed = [](CFI_type_t type) { return type == CFI_type_struct || type == CFI_type_other; };
  if (one_bytes == other_bytes && (one == other || unnamed(one) || unnamed(other))) return {};
  return {RMA_ERR_ARGUMENT,
          fmt::format("{} is {}, {} is {}: expected the same type", one_name, type_name(one, one_bytes),
                      other_name, type_name(other, other_bytes))};
}

}  // namespace librma::fortran
