// Attributes of objects and their keys.

#include "twosided_compat/objects/attributes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "rma/rma.h"
#include "twosided_compat/calls.hpp"
#include "twosided_compat/objects/errors.hpp"
#include "util/try.hpp"

namespace librma::mpi {
namespace {

/// The program's keys have these numbers and those above.
constexpr int kFirstKey = 0x1000;

/// A key of the program. It lives while the program has not freed it, or an object has an attribute with it.
struct Key {
  Kind kind;  // of the objects whose attributes it is for
  AnyFunction copy = nullptr;
  AnyFunction remove = nullptr;
  void* extra = nullptr;
  KeyLanguage language = KeyLanguage::kC;
  int uses = 1;  // the program's, and one for each attribute
  bool freed = false;
};

struct Keys {
  std::mutex lock;  // guards the rest
  std::vector<Key> all;
  std::deque<int> ended;  // places of keys that are in use no more, in the order of their ends
};

/// A key's number is given out again when this many keys have ended after it. So a program that uses a freed
/// key mostly gets an error.
constexpr std::size_t kEndedKeys = 1024;

/// Counts a use of a key that has ended. The caller holds the lock.
void end_use(Keys& table, int place) {
  if (--table.all[static_cast<std::size_t>(place)].uses == 0) table.ended.push_back(place);
}

/// Returns the one table. It is never destroyed, because objects may be freed by the program's own
/// destructors.
Keys& keys() {
  static Keys* const kKeys = new Keys;
  return *kKeys;
}

int bad_key(int keyval) {
  return failure(MPI_ERR_KEYVAL, fmt::format("there is no attribute key {}", keyval));
}

/// Returns a key that is in use for this kind of object, or no value.
template <class Handle>
std::optional<Key> key_of(int keyval) {
  Keys& table = keys();
  const std::lock_guard guard(table.lock);
  const auto place = static_cast<std::size_t>(keyval - kFirstKey);
  if (keyval < kFirstKey || place >= table.all.size()) return std::nullopt;
  const Key& key = table.all[place];
  return key.uses != 0 && key.kind == kind_of(Handle{}) ? std::optional(key) : std::nullopt;
}

int number_of(MPI_Comm comm) { return comm_toint(comm); }
int number_of(MPI_Datatype type) { return type_toint(type); }
int number_of(MPI_Win win) { return win_toint(win); }

template <class Int>
Int extra_in_fortran(const Key& key) {
  return static_cast<Int>(reinterpret_cast<MPI_Aint>(key.extra));
}

template <class Int, class Handle>
int delete_in_fortran(const Key& key, Handle object, int keyval, const AttributeValue& value) {
  MPI_Fint number = number_of(object);
  Int extra = extra_in_fortran<Int>(key);
  auto seen = static_cast<Int>(in_fortran(value));
  MPI_Fint ierror = MPI_SUCCESS;
  reinterpret_cast<FortranDelete<Int>*>(key.remove)(&number, &keyval, &seen, &extra, &ierror);
  return ierror;
}

/// Calls the delete function of an attribute, if it has one.
template <class Handle>
int delete_value(const Key& key, Handle object, int keyval, AttributeValue& value) {
  if (key.remove == nullptr) return MPI_SUCCESS;  // MPI_X_NULL_DELETE_FN
  switch (key.language) {
    case KeyLanguage::kFortranInteger:
      return delete_in_fortran<MPI_Fint>(key, object, keyval, value);
    case KeyLanguage::kFortranAddress:
      return delete_in_fortran<MPI_Aint>(key, object, keyval, value);
    case KeyLanguage::kC:
      break;
  }
  using Delete = typename AttributeFunctions<Handle>::Delete;
  return reinterpret_cast<Delete*>(key.remove)(object, keyval, in_c(value), key.extra);
}

template <class Int, class Handle>
int copy_in_fortran(const Key& key, Handle object, int keyval, const AttributeValue& value,
                    AttributeValue& copy, int& copied) {
  MPI_Fint number = number_of(object);
  Int extra = extra_in_fortran<Int>(key);
  auto seen = static_cast<Int>(in_fortran(value));
  Int made = 0;
  MPI_Fint ierror = MPI_SUCCESS;
  reinterpret_cast<FortranCopy<Int>*>(key.copy)(&number, &keyval, &extra, &seen, &made, &copied, &ierror);
  copy = made;
  return ierror;
}

/// Calls the copy function of an attribute, and says whether it has made a copy. The copy is a value of the
/// function's language, unless the function returns what it has got.
template <class Handle>
int copy_value(const Key& key, Handle object, int keyval, AttributeValue& value, AttributeValue& copy,
               int& copied) {
  copied = 0;
  if (key.copy == nullptr) return MPI_SUCCESS;                       // MPI_X_NULL_COPY_FN
  if (key.copy == reinterpret_cast<AnyFunction>(MPI_COMM_DUP_FN)) {  // 1 for every kind
    copy = value;
    copied = 1;
    return MPI_SUCCESS;
  }
  switch (key.language) {
    case KeyLanguage::kFortranInteger:
      return copy_in_fortran<MPI_Fint>(key, object, keyval, value, copy, copied);
    case KeyLanguage::kFortranAddress:
      return copy_in_fortran<MPI_Aint>(key, object, keyval, value, copy, copied);
    case KeyLanguage::kC:
      break;
  }
  using Copy = typename AttributeFunctions<Handle>::Copy;
  void* const seen = in_c(value);
  void* made = seen;
  const int code =
      reinterpret_cast<Copy*>(key.copy)(object, keyval, key.extra, seen, static_cast<void*>(&made), &copied);
  // The address of an integer that Fortran has set would end with the object that is copied.
  copy = made == seen ? value : AttributeValue(made);
  return code;
}

void count_use(int keyval, int difference) {
  Keys& table = keys();
  const std::lock_guard guard(table.lock);
  if (difference < 0) return end_use(table, keyval - kFirstKey);
  table.all[static_cast<std::size_t>(keyval - kFirstKey)].uses += difference;
}

}  // namespace

bool is_predefined_key(int keyval) {
  // MPICH's keys are far above those of a program; others are below.
  return MPI_TAG_UB > kFirstKey ? keyval >= MPI_TAG_UB : keyval > MPI_KEYVAL_INVALID && keyval < kFirstKey;
}

template <class Handle>
AttributesOf<Handle>::~AttributesOf() {
  for (const Attribute& attribute : all_) count_use(attribute.keyval, -1);
}

template <class Handle>
AttributeValue* AttributesOf<Handle>::find(int keyval) {
  const auto found = std::ranges::find(all_, keyval, &Attribute::keyval);
  return found != all_.end() ? &found->value : nullptr;
}

template <class Handle>
int AttributesOf<Handle>::set(Handle object, int keyval, const AttributeValue& value) {
  const std::optional<Key> key = key_of<Handle>(keyval);
  if (!key || key->freed) return bad_key(keyval);
  if (AttributeValue* const there = find(keyval); there != nullptr) {
    RMA_TRY(delete_value(*key, object, keyval, *there));
    *find(keyval) = value;
    return MPI_SUCCESS;
  }
  all_.push_back({.keyval = keyval, .value = value});
  count_use(keyval, 1);
  return MPI_SUCCESS;
}

template <class Handle>
int AttributesOf<Handle>::get(int keyval, void* value, int* flag) {
  if (!key_of<Handle>(keyval)) return bad_key(keyval);
  AttributeValue* const found = find(keyval);
  *flag = found != nullptr ? 1 : 0;
  if (found != nullptr) *static_cast<void**>(value) = in_c(*found);
  return MPI_SUCCESS;
}

template <class Handle>
int AttributesOf<Handle>::get_in_fortran(int keyval, MPI_Aint* value, int* flag) {
  if (!key_of<Handle>(keyval)) return bad_key(keyval);
  const AttributeValue* const found = find(keyval);
  *flag = found != nullptr ? 1 : 0;
  if (found != nullptr) *value = in_fortran(*found);
  return MPI_SUCCESS;
}

template <class Handle>
int AttributesOf<Handle>::remove(Handle object, int keyval) {
  const std::optional<Key> key = key_of<Handle>(keyval);
  AttributeValue* const value = find(keyval);
  if (!key || value == nullptr) return bad_key(keyval);
  RMA_TRY(delete_value(*key, object, keyval, *value));
  std::erase_if(all_, [&](const Attribute& attribute) { return attribute.keyval == keyval; });
  count_use(keyval, -1);
  return MPI_SUCCESS;
}

template <class Handle>
int AttributesOf<Handle>::remove_all(Handle object) {
  while (!all_.empty()) {
    RMA_TRY(remove(object, all_.back().keyval));
  }
  return MPI_SUCCESS;
}

template <class Handle>
int AttributesOf<Handle>::copy_from(AttributesOf& parent, Handle object) {
  std::vector<int> keyvals;  // a copy function may change the parent's attributes
  for (const Attribute& attribute : parent.all_) keyvals.push_back(attribute.keyval);
  for (const int keyval : keyvals) {
    AttributeValue* const value = parent.find(keyval);
    const std::optional<Key> key = key_of<Handle>(keyval);
    if (value == nullptr || !key) continue;
    AttributeValue copy;
    int copied = 0;
    RMA_TRY(copy_value(*key, object, keyval, *value, copy, copied));
    if (copied == 0) continue;
    all_.push_back({.keyval = keyval, .value = copy});
    count_use(keyval, 1);
  }
  return MPI_SUCCESS;
}

template <class Handle>
int create_key(AnyFunction copy, AnyFunction remove, int* keyval, MPI_Aint extra, KeyLanguage language) {
  if (keyval == nullptr) return failure(MPI_ERR_ARG, "the place of the key is null");
  Keys& table = keys();
  const std::lock_guard guard(table.lock);
  const Key key = {.kind = kind_of(Handle{}),
                   .copy = copy,
                   .remove = remove,
                   .extra = reinterpret_cast<void*>(extra),
                   .language = language};
  int place = static_cast<int>(table.all.size());
  if (table.ended.size() > kEndedKeys) {
    place = table.ended.front();
    table.ended.pop_front();
    table.all[static_cast<std::size_t>(place)] = key;
  } else {
    table.all.push_back(key);
  }
  *keyval = kFirstKey + place;
  return MPI_SUCCESS;
}

template <class Handle>
int create_key(typename AttributeFunctions<Handle>::Copy* copy,
               typename AttributeFunctions<Handle>::Delete* remove, int* keyval, void* extra) {
  return create_key<Handle>(reinterpret_cast<AnyFunction>(copy), reinterpret_cast<AnyFunction>(remove),
                            keyval, reinterpret_cast<MPI_Aint>(extra), KeyLanguage::kC);
}

template <class Handle>
int free_key(int* keyval) {
  if (keyval == nullptr) return failure(MPI_ERR_ARG, "the place of the key is null");
  const std::optional<Key> key = key_of<Handle>(*keyval);
  if (!key) return bad_key(*keyval);
  // Delete functions free their own key, which the program frees too. The key exists while attributes use it.
  if (!key->freed) {
    Keys& table = keys();
    const std::lock_guard guard(table.lock);
    table.all[static_cast<std::size_t>(*keyval - kFirstKey)].freed = true;
    end_use(table, *keyval - kFirstKey);
  }
  *keyval = MPI_KEYVAL_INVALID;
  return MPI_SUCCESS;
}

template class AttributesOf<MPI_Comm>;
template class AttributesOf<MPI_Datatype>;
template class AttributesOf<MPI_Win>;
template int create_key<MPI_Comm>(MPI_Comm_copy_attr_function*, MPI_Comm_delete_attr_function*, int*, void*);
template int create_key<MPI_Datatype>(MPI_Type_copy_attr_function*, MPI_Type_delete_attr_function*, int*,
                                      void*);
template int create_key<MPI_Win>(MPI_Win_copy_attr_function*, MPI_Win_delete_attr_function*, int*, void*);
template int create_key<MPI_Comm>(AnyFunction, AnyFunction, int*, MPI_Aint, KeyLanguage);
template int create_key<MPI_Datatype>(AnyFunction, AnyFunction, int*, MPI_Aint, KeyLanguage);
template int create_key<MPI_Win>(AnyFunction, AnyFunction, int*, MPI_Aint, KeyLanguage);
template int free_key<MPI_Comm>(int*);
template int free_key<MPI_Datatype>(int*);
template int free_key<MPI_Win>(int*);

}  // namespace librma::mpi
