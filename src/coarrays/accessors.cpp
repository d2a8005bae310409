// Coindexed objects by accessors: what gfortran calls from version 15 on.

#include "coarrays/accessors.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "coarrays/accessor_calls.hpp"
#include "coarrays/images.hpp"
#include "coarrays/memory.hpp"
#include "coarrays/outcome.hpp"
#include "coarrays/section.hpp"

namespace librma::coarrays {
namespace {

using Bytes = std::vector<std::byte>;

struct Accessor {
  int hash;
  void (*run)();  ///< a Getter, Presence or Setter: the compiler knows which
};
/// All accessors of the program, sorted by their hashes, so that an index means the same on all images.
std::vector<Accessor>& accessors() {
  static auto* const all = new std::vector<Accessor>;  // handlers may use it until the job ends
  return *all;
}
bool serving = false;

/// A call of an accessor. Behind it come the descriptors of the object and of the value or result, if there
/// are any, then the value, then the accessor's data.
struct Call {
  enum Kind : std::uint32_t { kGet, kPresent, kSet };
  enum Flag : std::uint32_t { kCharacters = 1, kReallocates = 2 };
  Kind kind = kGet;
  std::uint32_t flags = 0;
  std::int32_t accessor = -1;
  std::uint32_t object_descriptor = 0;  ///< bytes; 0: none
  std::uint32_t other_descriptor = 0;
  std::uint32_t reserved = 0;
  std::byte* object = nullptr;  ///< of the image that runs the accessor
  std::size_t object_length = 0;
  std::size_t other_length = 1;
  std::size_t element_bytes = 0;  ///< of a character if the type is that, else of the whole result
  std::size_t value_bytes = 0;
  std::size_t data_bytes = 0;
};

/// In front of the result of a getter.
struct Got {
  std::size_t length = 0;
  std::size_t bytes = 0;
  Descriptor array;  ///< only if it was asked for
};

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
/// The parts of a call begin at multiples of 16 bytes, as any Fortran type needs them.
constexpr std::size_t padded(std::size_t bytes) { return (bytes + 15) / 16 * 16; }
void append_padded(Bytes& bytes, const void* from, std::size_t count) {
  append(bytes, from, count);
  bytes.resize(padded(bytes.size()));
}

/// Takes the parts of a call apart, and checks that they are all there.
class Reader {
 public:
  explicit Reader(std::span<std::byte> rest) : rest_(rest) {}
  std::byte* take(std::size_t bytes) {
    if (bytes > rest_.size() || padded(bytes) > rest_.size())
      die("an image made a call that is shorter than it says");
    std::byte* const at = rest_.data();
    rest_ = rest_.subspan(padded(bytes));
    return at;
  }
  /// Copies the next `bytes` bytes, a descriptor, into `array`, and points it to `data`. Returns `array`, or
  /// null if `bytes` is 0.
  Descriptor* take_descriptor(std::uint32_t bytes, Descriptor& array, std::byte* data) {
    if (bytes == 0) return nullptr;
    if (bytes > sizeof array) die("an image made a call with no descriptor");
    std::memcpy(&array, take(bytes), bytes);
    if (bytes != descriptor_bytes(&array)) die("an image made a call with no descriptor");
    array.data = data;
    return &array;
  }

 private:
  std::span<std::byte> rest_;
};

Bytes run_getter(const Call& call, int caller, void* object, Descriptor* result_array, void* data,
                 Coarray& token) {
  void* scalar = nullptr;
  std::int32_t allocated = 0;
  std::size_t length = call.other_length;
  void** const result = result_array != nullptr ? reinterpret_cast<void**>(result_array) : &scalar;
  const auto getter = reinterpret_cast<Getter>(accessors()[static_cast<std::size_t>(call.accessor)].run);
  getter(data, &caller, result, &allocated, object, &token, 0, &length, &call.object_length);

  Got got = {.length = length, .bytes = call.element_bytes, .array = {}};
  const bool characters = (call.flags & Call::kCharacters) != 0;
  if (characters || result_array == nullptr) got.bytes *= length;
  if (result_array != nullptr) {
    scalar = result_array->data;
    const bool reallocates = (call.flags & Call::kReallocates) != 0;
    if (reallocates) got.bytes = static_cast<std::size_t>(result_array->span);
    if (characters || reallocates) got.bytes *= count_of_all(*result_array);
    got.array = *result_array;
  }
  Bytes answer;
  answer.reserve(sizeof got + got.bytes);
  append(answer, &got, sizeof got);
  if (scalar != nullptr) append(answer, scalar, got.bytes);
  if (allocated != 0) std::free(scalar);
  return answer;
}

/// Runs a call at the image that has the object.
Bytes run_call(std::span<std::byte> bytes, int caller) {
  Reader reader(bytes);
  Call call;
  std::memcpy(static_cast<void*>(&call), reader.take(sizeof call), sizeof call);
  if (static_cast<std::size_t>(call.accessor) >= accessors().size()) die("an image called no accessor");
  Descriptor object_array = {};
  Descriptor other_array = {};
  Descriptor* const object_descriptor =
      reader.take_descriptor(call.object_descriptor, object_array, call.object);
  Descriptor* const other = reader.take_descriptor(call.other_descriptor, other_array, nullptr);
  std::byte* const value = reader.take(call.value_bytes);
  std::byte* const data = reader.take(call.data_bytes);
  void* const object = object_descriptor != nullptr ? static_cast<void*>(object_descriptor) : call.object;
  Coarray token;
  token.mine = data;

  switch (call.kind) {
    case Call::kGet:
      return run_getter(call, caller, object, other, data, token);
    case Call::kPresent: {
      std::int32_t present = 0;
      const auto accessor =
          reinterpret_cast<Presence>(accessors()[static_cast<std::size_t>(call.accessor)].run);
      accessor(data, &caller, &present, object, &token, 0);
      Bytes answer;
      append(answer, &present, sizeof present);
      return answer;
    }
    case Call::kSet: {
      if (other != nullptr) other->data = value;
      const auto accessor =
          reinterpret_cast<Setter>(accessors()[static_cast<std::size_t>(call.accessor)].run);
      accessor(data, &caller, object, other != nullptr ? static_cast<const void*>(other) : value, &token, 0,
               &call.object_length, &call.other_length);
      return {};
    }
  }
  die("an image made a call of no kind");
}

/// The object of a statement.
struct Object {
  const Coarray* token;
  const Descriptor* array;
  const std::size_t* length;
  int image;
  Team** team;
  int* team_number;
};

/// Returns the world rank of the image, or -1.
int rank_of(const Object& object) {
  const Team* team = current.team;
  if (object.team != nullptr && *object.team != nullptr) team = *object.team;
  if (object.team_number != nullptr) {
    while (team != nullptr && team->number != *object.team_number) team = team->parent;
  }
  const auto place = static_cast<std::size_t>(object.image) - 1;
  return team != nullptr && place < team->ranks.size() ? team->ranks[place] : -1;
}

/// Makes the bytes of a call. `other` is the descriptor of the value or the result.
struct Maker {
  Call call;
  const Descriptor* object;
  const Descriptor* other;
  const void* value;
  const void* data;

  [[nodiscard]] Bytes bytes() {
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
};

/// Runs the call at the object's image. Reports how it ended. Returns whether there is an answer.
bool run_there(const Object& object, Maker& maker, Bytes& answer, const Outcome& outcome) {
  const int rank = rank_of(object);
  if (rank < 0) {
    refuse_image(outcome, object.image);
    return false;
  }
  const Coarray& coarray = *object.token;
  maker.call.object =
      coarray.places.empty() ? coarray.mine : coarray.places[static_cast<std::size_t>(rank)].there;
  maker.call.object_length = object.length != nullptr ? *object.length : 0;
  Bytes call = maker.bytes();
  if (rank == rma_rank()) {
    answer = run_call(call, rank + 1);
    outcome.succeed();
    return true;
  }
  return outcome.report(call_at(rank, call, answer));
}

/// The answer to a call of a getter: its head, and the bytes of the result.
struct Result {
  Got head;
  std::span<const std::byte> bytes;

  explicit Result(const Bytes& answer) {
    if (answer.size() < sizeof head) die("an image returned what has no sense");
    std::memcpy(&head, answer.data(), sizeof head);
    bytes = std::span(answer).subspan(sizeof head);
  }
};

/// Makes `*memory` as long as the result, and copies that there.
void copy_reallocated(const Result& result, void** memory) {
  void* const larger = std::realloc(*memory, std::max<std::size_t>(result.bytes.size(), 1));
  if (larger == nullptr) die("no memory is left for the result of a coindexed object");
  *memory = larger;
  if (!result.bytes.empty()) std::memcpy(larger, result.bytes.data(), result.bytes.size());
}

/// The arguments of an accessor that gets.
struct Get {
  std::size_t bytes;
  std::size_t* length;
  Descriptor* array;
  bool may_reallocate;
  int accessor;
  void* data;
  std::size_t data_bytes;
};

bool get_there(const Object& object, const Get& get, Bytes& answer, const Outcome& outcome) {
  const bool characters = object.length != nullptr;
  Maker maker = {.call = {.kind = Call::kGet,
                          .flags = (characters ? Call::kCharacters : 0U) |
                                   (get.array != nullptr && get.may_reallocate ? Call::kReallocates : 0U),
                          .accessor = get.accessor,
                          .other_length = get.length != nullptr ? *get.length : 1,
                          .element_bytes = get.bytes,
                          .data_bytes = get.data_bytes},
                 .object = object.array,
                 .other = get.array,
                 .value = nullptr,
                 .data = get.data};
  return run_there(object, maker, answer, outcome);
}

}  // namespace

void caf_register_accessor(int hash, Getter accessor) {
  accessors().push_back({.hash = hash, .run = reinterpret_cast<void (*)()>(accessor)});
}

// Each image comes here before it makes a call, and nobody makes one before all have come.
void caf_register_accessors_finish() {
  start();
  std::ranges::sort(accessors(), {}, &Accessor::hash);
  if (!serving) {
    serving = true;
    serve_calls(run_call);
  } else {
    require(rma_barrier(rma_team_world()));
  }
}

int caf_get_remote_function_index(int hash) {
  const auto found = std::ranges::lower_bound(accessors(), hash, {}, &Accessor::hash);
  if (found == accessors().end() || found->hash != hash) return -1;
  return static_cast<int>(found - accessors().begin());
}

void caf_get_from_remote(const Coarray* token, const Descriptor* object, const std::size_t* object_length,
                         int image, std::size_t bytes, void** result, std::size_t* result_length,
                         Descriptor* result_array, bool may_reallocate, int accessor, void* data,
                         std::size_t data_bytes, int* stat, Team** team, int* team_number) {
  const Outcome outcome{.stat = stat};
  Bytes answer;
  if (!get_there({token, object, object_length, image, team, team_number},
                 {bytes, result_length, result_array, may_reallocate, accessor, data, data_bytes}, answer,
                 outcome)) {
    return;
  }
  const Result got(answer);
  if (result_array != nullptr && may_reallocate) {
    void* memory = result_array->data;
    copy_reallocated(got, &memory);
    std::memcpy(result_array, &got.head.array, descriptor_bytes(&got.head.array));
    result_array->data = static_cast<std::byte*>(memory);
    if (result != nullptr) *result = memory;
  } else if (result_array == nullptr && may_reallocate && result_length != nullptr) {
    copy_reallocated(got, result);
  } else if (!got.bytes.empty()) {
    std::memcpy(result_array != nullptr ? result_array->data : *result, got.bytes.data(), got.bytes.size());
  }
  if (result_length != nullptr) *result_length = got.head.length;
}

std::int32_t caf_is_present_on_remote(const Coarray* token, int image, int accessor, void* data,
                                      std::size_t data_bytes) {
  if (token == nullptr) return 0;  // never allocated
  Maker maker = {.call = {.kind = Call::kPresent, .accessor = accessor, .data_bytes = data_bytes},
                 .object = nullptr,
                 .other = nullptr,
                 .value = nullptr,
                 .data = data};
  Bytes answer;
  std::int32_t present = 0;
  if (run_there({token, nullptr, nullptr, image, nullptr, nullptr}, maker, answer, {}) &&
      answer.size() == sizeof present) {
    std::memcpy(&present, answer.data(), sizeof present);
  }
  return present;
}

void caf_send_to_remote(const Coarray* token, Descriptor* object, const std::size_t* object_length, int image,
                        std::size_t bytes, const void* value, const std::size_t* value_length,
                        const Descriptor* value_array, int accessor, void* data, std::size_t data_bytes,
                        int* stat, Team** team, int* team_number) {
  const bool characters = value_length != nullptr;
  std::size_t value_bytes = bytes * (characters ? *value_length : 1);
  if (characters && value_array != nullptr) value_bytes *= count_of_all(*value_array);
  Maker maker = {.call = {.kind = Call::kSet,
                          .flags = characters ? Call::kCharacters : 0U,
                          .accessor = accessor,
                          .other_length = characters ? *value_length : 0,
                          .value_bytes = value_bytes,
                          .data_bytes = data_bytes},
                 .object = object,
                 .other = value_array,
                 .value = value_array != nullptr ? value_array->data : value,
                 .data = data};
  Bytes answer;
  static_cast<void>(
      run_there({token, object, object_length, image, team, team_number}, maker, answer, {.stat = stat}));
}

void caf_transfer_between_remotes(const Coarray* dst_token, Descriptor* dst, std::size_t* dst_length,
                                  int dst_image, int dst_accessor, void* dst_data, std::size_t dst_data_bytes,
                                  const Coarray* src_token, const Descriptor* src,
                                  const std::size_t* src_length, int src_image, int src_accessor,
                                  void* src_data, std::size_t src_data_bytes, std::size_t bytes, bool scalar,
                                  int* dst_stat, int* src_stat, Team** dst_team, int* dst_team_number,
                                  Team** src_team, int* src_team_number) {
  Descriptor between = {};
  Bytes answer;
  if (!get_there(
          {src_token, src, src_length, src_image, src_team, src_team_number},
          {bytes, dst_length, scalar ? nullptr : &between, !scalar, src_accessor, src_data, src_data_bytes},
          answer, {.stat = src_stat})) {
    return;
  }
  const Result got(answer);
  between = got.head.array;
  between.data = const_cast<std::byte*>(got.bytes.data());
  const bool characters = src_length != nullptr;
  Maker maker = {.call = {.kind = Call::kSet,
                          .flags = characters ? Call::kCharacters : 0U,
                          .accessor = dst_accessor,
                          .other_length = characters ? got.head.length : 0,
                          .value_bytes = got.bytes.size(),
                          .data_bytes = dst_data_bytes},
                 .object = dst,
                 .other = scalar ? nullptr : &between,
                 .value = got.bytes.data(),
                 .data = dst_data};
  Bytes done;
  static_cast<void>(run_there({dst_token, dst, dst_length, dst_image, dst_team, dst_team_number}, maker, done,
                              {.stat = dst_stat}));
}

}  // namespace librma::coarrays
