#include "coarrays/convert.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include "coarrays/abi.hpp"
#include "coarrays/outcome.hpp"
#include "coarrays/wide.hpp"
#include "kernels/unaligned.hpp"

namespace librma::coarrays {
namespace {

using kernels::load_as;
using kernels::store_as;

/// A number of any kind.
struct Number {
  bool whole = false;     ///< an integer
  Integer16 integer = 0;  ///< if `whole`
  Real16 real = 0;        ///< if not
  Real16 imaginary = 0;
};

/// Calls `use` with a value of the C++ type of an integer, or of a real of that kind. Returns false if there
/// is none.
template <typename Use>
bool with_integer(int kind, const Use& use) {
  switch (kind) {
    case 1:
      return use(std::int8_t{}), true;
    case 2:
      return use(std::int16_t{}), true;
    case 4:
      return use(std::int32_t{}), true;
    case 8:
      return use(std::int64_t{}), true;
    case 16:
      return use(Integer16{}), true;
    default:
      return false;
  }
}
template <typename Use>
bool with_real(int kind, const Use& use) {
  switch (kind) {
    case 4:
      return use(float{}), true;
    case 8:
      return use(double{}), true;
    case 10:
      return use(static_cast<long double>(0)), true;
    case 16:
      return use(Real16{}), true;
    default:
      return false;
  }
}

bool whole(const Type& type) { return type.type == kInteger || type.type == kLogical; }
bool numeric(const Type& type) { return whole(type) || type.type == kReal || type.type == kComplex; }

Number read_number(const std::byte* from, const Type& type) {
  Number number;
  if (whole(type)) {
    number.whole = true;
    // NOLINTNEXTLINE(bugprone-signed-char-misuse): integer(1) is signed
    with_integer(type.kind, [&]<typename T>(T) { number.integer = load_as<T>(from); });
    return number;
  }
  with_real(type.kind, [&]<typename T>(T) {
    number.real = load_as<T>(from);
    if (type.type == kComplex) number.imaginary = load_as<T>(from + sizeof(T));
  });
  return number;
}

void write_number(std::byte* to, const Type& type, const Number& number) {
  if (whole(type)) {
    with_integer(type.kind, [&]<typename T>(T) {
      store_as(to, static_cast<T>(number.whole ? number.integer : static_cast<Integer16>(number.real)));
    });
    return;
  }
  with_real(type.kind, [&]<typename T>(T) {
    store_as(to, number.whole ? static_cast<T>(number.integer) : static_cast<T>(number.real));
    if (type.type == kComplex) store_as(to + sizeof(T), static_cast<T>(number.imaginary));
  });
}

void assign_number(std::byte* dst, const Type& dst_type, const std::byte* src, const Type& src_type) {
  write_number(dst, dst_type, read_number(src, src_type));
}

/// Assigns characters of one kind to another. A character that kind 1 does not have becomes a question mark.
template <typename To, typename From>
void assign_characters(std::byte* dst, const Type& dst_type, const std::byte* src, const Type& src_type) {
  const std::size_t room = dst_type.bytes / sizeof(To);
  const std::size_t given = std::min(room, src_type.bytes / sizeof(From));
  for (std::size_t i = 0; i < given; ++i) {
    const auto character = load_as<From>(src + i * sizeof(From));
    const bool fits = character <= std::numeric_limits<To>::max();
    store_as(dst + i * sizeof(To), fits ? static_cast<To>(character) : static_cast<To>('?'));
  }
  for (std::size_t i = given; i < room; ++i) store_as(dst + i * sizeof(To), static_cast<To>(' '));
}

void assign_bytes(std::byte* dst, const Type& dst_type, const std::byte* src, const Type& /*src_type*/) {
  std::memcpy(dst, src, dst_type.bytes);
}

}  // namespace

Assign assignment(const Type& dst, const Type& src) {
  const bool same = dst.type == src.type && dst.bytes == src.bytes;
  if (dst == src || (same && !numeric(dst) && dst.type != kCharacter)) return assign_bytes;
  if (numeric(dst) && numeric(src)) return assign_number;
  if (dst.type == kCharacter && src.type == kCharacter) {
    using Narrow = unsigned char;
    using Wide = std::uint32_t;
    if (dst.kind == 1)
      return src.kind == 1 ? assign_characters<Narrow, Narrow> : assign_characters<Narrow, Wide>;
    return src.kind == 1 ? assign_characters<Wide, Narrow> : assign_characters<Wide, Wide>;
  }
  die(fmt::format("there is no assignment of type {} kind {} ({} bytes) to type {} kind {} ({} bytes)",
                  src.type, src.kind, src.bytes, dst.type, dst.kind, dst.bytes));
}

}  // namespace librma::coarrays
