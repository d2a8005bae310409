#include "coarrays/reducers.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <memory>

#include "coarrays/outcome.hpp"
#include "coarrays/wide.hpp"
#include "kernels/operators.hpp"

namespace librma::coarrays {
namespace {

using kernels::Element;
using kernels::Operator;

// std::complex is returned otherwise than Fortran's complex numbers.
__extension__ using Complex4 = _Complex float;
__extension__ using Complex8 = _Complex double;

[[noreturn]] void refuse(const Descriptor& data, std::string_view subroutine) {
  die(fmt::format("{} takes no elements of type {} with {} bytes", subroutine, static_cast<int>(data.type),
                  data.element_bytes));
}

/// Returns the machine type of a real, or of a part of a complex number. Descriptors do not say whether 16
/// bytes are real(10) or real(16); they are taken for real(16), which iso_fortran_env calls real128.
Element real_element(std::size_t bytes) {
  switch (bytes) {
    case 4:
      return Element::kFloat32;
    case 8:
      return Element::kFloat64;
    case 16:
      return Element::kFloat128;
    default:
      return Element::kNone;
  }
}

/// A reducer of the library's own loops.
rma_reducer_t numeric_reducer(const Descriptor& data, Operator op, std::string_view subroutine) {
  const bool is_complex = data.type == kComplex;
  Element element = Element::kNone;
  if (data.type == kInteger) element = kernels::integer_element(data.element_bytes, true);
  if (data.type == kReal) element = real_element(data.element_bytes);
  if (is_complex) element = real_element(data.element_bytes / 2);
  const kernels::Loop loop = kernels::find(op, element, is_complex);
  if (loop == nullptr) refuse(data, subroutine);
  return {.combine = loop, .context = nullptr, .element_bytes = data.element_bytes, .commutes = 1};
}

/// Returns less than 0, 0 or more as `one` is before, equal to or behind `other`.
int compare(const unsigned char* one, const unsigned char* other, std::size_t characters) {
  return std::memcmp(one, other, characters);
}
int compare(const std::uint32_t* one, const std::uint32_t* other, std::size_t characters) {
  for (std::size_t i = 0; i < characters; ++i) {
    if (one[i] != other[i]) return one[i] < other[i] ? -1 : 1;
  }
  return 0;
}

/// Puts the smaller or larger of two strings into the second. The context is their length in characters.
template <typename Character, Extremum Which>
void combine_strings(const void* in, void* inout, std::size_t count, void* context) {
  const auto characters = reinterpret_cast<std::size_t>(context);
  const auto* from = static_cast<const Character*>(in);
  auto* to = static_cast<Character*>(inout);
  for (std::size_t i = 0; i < count; ++i, from += characters, to += characters) {
    const int order = compare(from, to, characters);
    if (Which == Extremum::least ? order < 0 : order > 0)
      std::memcpy(to, from, characters * sizeof(Character));
  }
}

template <typename Character>
rma_reducer_t string_reducer(Extremum which, std::size_t characters) {
  return {.combine = which == Extremum::least ? combine_strings<Character, Extremum::least>
                                              : combine_strings<Character, Extremum::most>,
          .context = reinterpret_cast<void*>(characters),  // NOLINT(performance-no-int-to-ptr)
          .element_bytes = characters * sizeof(Character),
          .commutes = 1};
}

/// Calls a user's function for each pair of elements: `call(function, in, inout)` puts the result into
/// `inout`.
template <typename Call>
void for_each_pair(const void* in, void* inout, std::size_t count, const UserFunction& function,
                   const Call& call) {
  const auto* from = static_cast<const std::byte*>(in);
  auto* to = static_cast<std::byte*>(inout);
  for (std::size_t i = 0; i < count; ++i, from += function.element_bytes, to += function.element_bytes)
    call(from, to);
}

/// A function that takes references and returns a value of type T.
template <typename T>
void call_with_references(const void* in, void* inout, std::size_t count, void* context) {
  const auto& function = *static_cast<const UserFunction*>(context);
  const auto call = reinterpret_cast<T (*)(const void*, const void*)>(function.function);
  for_each_pair(in, inout, count, function, [call](const std::byte* from, std::byte* to) {
    const T result = call(from, to);
    std::memcpy(to, &result, sizeof result);
  });
}

/// A function that takes and returns values of type T.
template <typename T>
void call_with_values(const void* in, void* inout, std::size_t count, void* context) {
  const auto& function = *static_cast<const UserFunction*>(context);
  const auto call = reinterpret_cast<T (*)(T, T)>(function.function);
  for_each_pair(in, inout, count, function, [call](const std::byte* from, std::byte* to) {
    T source;
    T target;
    std::memcpy(&source, from, sizeof source);
    std::memcpy(&target, to, sizeof target);
    const T result = call(source, target);
    std::memcpy(to, &result, sizeof result);
  });
}

/// A function that returns by an address in front of its arguments. Derived types of more than 16 bytes are
/// returned so.
void call_with_result_address(const void* in, void* inout, std::size_t count, void* context) {
  const auto& function = *static_cast<const UserFunction*>(context);
  const auto call = reinterpret_cast<void (*)(void*, const void*, const void*)>(function.function);
  const auto result = std::make_unique_for_overwrite<std::byte[]>(function.element_bytes);
  for_each_pair(in, inout, count, function, [&](const std::byte* from, std::byte* to) {
    call(result.get(), from, to);
    std::memcpy(to, result.get(), function.element_bytes);
  });
}

/// A function of strings, whose lengths are hidden arguments.
void call_with_strings(const void* in, void* inout, std::size_t count, void* context) {
  const auto& function = *static_cast<const UserFunction*>(context);
  const std::size_t length = function.characters;
  const auto call =
      reinterpret_cast<void (*)(void*, std::size_t, const void*, const void*, std::size_t, std::size_t)>(
          function.function);
  const auto result = std::make_unique_for_overwrite<std::byte[]>(function.element_bytes);
  for_each_pair(in, inout, count, function, [&](const std::byte* from, std::byte* to) {
    call(result.get(), length, from, to, length, length);
    std::memcpy(to, result.get(), function.element_bytes);
  });
}

using Combine = decltype(rma_reducer_t::combine);

template <typename T>
Combine call_of(const UserFunction& function) {
  return (function.flags & kArgumentsByValue) != 0 ? call_with_values<T> : call_with_references<T>;
}

/// Returns the call for results that are values, or null.
Combine value_call(const Descriptor& data, const UserFunction& function) {
  const std::size_t bytes = data.element_bytes;
  if (data.type == kInteger || data.type == kLogical) {
    switch (bytes) {
      case 1:
        return call_of<std::int8_t>(function);
      case 2:
        return call_of<std::int16_t>(function);
      case 4:
        return call_of<std::int32_t>(function);
      case 8:
        return call_of<std::int64_t>(function);
      default:
        return call_of<Integer16>(function);
    }
  }
  switch (data.type == kReal ? real_element(bytes) : Element::kNone) {
    case Element::kFloat32:
      return call_of<float>(function);
    case Element::kFloat64:
      return call_of<double>(function);
    case Element::kFloat128:
      return call_of<Real16>(function);
    default:
      break;
  }
  switch (data.type == kComplex ? real_element(bytes / 2) : Element::kNone) {
    case Element::kFloat32:
      return call_of<Complex4>(function);
    case Element::kFloat64:
      return call_of<Complex8>(function);
    default:
      return nullptr;
  }
}

}  // namespace

rma_reducer_t sum_of(const Descriptor& data) { return numeric_reducer(data, Operator::kSum, "co_sum"); }

rma_reducer_t extremum_of(const Descriptor& data, Extremum which, int characters) {
  const bool least = which == Extremum::least;
  if (data.type != kCharacter) {
    return numeric_reducer(data, least ? Operator::kMin : Operator::kMax, least ? "co_min" : "co_max");
  }
  const auto length = static_cast<std::size_t>(characters);
  return length == data.element_bytes ? string_reducer<unsigned char>(which, length)
                                      : string_reducer<std::uint32_t>(which, length);
}

rma_reducer_t reducer_of(const Descriptor& data, UserFunction& function) {
  // Results of up to 16 bytes come in registers that depend on the types of the components.
  constexpr std::size_t kMostInRegisters = 16;
  Combine combine = nullptr;
  if (data.type == kCharacter) {
    combine = call_with_strings;
  } else if ((function.flags & kResultByReference) != 0 || data.element_bytes > kMostInRegisters) {
    combine = call_with_result_address;
  } else {
    combine = value_call(data, function);
  }
  if (combine == nullptr) refuse(data, "co_reduce");
  return {.combine = combine, .context = &function, .element_bytes = data.element_bytes, .commutes = 0};
}

}  // namespace librma::coarrays
