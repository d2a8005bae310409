// The calls on info objects.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/objects/errors.hpp"
#include "twosided_compat/objects/info.hpp"
#include "util/try.hpp"

namespace librma::mpi {
namespace {

int no_info() { return failure(MPI_ERR_INFO, "the handle is null, was freed, or is no info"); }

/// Checks a key, which the program gives as C text.
int check_key(const char* key) {
  if (key == nullptr || *key == '\0') return failure(MPI_ERR_INFO_KEY, "the key is null or empty");
  const std::size_t length = std::strlen(key);
  if (length < MPI_MAX_INFO_KEY) return MPI_SUCCESS;
  return failure(MPI_ERR_INFO_KEY,
                 fmt::format("the key has {} characters, and {} fit", length, MPI_MAX_INFO_KEY - 1));
}

/// Checks what every call that asks for a key gets.
int check_question(const Info* info, const char* key) {
  if (info == nullptr) return no_info();
  return check_key(key);
}

/// Copies as much of `text` as fits into `room` bytes with the null at the end.
void copy_text(char* out, std::size_t room, std::string_view text) {
  const std::size_t length = std::min(text.size(), room - 1);
  std::memcpy(out, text.data(), length);
  out[length] = '\0';
}

}  // namespace

int info_create(MPI_Info* info) {
  *info = (new Info)->handle<MPI_Info>();
  return MPI_SUCCESS;
}

// The process asks the system for its arguments, which the program may have changed in argv.
int info_create_env(int /*argc*/, char* /*argv*/[], MPI_Info* info) { return info_dup(MPI_INFO_ENV, info); }

int info_dup(MPI_Info info, MPI_Info* newinfo) {
  const Info* const found = find_info(info);
  if (found == nullptr) return no_info();
  *newinfo = (new Info(*found))->handle<MPI_Info>();
  return MPI_SUCCESS;
}

int info_free(MPI_Info* info) {
  if (*info == MPI_INFO_ENV) return failure(MPI_ERR_INFO, "MPI_INFO_ENV cannot be freed");
  const Info* const found = find_info(*info);
  if (found == nullptr) return no_info();
  delete found;
  *info = MPI_INFO_NULL;
  return MPI_SUCCESS;
}

int info_set(MPI_Info info, const char* key, const char* value) {
  if (info == MPI_INFO_ENV) return failure(MPI_ERR_INFO, "MPI_INFO_ENV cannot be changed");
  Info* const found = find_info(info);
  if (found == nullptr) return no_info();
  RMA_TRY(check_key(key));
  if (value == nullptr) return failure(MPI_ERR_INFO_VALUE, "the value is null");
  const std::size_t length = std::strlen(value);
  if (length >= MPI_MAX_INFO_VAL) {
    return failure(MPI_ERR_INFO_VALUE,
                   fmt::format("the value has {} characters, and {} fit", length, MPI_MAX_INFO_VAL - 1));
  }
  found->set(key, value);
  return MPI_SUCCESS;
}

int info_delete(MPI_Info info, const char* key) {
  if (info == MPI_INFO_ENV) return failure(MPI_ERR_INFO, "MPI_INFO_ENV cannot be changed");
  Info* const found = find_info(info);
  if (found == nullptr) return no_info();
  RMA_TRY(check_key(key));
  return found->remove(key) ? MPI_SUCCESS : failure(MPI_ERR_INFO_NOKEY, fmt::format("the key is '{}'", key));
}

// The deprecated form: `valuelen` does not count the null, and the program provides room for it.
int info_get(MPI_Info info, const char* key, int valuelen, char* value, int* flag) {
  const Info* const found = find_info(info);
  RMA_TRY(check_question(found, key));
  if (valuelen < 0) return failure(MPI_ERR_ARG, fmt::format("valuelen is {}", valuelen));
  if (value == nullptr) return failure(MPI_ERR_ARG, "value is null");
  const std::optional<std::string> text = found->get(key);
  *flag = text ? 1 : 0;
  if (text) copy_text(value, static_cast<std::size_t>(valuelen) + 1, *text);
  return MPI_SUCCESS;
}

int info_get_valuelen(MPI_Info info, const char* key, int* valuelen, int* flag) {
  const Info* const found = find_info(info);
  RMA_TRY(check_question(found, key));
  const std::optional<std::string> text = found->get(key);
  *flag = text ? 1 : 0;
  if (text) *valuelen = static_cast<int>(text->size());
  return MPI_SUCCESS;
}

// `buflen` counts the null, here and in what it returns. With 0 the call only returns the length.
int info_get_string(MPI_Info info, const char* key, int* buflen, char* value, int* flag) {
  const Info* const found = find_info(info);
  RMA_TRY(check_question(found, key));
  if (*buflen < 0) return failure(MPI_ERR_ARG, fmt::format("*buflen is {}", *buflen));
  if (*buflen > 0 && value == nullptr) return failure(MPI_ERR_ARG, "value is null");
  const std::optional<std::string> text = found->get(key);
  *flag = text ? 1 : 0;
  if (!text) return MPI_SUCCESS;
  if (*buflen > 0) copy_text(value, static_cast<std::size_t>(*buflen), *text);
  *buflen = static_cast<int>(text->size()) + 1;
  return MPI_SUCCESS;
}

int info_get_nkeys(MPI_Info info, int* nkeys) {
  const Info* const found = find_info(info);
  if (found == nullptr) return no_info();
  *nkeys = static_cast<int>(found->size());
  return MPI_SUCCESS;
}

int info_get_nthkey(MPI_Info info, int n, char* key) {
  const Info* const found = find_info(info);
  if (found == nullptr) return no_info();
  if (key == nullptr) return failure(MPI_ERR_ARG, "key is null");
  const std::optional<std::string> text = n >= 0 ? found->key(static_cast<std::size_t>(n)) : std::nullopt;
  if (!text)
    return failure(MPI_ERR_ARG, fmt::format("the info has {} keys, and no key {}", found->size(), n));
  copy_text(key, MPI_MAX_INFO_KEY, *text);
  return MPI_SUCCESS;
}

}  // namespace librma::mpi
