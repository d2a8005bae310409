#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "twosided_compat/objects/object.hpp"

namespace librma::mpi {

/// An info object: keys with values, in the order in which they were first set. Thread-safe.
class Info : public Object {
 public:
  explicit Info(std::uintptr_t predefined = 0) : Object(Kind::kInfo, predefined) {}
  /// Makes a copy that has the same keys in the same order.
  explicit Info(const Info& other);

  void set(std::string_view key, std::string_view value);
  [[nodiscard]] std::optional<std::string> get(std::string_view key) const;
  /// Removes a key. Returns false if there is no such key.
  bool remove(std::string_view key);
  [[nodiscard]] std::size_t size() const;
  /// Returns the key at a place of the order, if there are that many.
  [[nodiscard]] std::optional<std::string> key(std::size_t place) const;

 private:
  using Entries = std::vector<std::pair<std::string, std::string>>;  // few, so a search is a walk
  [[nodiscard]] Entries::const_iterator find_entry(std::string_view key) const;

  mutable std::mutex lock_;  // guards the entries
  Entries entries_;
};

/// Returns the info object behind a handle: also that of MPI_INFO_ENV, at any time. Returns null for
/// MPI_INFO_NULL and for a handle that is not valid.
[[nodiscard]] Info* find_info(MPI_Info info);

/// Checks the hints of a call: an info or MPI_INFO_NULL. Returns MPI_SUCCESS or MPI_ERR_INFO.
[[nodiscard]] int check_hints(MPI_Info info);

}  // namespace librma::mpi
