// Attributes of communicators, and the keys of attributes.

#include "twosided_compat/attributes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <climits>
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

/// A key of the program. It lives while the program has not freed it, or a communicator has an attribute with it.
struct Key {
  MPI_Comm_copy_attr_function* copy = MPI_COMM_NULL_COPY_FN;
  MPI_Comm_delete_attr_function* remove = MPI_COMM_NULL_DELETE_FN;
  void* extra = nullptr;
  int uses = 1;  // the program's, and one for each attribute
  bool freed = false;
};

struct Keys {
  std::mutex lock;  // guards the rest
  std::vector<Key> all;
};

/// Returns the one table. It is never destroyed, because objects may be freed by the program's own destructors.
Keys& keys() {
  static Keys* const kKeys = new Keys;
  return *kKeys;
}

int bad_key(int keyval) {
  return failure(MPI_ERR_KEYVAL, fmt::format("there is no attribute key {}", keyval));
}

/// Returns a key that is in use, or no value.
std::optional<Key> key_of(int keyval) {
  Keys& table = keys();
  const std::lock_guard guard(table.lock);
  const auto place = static_cast<std::size_t>(keyval - kFirstKey);
  if (keyval < kFirstKey || place >= table.all.size() || table.all[place].uses == 0) return std::nullopt;
  return table.all[place];
}

void count_use(int keyval, int difference) {
  Keys& table = keys();
  const std::lock_guard guard(table.lock);
  table.all[static_cast<std::size_t>(keyval - kFirstKey)].uses += difference;
}

/// Returns the value of a predefined attribute, or null if `keyval` is none. The values never change during a job,
/// except that of MPI_LASTUSEDCODE.
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

Attributes::~Attributes() {
  for (const Attribute& one : all_) count_use(one.keyval, -1);
}

void** Attributes::find(int keyval) {
  const auto found = std::ranges::find(all_, keyval, &Attribute::keyval);
  return found != all_.end() ? &found->value : nullptr;
}

int Attributes::set(MPI_Comm comm, int keyval, void* value) {
  const std::optional<Key> key = key_of(keyval);
  if (!key || key->freed) return bad_key(keyval);
  if (void** const there = find(keyval); there != nullptr) {
    if (key->remove != MPI_COMM_NULL_DELETE_FN) {
      if (const int code = key->remove(comm, keyval, *there, key->extra); code != MPI_SUCCESS) return code;
    }
    *find(keyval) = value;
    return MPI_SUCCESS;
  }
  all_.push_back({.keyval = keyval, .value = value});
  count_use(keyval, 1);
  return MPI_SUCCESS;
}

int Attributes::remove(MPI_Comm comm, int keyval) {
  const std::optional<Key> key = key_of(keyval);
  void** const value = find(keyval);
  if (!key || value == nullptr) return bad_key(keyval);
  if (key->remove != MPI_COMM_NULL_DELETE_FN) {
    if (const int code = key->remove(comm, keyval, *value, key->extra); code != MPI_SUCCESS) return code;
  }
  std::erase_if(all_, [&](const Attribute& one) { return one.keyval == keyval; });
  count_use(keyval, -1);
  return MPI_SUCCESS;
}

int Attributes::remove_all(MPI_Comm comm) {
  while (!all_.empty()) {
    if (const int code = remove(comm, all_.back().keyval); code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

int Attributes::copy_from(const Attributes& parent, MPI_Comm comm) {
  const std::vector<Attribute> theirs = parent.all_;  // a copy function may change the parent's
  for (const Attribute& one : theirs) {
    const std::optional<Key> key = key_of(one.keyval);
    if (!key || key->copy == MPI_COMM_NULL_COPY_FN) continue;
    void* value = one.value;
    int copied = 1;
    if (key->copy != MPI_COMM_DUP_FN) {
      copied = 0;
      const int code =
          key->copy(comm, one.keyval, key->extra, one.value, static_cast<void*>(&value), &copied);
      if (code != MPI_SUCCESS) return code;
    }
    if (copied == 0) continue;
    all_.push_back({.keyval = one.keyval, .value = value});
    count_use(one.keyval, 1);
  }
  return MPI_SUCCESS;
}

int comm_create_keyval(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* remove, int* keyval,
                       void* extra) {
  if (keyval == nullptr) return failure(MPI_ERR_ARG, "comm_keyval is null");
  Keys& table = keys();
  const std::lock_guard guard(table.lock);
  *keyval = kFirstKey + static_cast<int>(table.all.size());
  table.all.push_back({.copy = copy, .remove = remove, .extra = extra});
  return MPI_SUCCESS;
}

int comm_free_keyval(int* keyval) {
  if (keyval == nullptr) return failure(MPI_ERR_ARG, "comm_keyval is null");
  const std::optional<Key> key = key_of(*keyval);
  if (!key || key->freed) return bad_key(*keyval);
  {
    Keys& table = keys();
    const std::lock_guard guard(table.lock);
    Key& there = table.all[static_cast<std::size_t>(*keyval - kFirstKey)];
    there.freed = true;
    --there.uses;
  }
  *keyval = MPI_KEYVAL_INVALID;
  return MPI_SUCCESS;
}

int comm_set_attr(MPI_Comm handle, int keyval, void* value) {
  Communicator* comm = nullptr;
  if (const int code = find_communicator(handle, comm); code != MPI_SUCCESS) return code;
  return comm->attributes.set(handle, keyval, value);
}

int comm_get_attr(MPI_Comm handle, int keyval, void* value, int* flag) {
  Communicator* comm = nullptr;
  if (const int code = find_communicator(handle, comm); code != MPI_SUCCESS) return code;
  if (value == nullptr || flag == nullptr) return failure(MPI_ERR_ARG, "attribute_val or flag is null");
  auto* const result = static_cast<void**>(value);
  if (int* const predefined = predefined_attribute(keyval); predefined != nullptr) {
    *result = predefined;
    *flag = 1;
    return MPI_SUCCESS;
  }
  if (!key_of(keyval)) return bad_key(keyval);
  void** const found = comm->attributes.find(keyval);
  *flag = found != nullptr ? 1 : 0;
  if (found != nullptr) *result = *found;
  return MPI_SUCCESS;
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
