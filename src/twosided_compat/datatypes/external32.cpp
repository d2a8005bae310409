// The representation external32 (MPI 4.1, section 14.5.2): big-endian numbers of fixed sizes, the same on all
// systems.

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/datatypes/datatypes.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma::mpi {
namespace {

/// Returns the size of an element in external32. A few types of C are shorter or longer there than here.
MPI_Count external_bytes(const PredefinedType& element) {
  switch (element.handle) {
    case number::kLong:
    case number::kUnsignedLong:
      return 4;
    case number::kWchar:
      return 2;
    case number::kLongDouble:
      return 16;
    case number::kCLongDoubleComplex:
    case number::kCxxLongDoubleComplex:
      return 32;
    default:
      return element.size;
  }
}

/// Returns the number of equal parts that an element consists of.
std::size_t parts_of(const PredefinedType& element) {
  return element.type_class == TypeClass::kComplex ? 2 : 1;
}

/// Copies a number and brings its bytes from this system's order into that of external32, or back.
void copy_swapped(std::byte* to, const std::byte* from, std::size_t bytes) {
  if constexpr (std::endian::native == std::endian::little) {
    std::reverse_copy(from, from + bytes, to);
  } else {
    std::memcpy(to, from, bytes);
  }
}

/// Converts a number to another type for the way into external32. Returns false if the value does not fit.
template <class External, class Native>
bool write_as(std::byte* to, const std::byte* from) {
  Native native;
  std::memcpy(&native, from, sizeof native);
  const auto value = static_cast<External>(native);
  copy_swapped(to, reinterpret_cast<const std::byte*>(&value), sizeof value);
  if constexpr (std::is_floating_point_v<Native>) {
    if (std::isnan(native)) return true;  // a NaN is a NaN, and equals nothing
  }
  return static_cast<Native>(value) == native;
}
template <class External, class Native>
void read_as(std::byte* to, const std::byte* from) {
  External value;
  copy_swapped(reinterpret_cast<std::byte*>(&value), from, sizeof value);
  const auto native = static_cast<Native>(value);
  std::memcpy(to, &native, sizeof native);
}

/// Calls convert.operator()<External, Native>() for a type whose parts have another form in external32, and
/// returns its result. Copies a part of any other type, in the other order of bytes.
template <class Convert>
bool convert_part(const PredefinedType& type, std::byte* to, const std::byte* from, const Convert& convert) {
  switch (type.handle) {
    case number::kLong:
      return convert.template operator()<std::int32_t, long>();
    case number::kUnsignedLong:
      return convert.template operator()<std::uint32_t, unsigned long>();
    case number::kWchar:
      return convert.template operator()<std::uint16_t, std::uint32_t>();
    default:
      break;
  }
  if (type.element == Element::kLongDouble) return convert.template operator()<__float128, long double>();
  copy_swapped(to, from, type.size / parts_of(type));
  return true;
}

/// Writes one part of an element of `type`. Returns false if external32 cannot hold the value.
bool write_part(const PredefinedType& type, std::byte* to, const std::byte* from) {
  return convert_part(type, to, from,
                      [&]<class External, class Native>() { return write_as<External, Native>(to, from); });
}

/// Reads one part. Returns true.
bool read_part(const PredefinedType& type, std::byte* to, const std::byte* from) {
  return convert_part(type, to, from, [&]<class External, class Native>() {
    read_as<External, Native>(to, from);
    return true;
  });
}

/// The arguments of a call, checked.
struct External {
  TypeMap map;  ///< of the elements
  MPI_Count bytes = 0;
};

int find_external(const char* representation, MPI_Count count, MPI_Datatype handle, External& external) {
  if (representation == nullptr) return failure(MPI_ERR_ARG, "datarep is null");
  if (std::string_view(representation) != "external32")
    return failure(MPI_ERR_UNSUPPORTED_DATAREP, "the only representation is external32");
  RMA_TRY_ASSIGN(type, find_datatype(handle));
  if (!type->is_committed()) return failure(MPI_ERR_TYPE, "the datatype is not committed");
  if (count < 0) return failure(MPI_ERR_COUNT, fmt::format("the count is {}", count));
  external.map = type->layout().elements().repeated(count, type->bounds().extent);
  const MPI_Count size = type->layout().elements().sum(external_bytes);
  if (external.map.overflows() || __builtin_mul_overflow(size, count, &external.bytes))
    return failure(MPI_ERR_COUNT, fmt::format("the count is {}", count));
  return MPI_SUCCESS;
}

int check_external(const External& external, const void* buffer, const void* packed, MPI_Count size,
                   const MPI_Count* position) {
  if (size < 0 || *position < 0 || *position > size)
    return failure(MPI_ERR_ARG, fmt::format("position {} is not within {} bytes", *position, size));
  if (external.bytes > size - *position) {
    return failure(MPI_ERR_TRUNCATE,
                   fmt::format("{} bytes at position {} exceed {} bytes", external.bytes, *position, size));
  }
  if (external.bytes == 0) return MPI_SUCCESS;
  // With MPI_BOTTOM the displacements are addresses.
  if (packed == nullptr || (buffer == nullptr && external.map.low() == 0))
    return failure(MPI_ERR_BUFFER, "a buffer is null");
  return MPI_SUCCESS;
}

/// Calls convert(type, in the program's memory, in external32) for each part of each element, until it
/// returns false. Returns false if it did.
template <class Convert>
bool convert_all(const TypeMap& map, const void* buffer, std::byte* packed, const Convert& convert) {
  bool fits = true;
  map.visit(bits(buffer), 0, map.size(), [&](std::byte* at, MPI_Count bytes, const PredefinedType& type) {
    const std::size_t parts = static_cast<std::size_t>(bytes) / type.size * parts_of(type);
    const std::size_t here = type.size / parts_of(type);
    const std::size_t there = static_cast<std::size_t>(external_bytes(type)) / parts_of(type);
    for (std::size_t i = 0; fits && i < parts; ++i) {
      fits = convert(type, at + i * here, packed);
      packed += there;
    }
  });
  return fits;
}

}  // namespace

int pack_external(const char* datarep, const void* inbuf, MPI_Count incount, MPI_Datatype datatype,
                  void* outbuf, MPI_Count outsize, MPI_Count* position) {
  External external;
  RMA_TRY(find_external(datarep, incount, datatype, external));
  RMA_TRY(check_external(external, inbuf, outbuf, outsize, position));
  const PredefinedType* narrow = nullptr;
  const bool fits = convert_all(external.map, inbuf, static_cast<std::byte*>(outbuf) + *position,
                                [&narrow](const PredefinedType& type, std::byte* here, std::byte* there) {
                                  narrow = &type;
                                  return write_part(type, there, here);
                                });
  if (!fits) {
    return failure(
        MPI_ERR_CONVERSION,
        fmt::format("a value of a type that has {} bytes here needs more than the {} bytes that the "
                    "format external32 of the MPI standard has for that type",
                    narrow->size, external_bytes(*narrow)));
  }
  *position += external.bytes;
  return MPI_SUCCESS;
}

int unpack_external(const char* datarep, const void* inbuf, MPI_Count insize, MPI_Count* position,
                    void* outbuf, MPI_Count outcount, MPI_Datatype datatype) {
  External external;
  RMA_TRY(find_external(datarep, outcount, datatype, external));
  RMA_TRY(check_external(external, outbuf, inbuf, insize, position));
  auto* const packed = static_cast<std::byte*>(const_cast<void*>(inbuf)) + *position;
  static_cast<void>(convert_all(external.map, outbuf, packed, read_part));
  *position += external.bytes;
  return MPI_SUCCESS;
}

int pack_external_size(const char* datarep, MPI_Count incount, MPI_Datatype datatype, MPI_Count* size) {
  External external;
  RMA_TRY(find_external(datarep, incount, datatype, external));
  *size = external.bytes;
  return MPI_SUCCESS;
}

}  // namespace librma::mpi
