// Error classes and codes: those of the standard, and those that the program adds.

#include "twosided_compat/objects/error_codes.hpp"

#include <fmt/format.h>

#include <cstring>
#include <map>
#include <mutex>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/objects/errors.hpp"
#include "twosided_compat/objects/system_errors.hpp"

namespace librma::mpi {
namespace {

/// A class or code of the program. A class is its own class.
struct AddedCode {
  int error_class;
  std::optional<std::string> text;
};

std::mutex added_lock;  // guards the rest
std::map<int, AddedCode>& added() {
  static auto* const kAdded =
      new std::map<int, AddedCode>;  // never destroyed: programs may ask at their very end
  return *kAdded;
}
int last_code = MPI_ERR_LASTCODE;

/// Adds a class, or a code of `error_class` unless it is 0. The numbers follow MPI_ERR_LASTCODE and are not
/// used again, so a code that was removed means nothing.
int add(int error_class) {
  const int code = ++last_code;
  added().emplace(code, AddedCode{error_class != 0 ? error_class : code, std::nullopt});
  return code;
}

int no_such_code(int code) { return failure(MPI_ERR_ARG, fmt::format("{} is no error class or code", code)); }

int not_the_programs(int code) {
  return failure(MPI_ERR_ARG, fmt::format("{} is no error class or code that the program added", code));
}

int still_has_a_string(int code) {
  return failure(MPI_ERR_ARG, fmt::format("{} still has its string", code));
}

}  // namespace

std::optional<std::string> error_text(int code) {
  if (const StandardClass* const found = standard_class(code))
    return fmt::format("MPI_{}: {}", found->name, found->text);
  if (std::optional<std::string> text = system_error_text(code)) return text;
  const std::lock_guard guard(added_lock);
  const auto place = added().find(code);
  if (place == added().end()) return std::nullopt;
  return place->second.text.value_or("");
}

std::optional<int> class_of(int code) {
  if (standard_class(code) != nullptr) return code;
  if (const std::optional<int> known = system_error_class(code)) return known;
  const std::lock_guard guard(added_lock);
  const auto place = added().find(code);
  if (place == added().end()) return std::nullopt;
  return place->second.error_class;
}

int last_used_code() {
  const std::lock_guard guard(added_lock);
  return last_code;
}

int error_class(int errorcode, int* errorclass) {
  const std::optional<int> found = class_of(errorcode);
  if (!found) return no_such_code(errorcode);
  *errorclass = *found;
  return MPI_SUCCESS;
}

int error_string(int errorcode, char* string, int* resultlen) {
  if (string == nullptr || resultlen == nullptr) return failure(MPI_ERR_ARG, "string or resultlen is null");
  const std::optional<std::string> text = error_text(errorcode);
  if (!text) return no_such_code(errorcode);
  std::memcpy(string, text->c_str(), text->size() + 1);
  *resultlen = static_cast<int>(text->size());
  return MPI_SUCCESS;
}

int add_error_class(int* errorclass) {
  const std::lock_guard guard(added_lock);
  *errorclass = add(0);
  return MPI_SUCCESS;
}

int add_error_code(int errorclass, int* errorcode) {
  if (class_of(errorclass) != errorclass)
    return failure(MPI_ERR_ARG, fmt::format("{} is no error class", errorclass));
  const std::lock_guard guard(added_lock);
  *errorcode = add(errorclass);
  return MPI_SUCCESS;
}

int add_error_string(int errorcode, const char* string) {
  if (string == nullptr) return failure(MPI_ERR_ARG, "string is null");
  if (std::strlen(string) >= MPI_MAX_ERROR_STRING) {
    return failure(MPI_ERR_ARG, fmt::format("the string has {} characters, and {} fit", std::strlen(string),
                                            MPI_MAX_ERROR_STRING - 1));
  }
  const std::lock_guard guard(added_lock);
  const auto place = added().find(errorcode);
  if (place == added().end()) return not_the_programs(errorcode);
  place->second.text = string;
  return MPI_SUCCESS;
}

int remove_error_class(int errorclass) {
  const std::lock_guard guard(added_lock);
  const auto place = added().find(errorclass);
  if (place == added().end() || place->second.error_class != errorclass) return not_the_programs(errorclass);
  for (const auto& [code, other] : added()) {
    if (other.error_class == errorclass && code != errorclass) {
      return failure(MPI_ERR_ARG, fmt::format("the class {} still has the code {}", errorclass, code));
    }
  }
  if (place->second.text) return still_has_a_string(errorclass);
  added().erase(place);
  return MPI_SUCCESS;
}

int remove_error_code(int errorcode) {
  const std::lock_guard guard(added_lock);
  const auto place = added().find(errorcode);
  if (place == added().end() || place->second.error_class == errorcode) return not_the_programs(errorcode);
  if (place->second.text) return still_has_a_string(errorcode);
  added().erase(place);
  return MPI_SUCCESS;
}

int remove_error_string(int errorcode) {
  const std::lock_guard guard(added_lock);
  const auto place = added().find(errorcode);
  if (place == added().end()) return not_the_programs(errorcode);
  if (!place->second.text) return failure(MPI_ERR_ARG, fmt::format("{} has no string", errorcode));
  place->second.text.reset();
  return MPI_SUCCESS;
}

}  // namespace librma::mpi
