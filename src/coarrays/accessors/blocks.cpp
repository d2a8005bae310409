#include "coarrays/accessors/blocks.hpp"

#include <cstring>

#include "coarrays/outcome.hpp"
#include "coarrays/section.hpp"

namespace librma::coarrays {
namespace {

/// The parts of a call begin at multiples of 16 bytes, as any Fortran type needs them.
constexpr std::size_t padded(std::size_t bytes) { return (bytes + 15) / 16 * 16; }

void append_padded(Bytes& bytes, const void* from, std::size_t count) {
  append(bytes, from, count);
  bytes.resize(padded(bytes.size()));
}

/// Takes the parts of a call apart, and checks that they are all there.
class Parts {
 public:
  explicit Parts(std::span<std::byte> rest) : rest_(rest) {}
  std::byte* take(std::size_t bytes) {
    if (bytes > rest_.size() || padded(bytes) > rest_.size())
      die("an image made a call that is shorter than it says");
    std::byte* const at = rest_.data();
    rest_ = rest_.subspan(padded(bytes));
    return at;
  }
  /// Copies the next `bytes` bytes, a descriptor, into `array`, and points it to `data`.
  void take_descriptor(std::uint32_t bytes, Descriptor& array, std::byte* data) {
    if (bytes == 0) return;
    if (bytes > sizeof array) die("an image made a call with no descriptor");
    std::memcpy(&array, take(bytes), bytes);
    if (bytes != descriptor_bytes(&array)) die("an image made a call with no descriptor");
    array.data = data;
  }

 private:
  std::span<std::byte> rest_;
};

}  // namespace

std::size_t descriptor_bytes(const Descriptor* array) {
  if (array == nullptr) return 0;
  if (array->rank > kMaxDimensions) die("an array has more than 15 dimensions");
  return offsetof(Descriptor, dim) + array->rank * sizeof(Dimension);
}

std::size_t count_of_all(const Descriptor& array) {
  std::size_t count = 1;
  for (std::size_t d = 0; d < array.rank; ++d) count *= extent_of(array.dim[d]);
  return count;
}

void append(Bytes& bytes, const void* from, std::size_t count) {
  const std::size_t at = bytes.size();
  bytes.resize(at + count);
  if (count != 0) std::memcpy(bytes.data() + at, from, count);
}

Bytes CallMaker::bytes() {
  call.object_descriptor = static_cast<std::uint32_t>(descriptor_bytes(object));
  call.other_descriptor = static_cast<std::uint32_t>(descriptor_bytes(other));
  Bytes made;
  made.reserve(padded(sizeof call) + padded(call.object_descriptor) + padded(call.other_descriptor) +
               padded(call.value_bytes) + padded(call.data_bytes));
  append_padded(made, &call, sizeof call);
  append_padded(made, object, call.object_descriptor);
  append_padded(made, other, call.other_descriptor);
  append_padded(made, value, call.value_bytes);
  append_padded(made, data, call.data_bytes);
  return made;
}

ReceivedCall::ReceivedCall(std::span<std::byte> bytes) {
  Parts parts(bytes);
  std::memcpy(static_cast<void*>(&call), parts.take(sizeof call), sizeof call);
  parts.take_descriptor(call.object_descriptor, object_array, call.object);
  parts.take_descriptor(call.other_descriptor, other_array, nullptr);
  value = parts.take(call.value_bytes);
  data = parts.take(call.data_bytes);
}

Result::Result(const Bytes& answer) {
  if (answer.size() < sizeof head) die("an image returned what has no sense");
  std::memcpy(&head, answer.data(), sizeof head);
  bytes = std::span(answer).subspan(sizeof head);
}

}  // namespace librma::coarrays
