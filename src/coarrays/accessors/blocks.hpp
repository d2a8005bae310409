#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "coarrays/abi.hpp"

// The blocks of bytes that go between the image whose statement has a coindexed object and the image that has
// the object: the call of an accessor, and its answer.

namespace librma::coarrays {

using Bytes = std::vector<std::byte>;

/// A call of an accessor. Behind it come the descriptors of the object and of the value or result, if there
/// are any, then the value, then the accessor's data.
struct Call {
  enum Kind : std::uint32_t { kGet, kPresent, kSet };
  /// kNested: an accessor made the call, and its object is in the memory of the image that called that one.
  enum Flag : std::uint32_t { kCharacters = 1, kReallocates = 2, kNested = 4 };
  Kind kind = kGet;
  std::uint32_t flags = 0;
  std::int32_t accessor = -1;
  std::uint32_t object_descriptor = 0;  ///< bytes; 0: none
  std::uint32_t other_descriptor = 0;
  std::uint32_t reserved = 0;
  std::byte* object = nullptr;        ///< of the image that runs the accessor
  std::byte* callers_data = nullptr;  ///< where the caller has the accessor's data
  std::size_t object_length = 0;
  std::size_t other_length = 1;
  std::size_t element_bytes = 0;  ///< of a character if the type is that, else of the whole result
  std::size_t value_bytes = 0;
  std::size_t data_bytes = 0;
};

/// Makes the bytes of a call. `other` is the descriptor of the value or the result.
struct CallMaker {
  Call call;
  const Descriptor* object = nullptr;
  const Descriptor* other = nullptr;
  const void* value = nullptr;
  const void* data = nullptr;

  [[nodiscard]] Bytes bytes();
};

/// A call as the image that runs it sees it. Ends the job if parts of the call are missing.
struct ReceivedCall {
  Call call;
  Descriptor object_array = {};  ///< only if the call has it
  Descriptor other_array = {};
  std::byte* value;
  std::byte* data;

  explicit ReceivedCall(std::span<std::byte> bytes);
  /// The object as accessors take it: its descriptor, or its address.
  [[nodiscard]] void* object() {
    return call.object_descriptor != 0 ? static_cast<void*>(&object_array) : call.object;
  }
  /// The descriptor of the value or the result, or null.
  [[nodiscard]] Descriptor* other() { return call.other_descriptor != 0 ? &other_array : nullptr; }
};

/// The header in front of the result of a getter.
struct Got {
  std::size_t length = 0;
  std::size_t bytes = 0;
  Descriptor array;  ///< only if it was asked for
};

/// The answer to a call of a getter: its head, and the bytes of the result.
struct Result {
  Got head;
  std::span<const std::byte> bytes;

  explicit Result(const Bytes& answer);
};

/// Returns the bytes of a descriptor with the dimensions that the array has, or 0 if there is none.
std::size_t descriptor_bytes(const Descriptor* array);
/// Returns the number of elements.
std::size_t count_of_all(const Descriptor& array);
/// Appends `count` bytes.
void append(Bytes& bytes, const void* from, std::size_t count);

}  // namespace librma::coarrays
