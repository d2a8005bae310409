#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "mpi.h"
#include "twosided_compat/objects/handles.hpp"

namespace librma::mpi {

/// The base of every object that a program has a handle of. The handle is the object's address, or an integer
/// with its number, or that of a predefined object (handles.hpp).
class Object {
 public:
  /// Makes an object of the program, or the predefined one whose number is `predefined`.
  explicit Object(Kind kind, std::uintptr_t predefined = 0)
      : head_{.kind = kind, .number = static_cast<int>(predefined)} {}
  ~Object() {
    // find() refuses a handle that is used after this, as long as the memory is not in use again.
    head_.kind = Kind{};
    if (has_drawn_number()) forget_number();
  }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  [[nodiscard]] Kind kind() const { return head_.kind; }
  [[nodiscard]] bool is_predefined() const {
    const int number = this->number();
    return number > 0 && number < static_cast<int>(kPredefinedEnd);
  }

  /// Returns whether to_number() has drawn a number.
  [[nodiscard]] bool has_drawn_number() const { return number() >= static_cast<int>(kPredefinedEnd); }
  /// Returns whether this is an object of the kind and to_number() has drawn no number for it. The caller
  /// ends the object, so no other thread draws one meanwhile. This is one comparison.
  [[nodiscard, gnu::always_inline]] bool is_unnumbered(Kind kind) const {
    return std::bit_cast<std::uint64_t>(head_) ==
           std::bit_cast<std::uint64_t>(Head{.kind = kind, .number = 0});
  }
  /// Returns the object's handle. `Handle` is the type of handle for the object's kind.
  template <class Handle>
  [[nodiscard]] Handle handle() const {
    if (is_predefined()) return predefined_handle<Handle>(static_cast<std::uintptr_t>(number()));
    return made_handle<Handle>();
  }
  /// Returns the same for an object that is not predefined.
  template <class Handle>
  [[nodiscard]] Handle made_handle() const {
    if constexpr (kIsAddress<Handle>) {
      return reinterpret_cast<Handle>(bits(this));
    } else {
      return integer_handle<Handle>(to_number());
    }
  }

  /// Returns the number that stands for the object in handles that are integers, and draws one at the first
  /// call. The number is the object's until the object is destroyed, and lies outside the predefined ones.
  /// Thread-safe. Throws std::bad_alloc if no memory or number is left.
  [[nodiscard]] int to_number() const;
  /// Returns the object that has drawn this number, or null. Takes no lock.
  [[nodiscard]] static Object* from_number(int number);

 private:
  // Relaxed everywhere: the table of numbers has a lock, and a thread that knows a number was told of it.
  void forget_number();
  [[nodiscard]] int number() const { return __atomic_load_n(&head_.number, __ATOMIC_RELAXED); }

  struct Head {
    Kind kind;
    int number;  ///< 0: none was drawn yet. Other threads may draw it, so it is loaded and stored atomically.
  };
  mutable Head head_;
};

/// An object with references: the program's handle is one, and everything that needs the object longer holds
/// another. The object is deleted with the last of them. `T` is the class that derives from this.
template <class T>
class Counted : public Object {
 public:
  using Object::Object;  // the maker holds the one reference
  void add_reference() { references_.fetch_add(1, std::memory_order_relaxed); }
  void remove_reference() {
    // The decrements are one chain: the thread that deletes sees what the others did with the object.
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete static_cast<T*>(this);
  }

 private:
  std::atomic<int> references_ = 1;
};

/// The predefined objects that exist, by their number. There is room for all numbers below kPredefinedEnd,
/// though none lies above kPredefinedSize: so a handle is compared with one bound, and not with two.
inline constinit std::array<std::atomic<Object*>, kPredefinedEnd> predefined_objects = {};

/// The objects that have drawn a number, by their number: parts of a table, each made when its first number
/// is drawn, and kept.
inline constexpr std::size_t kNumbersAtOnce = 0x1000;
inline constexpr std::size_t kNumbersEnd = 0x4000000;
using NumberedObjects = std::array<std::atomic<Object*>, kNumbersAtOnce>;
inline constinit std::array<std::atomic<NumberedObjects*>, kNumbersEnd / kNumbersAtOnce> numbered_objects =
    {};

/// Makes `object` the one behind its predefined handle, until it is withdrawn.
void publish_predefined(Object& object);
/// Undoes publish_predefined().
void withdraw_predefined(Object& object);

inline Object* Object::from_number(int number) {
  const auto place = static_cast<std::size_t>(number);
  if (place < kPredefinedEnd || place >= kNumbersEnd) return nullptr;  // negative ones are large, too
  // Both pair with to_number(), which stores the object last.
  const NumberedObjects* const objects =
      numbered_objects[place / kNumbersAtOnce].load(std::memory_order_acquire);
  return objects != nullptr ? (*objects)[place % kNumbersAtOnce].load(std::memory_order_acquire) : nullptr;
}

/// Returns the object behind a handle, or null if the handle is a null handle or that of an object of another
/// kind. A handle that was freed is mostly recognised, but not always: its memory may be in use again.
template <class T, class Handle>
[[nodiscard, gnu::always_inline]] inline T* find(Handle handle) {
  Object* object = nullptr;
  const std::uintptr_t number = predefined_number(handle);
  if (number < kPredefinedEnd) {
    // There are no predefined windows.
    if constexpr (kind_of(Handle{}) == Kind::kWin) return nullptr;
    object = predefined_objects[number].load(std::memory_order_acquire);  // pairs with publish_predefined()
  } else if constexpr (kIsAddress<Handle>) {
    object = reinterpret_cast<Object*>(handle);
  } else {
    object = Object::from_number(static_cast<int>(number));
  }
  return object != nullptr && object->kind() == kind_of(Handle{}) ? static_cast<T*>(object) : nullptr;
}

}  // namespace librma::mpi
