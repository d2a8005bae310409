// Attributes of objects, their keys, and the calls on the attributes of communicators.

#include "twosided_compat/attributes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <climits>
#include <deque>
#include <mutex>
#include <optional>

#include "rma/rma.h"
#include "twosided_compat/calls.hpp"
#include "twosided_compat/communicator.hpp"
#include "twosided_compat/error_codes.hpp"
#include "twosided_compat/errors.hpp"

namespace rma::mpi {
namespace {

/// The program's keys have these numbers and those above. Those of the ABI are below.
constexpr int kFirstKey = 0x1000;

/// The copy and delete functions of any kind of object. They are called as what they are.
using AnyFunction = void (*)();

/// A key of the program. It lives while the program has not freed it, or an object has an attribute with it.
struct Key {
  Kind kind;  // of the objects whose attributes it is for
  AnyFunction copy = nullptr;
  AnyFunction remove = nullptr;
  void* extra = nullptr;
  int uses = 1;  // the program's, and one for each attribute
  bool freed = false;
};

struct Keys {
  std::mutex lock;  // guards the rest
  std::vector<Key> all;
  std::deque<int> ended;  // places of keys that are in use no more, in the order of their ends
};

/// So many keys end before the first of them gets its number again. A program that uses a freed key is mostly
/// told.
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
  return key.uses != 0 && key.kind == KindOf<Handle>::kValue ? std::optional(key) : std::nullopt;
}

/// Calls the delete function of an attribute, if it has one.
template <class Handle>
int delete_value(const Key& key, Handle object, int keyval, void* value) {
  if (key.remove == nullptr) return MPI_SUCCESS;  // MPI_X_NULL_DELETE_FN
  using Delete = typename AttributeFunctions<Handle>::Delete;
  return reinterpret_cast<Delete*>(key.remove)(object, keyval, value, key.extra);
}

void count_use(int keyval, int difference) {
  Keys& table = keys();
  const std::lock_guard guard(table.lock);
  if (difference < 0) return end_use(table, keyval - kFirstKey);
  table.all[static_cast<std::size_t>(keyval - kFirstKey)].uses += difference;
}

/// Returns the value of a predefined attribute, or null if `keyval` names no predefined attribute. The values never change during a
/// job, except that of MPI_LASTUSEDCODE.
int* predefined_attribute(int keyval) {
  static int tag_limit = INT_MAX;
  static int every_process = MPI_ANY_SOURCE;  // each may do input and output
  static int no_process = MPI_PROC_NULL;      // no process has a host process
  static int no = 0;
  static int application = 0;
  switch (keyval) {
    case MPI_TAG_UB:
      return &tag_limit;
    case MPI_IO:
      return &every_process;
    case MPI_HOST:
      return &no_process;
    case MPI_WTIME_IS_GLOBAL:
      return &no;
    case MPI_APPNUM:
      return &application;
    case MPI_UNIVERSE_SIZE: {
      static thread_local int size = 0;
      size = rma_size();
      return &size;
    }
    case MPI_LASTUSEDCODE: {
      static thread_local int code = 0;
      code = last_used_code();
      return &code;
    }
    default:
      return nullptr;
  }
}

}  // namespace

template <class Handle>
AttributesOf<Handle>::~AttributesOf() {
  for (const Attribute& one : all_) count_use(one.keyval, -1);
}

template <class Handle>
void** AttributesOf<Handle>::find(int keyval) {
  const auto found = std::ranges::find(all_, keyval, &Attribute::keyval);
  return found != all_.end() ? &found->value : nullptr;
}

template <class Handle>
int AttributesOf<Handle>::set(Handle object, int keyval, void* value) {
  const std::optional<Key> key = key_of<Handle>(keyval);
  if (!key || key->freed) return bad_key(keyval);
  if (void** const there = find(keyval); there != nullptr) {
    if (const int code = delete_value(*key, object, keyval, *there); code != MPI_SUCCESS) return code;
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
  void** const found = find(keyval);
  *flag = found != nullptr ? 1 : 0;
  if (found != nullptr) *static_cast<void**>(value) = *found;
  return MPI_SUCCESS;
}

template <class Handle>
int AttributesOf<Handle>::remove(Handle object, int keyval) {
  const std::optional<Key> key = key_of<Handle>(keyval);
  void** const value = find(keyval);
  if (!key || value == nullptr) return bad_key(keyval);
  if (const int code = delete_value(*key, object, keyval, *value); code != MPI_SUCCESS) return code;
  std::erase_if(all_, [&](const Attribute& one) { return one.keyval == keyval; });
  count_use(keyval, -1);
  return MPI_SUCCESS;
}

template <class Handle>
int AttributesOf<Handle>::remove_all(Handle object) {
  while (!all_.empty()) {
    if (const int code = remove(object, all_.back().keyval); code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

template <class Handle>
int AttributesOf<Handle>::copy_from(const AttributesOf& parent, Handle object) {
  using Copy = typename AttributeFunctions<Handle>::Copy;
  const std::vector<Attribute> theirs = parent.all_;  // a copy function may change the parent's
  for (const Attribute& one : theirs) {
    const std::optional<Key> key = key_of<Handle>(one.keyval);
    if (!key || key->copy == nullptr) continue;  // MPI_X_NULL_COPY_FN
    void* value = one.value;
    int copied = 1;
    if (key->copy != reinterpret_cast<AnyFunction>(MPI_COMM_DUP_FN)) {  // 1 for every kind
      copied = 0;
      const int code = reinterpret_cast<Copy*>(key->copy)(object, one.keyval, key->extra, one.value,
                                                          static_cast<void*>(&value), &copied);
      if (code != MPI_SUCCESS) return code;
    }
    if (copied == 0) continue;
    all_.push_back({.keyval = one.keyval, .value = value});
    count_use(one.keyval, 1);
  }
  return MPI_SUCCESS;
}

template <class Handle>
int create_key(typename AttributeFunctions<Handle>::Copy* copy,
               typename AttributeFunctions<Handle>::Delete* remove, int* keyval, void* extra) {
  if (keyval == nullptr) return failure(MPI_ERR_ARG, "the place of the key is null");
  Keys& table = keys();
  const std::lock_guard guard(table.lock);
  const Key key = {.kind = KindOf<Handle>::kValue,
                   .copy = reinterpret_cast<AnyFunction>(copy),
                   .remove = reinterpret_cast<AnyFunction>(remove),
                   .extra = extra};
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
int free_key(int* keyval) {
  if (keyval == nullptr) return failure(MPI_ERR_ARG, "the place of the key is null");
  const std::optional<Key> key = key_of<Handle>(*keyval);
  if (!key || key->freed) return bad_key(*keyval);
  {
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
template int free_key<MPI_Comm>(int*);
template int free_key<MPI_Datatype>(int*);
template int free_key<MPI_Win>(int*);

int comm_create_keyval(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* remove, int* keyval,
                       void* extra) {
  return create_key<MPI_Comm>(copy, remove, keyval, extra);
}

int comm_free_keyval(int* keyval) { return free_key<MPI_Comm>(keyval); }

int comm_set_attr(MPI_Comm handle, int keyval, void* value) {
  Communicator* comm = nullptr;
  if (const int code = find_communicator(handle, comm); code != MPI_SUCCESS) return code;
  return comm->attributes.set(handle, keyval, value);
}

int comm_get_attr(MPI_Comm handle, int keyval, void* value, int* flag) {
  Communicator* comm = nullptr;
  if (const int code = find_communicator(handle, comm); code != MPI_SUCCESS) return code;
  if (value == nullptr || flag == nullptr) return failure(MPI_ERR_ARG, "attribute_val or flag is null");
  if (int* const predefined = predefined_attribute(keyval); predefined != nullptr) {
    *static_cast<void**>(value) = predefined;
    *flag = 1;
    return MPI_SUCCESS;
  }
  return comm->attributes.get(keyval, value, flag);
}

int comm_delete_attr(MPI_Comm handle, int keyval) {
  Communicator* comm = nullptr;
  if (const int code = find_communicator(handle, comm); code != MPI_SUCCESS) return code;
  return comm->attributes.remove(handle, keyval);
}

// The names of MPI 1.

int keyval_create(MPI_Copy_function* copy, MPI_Delete_function* remove, int* keyval, void* extra) {
  return comm_create_keyval(copy, remove, keyval, extra);
}
int keyval_free(int* keyval) { return comm_free_keyval(keyval); }
int attr_put(MPI_Comm comm, int keyval, void* value) { return comm_set_attr(comm, keyval, value); }
int attr_get(MPI_Comm comm, int keyval, void* value, int* flag) {
  return comm_get_attr(comm, keyval, value, flag);
}
int attr_delete(MPI_Comm comm, int keyval) { return comm_delete_attr(comm, keyval); }

}  // namespace rma::mpi
