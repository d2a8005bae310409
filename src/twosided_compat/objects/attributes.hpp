#pragma once

#include <cstdint>
#include <list>
#include <type_traits>
#include <variant>

#include "mpi.h"
#include "twosided_compat/objects/found.hpp"
#include "util/try_assign.hpp"

namespace librma::mpi {

/// The types of the functions that a program gives to an attribute key, for each kind of object.
template <class Handle>
struct AttributeFunctions;
template <>
struct AttributeFunctions<MPI_Comm> {
  using Copy = MPI_Comm_copy_attr_function;
  using Delete = MPI_Comm_delete_attr_function;
};
template <>
struct AttributeFunctions<MPI_Datatype> {
  using Copy = MPI_Type_copy_attr_function;
  using Delete = MPI_Type_delete_attr_function;
};
template <>
struct AttributeFunctions<MPI_Win> {
  using Copy = MPI_Win_copy_attr_function;
  using Delete = MPI_Win_delete_attr_function;
};

/// The procedures that a Fortran program gives to an attribute key. Int is what they get as values: an
/// integer of address kind, or an INTEGER if MPI_KEYVAL_CREATE has made the key.
template <class Int>
using FortranCopy = void(MPI_Fint* object, MPI_Fint* keyval, Int* extra, Int* in, Int* out, MPI_Fint* flag,
                         MPI_Fint* ierror);
template <class Int>
using FortranDelete = void(MPI_Fint* object, MPI_Fint* keyval, Int* value, Int* extra, MPI_Fint* ierror);

/// The copy and delete functions of any kind of object in any language. They are called as what they are.
using AnyFunction = void (*)();

/// The language whose convention the functions of a key follow: C, or Fortran with one of the two types of
/// values.
enum class KeyLanguage : std::uint8_t { kC, kFortranInteger, kFortranAddress };

/// The value of an attribute as the program has set it: a pointer in C, an INTEGER by MPI_ATTR_PUT in
/// Fortran, or an integer of address kind by Fortran's other calls.
using AttributeValue = std::variant<void*, MPI_Fint, MPI_Aint>;

/// Returns what a C program sees: the pointer that C has set, or the address of the integer that Fortran has
/// set (MPI 4.1, section 19.3.7). The address is good until the attribute is set again or deleted.
inline void* in_c(AttributeValue& value) {
  return std::visit(
      [](auto& held) -> void* {
        if constexpr (std::is_pointer_v<std::remove_reference_t<decltype(held)>>) {
          return held;
        } else {
          return &held;
        }
      },
      value);
}

/// Returns what a Fortran program sees: a pointer's bits, or the integer with its sign.
inline MPI_Aint in_fortran(const AttributeValue& value) {
  return std::visit(
      [](const auto& held) {
        if constexpr (std::is_pointer_v<std::remove_cvref_t<decltype(held)>>) {
          return reinterpret_cast<MPI_Aint>(held);
        } else {
          return static_cast<MPI_Aint>(held);
        }
      },
      value);
}

/// The attributes that a program has attached to one object (MPI 4.1, section 7.7), in the order in which it
/// first set them. `Handle` is the type of the object's handle. The object's user does not set and read them
/// at the same time.
template <class Handle>
class AttributesOf {
 public:
  AttributesOf() = default;
  ~AttributesOf();
  AttributesOf(const AttributesOf&) = delete;
  AttributesOf& operator=(const AttributesOf&) = delete;

  /// Returns the value of an attribute, or null if it is not set.
  [[nodiscard]] AttributeValue* find(int keyval);
  /// Sets an attribute. Deletes the value that it had.
  [[nodiscard]] int set(Handle object, int keyval, const AttributeValue& value);
  /// Does what MPI_X_get_attr does for attributes that the program has set.
  [[nodiscard]] int get(int keyval, void* value, int* flag);
  /// Does what get() does, for a Fortran program.
  [[nodiscard]] int get_in_fortran(int keyval, MPI_Aint* value, int* flag);
  /// Calls the delete function of an attribute and takes it out. MPI_ERR_KEYVAL if it is not set; the code of
  /// a delete function that fails, which keeps the attribute.
  [[nodiscard]] int remove(Handle object, int keyval);
  /// Removes all, the last one first. Stops at the first failure.
  [[nodiscard]] int remove_all(Handle object);
  /// Copies the attributes of `parent` as their copy functions say. Stops at the first failure.
  [[nodiscard]] int copy_from(AttributesOf& parent, Handle object);

 private:
  struct Attribute {
    int keyval = MPI_KEYVAL_INVALID;
    AttributeValue value;
  };
  std::list<Attribute> all_;  // C programs have the addresses of values
};

/// The attributes of a communicator.
using Attributes = AttributesOf<MPI_Comm>;
/// The attributes of a datatype.
using TypeAttributes = AttributesOf<MPI_Datatype>;

/// Whether the number is one of the ABI's attribute keys, and no key that a program has made.
[[nodiscard]] bool is_predefined_key(int keyval);

/// Makes a key for attributes of one kind of object. The key is no key for other kinds.
template <class Handle>
[[nodiscard]] int create_key(typename AttributeFunctions<Handle>::Copy* copy,
                             typename AttributeFunctions<Handle>::Delete* remove, int* keyval, void* extra);
/// Makes a key from Fortran procedures. A null pointer stands for MPI_X_NULL_COPY_FN and
/// MPI_X_NULL_DELETE_FN, and MPI_COMM_DUP_FN for MPI_X_DUP_FN.
template <class Handle>
[[nodiscard]] int create_key(AnyFunction copy, AnyFunction remove, int* keyval, MPI_Aint extra,
                             KeyLanguage language);
/// Frees a key. Attributes with it stay.
template <class Handle>
[[nodiscard]] int free_key(int* keyval);

/// Set and delete an attribute of the object that `find` finds.
template <class Handle, class Owner>
[[nodiscard]] int set_attribute(Found<Owner> (&find)(Handle), Handle handle, int keyval, void* value) {
  RMA_TRY_ASSIGN(object, find(handle));
  return object->attributes.set(handle, keyval, value);
}
template <class Handle, class Owner>
[[nodiscard]] int delete_attribute(Found<Owner> (&find)(Handle), Handle handle, int keyval) {
  RMA_TRY_ASSIGN(object, find(handle));
  return object->attributes.remove(handle, keyval);
}

}  // namespace librma::mpi
