#include "coarrays/accessors/runs.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <deque>

#include "coarrays/accessors/entry_points.hpp"
#include "coarrays/memory.hpp"
#include "coarrays/outcome.hpp"

namespace librma::coarrays {
namespace {

/// The knowledge that an image has of an accessor after running it. The compiler's accessors make their calls
/// in front of all other statements, so each run makes as many.
enum class Manner : std::uint8_t { unknown, alone, nests };

struct Accessor {
  Accessor(int hashed, void (*function)()) : hash(hashed), run(function) {}
  int hash;
  void (*run)();
  std::atomic<Manner> manner = Manner::unknown;  // relaxed: a thread that reads an old value is as right
};

/// All accessors in the order of registration, and by their hashes. Handlers may use them until the job ends.
std::deque<Accessor>& registered() {
  static auto* const all = new std::deque<Accessor>;
  return *all;
}
std::vector<Accessor*>& accessors() {
  static auto* const all = new std::vector<Accessor*>;
  return *all;
}

/// The accessor that this thread runs.
thread_local Accessor* running = nullptr;
thread_local bool made_call = false;

Accessor& accessor_of(const Call& call) {
  if (static_cast<std::size_t>(call.accessor) >= accessors().size()) die("an image called no accessor");
  return *accessors()[static_cast<std::size_t>(call.accessor)];
}

Bytes run_getter(Getter getter, ReceivedCall& received, int caller, Coarray& token) {
  const Call& call = received.call;
  Descriptor* const result_array = received.other();
  void* scalar = nullptr;
  std::int32_t allocated = 0;
  std::size_t length = call.other_length;
  void** const result = result_array != nullptr ? reinterpret_cast<void**>(result_array) : &scalar;
  getter(received.data, &caller, result, &allocated, received.object(), &token, 0, &length,
         &call.object_length);

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

Bytes run_presence(Presence accessor, ReceivedCall& received, int caller, Coarray& token) {
  std::int32_t present = 0;
  accessor(received.data, &caller, &present, received.object(), &token, 0);
  Bytes answer;
  append(answer, &present, sizeof present);
  return answer;
}

void run_setter(Setter accessor, ReceivedCall& received, int caller, Coarray& token) {
  Descriptor* const array = received.other();
  if (array != nullptr) array->data = received.value;
  accessor(received.data, &caller, received.object(),
           array != nullptr ? static_cast<const void*>(array) : received.value, &token, 0,
           &received.call.object_length, &received.call.other_length);
}

Bytes run_accessor(const Accessor& accessor, ReceivedCall& received, int caller) {
  // By this token the accessor asks its caller for more data: of an array, its own data have a descriptor
  // only.
  Coarray token;
  token.mine = received.call.callers_data;
  switch (received.call.kind) {
    case Call::kGet:
      return run_getter(reinterpret_cast<Getter>(accessor.run), received, caller, token);
    case Call::kPresent:
      return run_presence(reinterpret_cast<Presence>(accessor.run), received, caller, token);
    case Call::kSet:
      run_setter(reinterpret_cast<Setter>(accessor.run), received, caller, token);
      return {};
  }
  die("an image made a call of no kind");
}

}  // namespace

void add_accessor(int hash, void (*run)()) { registered().emplace_back(hash, run); }

void sort_accessors() {
  accessors().clear();
  for (Accessor& accessor : registered()) accessors().push_back(&accessor);
  std::ranges::sort(accessors(), {}, [](const Accessor* accessor) { return accessor->hash; });
}

int accessor_index(int hash) {
  const auto found = std::ranges::lower_bound(accessors(), hash, {},
                                              [](const Accessor* accessor) { return accessor->hash; });
  if (found == accessors().end() || (*found)->hash != hash) return -1;
  return static_cast<int>(found - accessors().begin());
}

Bytes run_call(std::span<std::byte> bytes, int caller) {
  ReceivedCall received(bytes);
  Accessor& accessor = accessor_of(received.call);
  Accessor* const outer = running;
  const bool outer_made_call = made_call;
  running = &accessor;
  made_call = false;
  Bytes answer = run_accessor(accessor, received, caller);
  accessor.manner.store(made_call ? Manner::nests : Manner::alone, std::memory_order_relaxed);
  running = outer;
  made_call = outer_made_call;
  return answer;
}

bool may_run_in_handler(std::span<const std::byte> bytes) {
  Call call;
  if (bytes.size() < sizeof call) return true;  // run_call() refuses it
  std::memcpy(static_cast<void*>(&call), bytes.data(), sizeof call);
  if ((call.flags & Call::kNested) != 0) return true;
  return accessor_of(call).manner.load(std::memory_order_relaxed) == Manner::alone;
}

bool runs_accessor() { return running != nullptr; }
void note_nested_call() { made_call = true; }

}  // namespace librma::coarrays
