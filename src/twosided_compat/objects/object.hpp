#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "mpi.h"

namespace librma::mpi {

/// The kinds of objects that a program has handles of.
enum class Kind : std::uint32_t {
  kComm = 0x4d504901,  // "MPI" and a number, so that foreign memory is rarely taken for an object
  kGroup,
  kWin,
  kFile,
  kSession,
  kMessage,
  kInfo,
  kErrhandler,
  kRequest,
  kOp,
  kDatatype,
};

/// Returns the kind of the objects behind a type of handle.
[[nodiscard]] constexpr Kind kind_of(MPI_Comm /*handle*/) { return Kind::kComm; }
[[nodiscard]] constexpr Kind kind_of(MPI_Group /*handle*/) { return Kind::kGroup; }
[[nodiscard]] constexpr Kind kind_of(MPI_Win /*handle*/) { return Kind::kWin; }
[[nodiscard]] constexpr Kind kind_of(MPI_File /*handle*/) { return Kind::kFile; }
[[nodiscard]] constexpr Kind kind_of(MPI_Session /*handle*/) { return Kind::kSession; }
[[nodiscard]] constexpr Kind kind_of(MPI_Message /*handle*/) { return Kind::kMessage; }
[[nodiscard]] constexpr Kind kind_of(MPI_Info /*handle*/) { return Kind::kInfo; }
[[nodiscard]] constexpr Kind kind_of(MPI_Errhandler /*handle*/) { return Kind::kErrhandler; }
[[nodiscard]] constexpr Kind kind_of(MPI_Request /*handle*/) { return Kind::kRequest; }
[[nodiscard]] constexpr Kind kind_of(MPI_Op /*handle*/) { return Kind::kOp; }
[[nodiscard]] constexpr Kind kind_of(MPI_Datatype /*handle*/) { return Kind::kDatatype; }

/// Handles below this number are predefined. The zero page ends there, so no object has such an address.
inline constexpr std::uintptr_t kPredefinedEnd = 0x1000;
/// The ABI's own predefined handles are below this number.
inline constexpr std::uintptr_t kPredefinedSize = 0x400;

/// Returns the bits of a handle.
template <class Handle>
[[nodiscard]] std::uintptr_t bits(Handle handle) {
  return reinterpret_cast<std::uintptr_t>(handle);
}
template <class Handle>
[[nodiscard]] bool is_predefined(Handle handle) {
  return bits(handle) < kPredefinedEnd;
}

/// The base of every object that a program has a handle of. The handle is the object's address, or the
/// ABI's number of a predefined object.
class Object {
 public:
  /// Makes an object of the program, or the predefined one whose handle is `predefined`.
  explicit Object(Kind kind, std::uintptr_t predefined = 0)
      : kind_(kind), number_(static_cast<int>(predefined)) {}
  ~Object() {
    kind_ =
        Kind{};  // find() refuses a handle that is used after this, as long as the memory is not in use again
    if (number() >= static_cast<int>(kPredefinedEnd)) forget_number();
  }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] bool is_predefined() const {
    const int number = this->number();
    return number > 0 && number < static_cast<int>(kPredefinedEnd);
  }

  /// Returns the object's handle. `Handle` is the type of handle for the object's kind.
  template <class Handle>
  [[nodiscard]] Handle handle() const {
    return reinterpret_cast<Handle>(is_predefined() ? static_cast<std::uintptr_t>(number()) : bits(this));
  }

  /// Returns the number that stands for the object in Fortran, and draws one at the first call. The number is
  /// the object's until the object is destroyed, and lies outside the predefined ones. Thread-safe.
  [[nodiscard]] int to_number();
  /// Returns the object that has this number, or null.
  [[nodiscard]] static Object* from_number(int number);

 private:
  // Relaxed everywhere: the table of numbers has a lock, and a thread that knows a number was told of it.
  void forget_number();
  [[nodiscard]] int number() const { return number_.load(std::memory_order_relaxed); }

  Kind kind_;
  std::atomic<int> number_;  // 0: none was drawn yet
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

/// The predefined objects that exist, by their handle.
inline constinit std::array<std::atomic<Object*>, kPredefinedSize> predefined_objects = {};

/// Makes `object` the one behind its predefined handle, until it is withdrawn.
void publish_predefined(Object& object);
/// Undoes publish_predefined().
void withdraw_predefined(Object& object);

/// Returns the object behind a handle, or null if the handle is a null handle or that of an object of another
/// kind. A handle that was freed is mostly recognised, but not always: its memory may be in use again.
template <class T, class Handle>
[[nodiscard]] T* find(Handle handle) {
  Object* object = nullptr;
  if (is_predefined(handle)) {
    if (bits(handle) >= kPredefinedSize) return nullptr;
    object =
        predefined_objects[bits(handle)].load(std::memory_order_acquire);  // pairs with publish_predefined()
  } else {
    object = reinterpret_cast<Object*>(handle);
  }
  return object != nullptr && object->kind() == kind_of(Handle{}) ? static_cast<T*>(object) : nullptr;
}

}  // namespace librma::mpi
