#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "mpi.h"

// The tool information interface (MPI 4.1, chapter 15). Its performance variables are the counters of librma,
// and its control variables librma's settings, both by their numbers in rma/variables.h. There are no
// enumerations, events, sources or categories.

namespace librma::mpi {

/// The value that a handle of a control variable gives: the one that the setting had when the handle was
/// made. So the value fits into the buffer whose size the program was told then.
struct ControlValue {
  bool is_number = false;
  std::uint64_t number = 0;
  std::string text;  ///< of all other settings
};

/// The target of a performance variable's handle. All its state is the counter's.
struct CounterHandle {
  std::uintptr_t session = 0;
  std::size_t counter = 0;
};

using CounterHandles = std::map<std::uintptr_t, CounterHandle>;

/// How often MPI_T is initialised, and the handles of the program. It may be used before MPI_Init and after
/// MPI_Finalize.
struct Tool {
  std::mutex lock;  // guards the rest
  int users = 0;
  /// The last number that a session or handle got. They begin behind those of the predefined handles.
  std::uintptr_t last = reinterpret_cast<std::uintptr_t>(MPI_T_PVAR_ALL_HANDLES);
  std::set<std::uintptr_t> sessions;
  CounterHandles counters;
  std::map<std::uintptr_t, ControlValue> controls;
};
[[nodiscard]] Tool& tool();

/// Returns body(tool()), under its lock, or the error of a call on an interface that is not initialised.
template <class Body>
[[nodiscard]] int with_tool(const Body& body) {
  Tool& all = tool();
  const std::lock_guard guard(all.lock);
  return all.users > 0 ? body(all) : MPI_T_ERR_NOT_INITIALIZED;
}

/// Returns `code`, or the error of a call on an interface that is not initialised.
[[nodiscard]] int initialized_or(int code);

/// Returns the error of a search for a name among none.
[[nodiscard]] int no_such_name(const char* name);

/// Stores a number that the program asks for and must have a place for. MPI_T_ERR_INVALID.
[[nodiscard]] int give_number(int* to, int number);

/// Stores a value of which the program may want no copy: then `to` is null.
template <class Value>
void give(Value* to, Value value) {
  if (to != nullptr) *to = value;
}

/// Stores a text by the convention of MPI 4.1, section 15.3.3. `*length` is the size of the buffer; it
/// becomes that of the whole text with the null. If the buffer is null or has 0 bytes, only that is stored;
/// if `length` is null, nothing is.
void give_text(const char* text, char* buffer, int* length);

/// Finds the number below `count` whose name(number) is `wanted`. MPI_T_ERR_INVALID (null),
/// MPI_T_ERR_INVALID_NAME.
[[nodiscard]] int find_name(const char* wanted, std::size_t count, const char* (*name)(std::size_t),
                            int* index);

}  // namespace librma::mpi
