#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "coarrays/accessors/blocks.hpp"

// The accessors of the program, and how an image runs them.

namespace librma::coarrays {

/// Adds an accessor: a Getter, Presence or Setter. The compiler knows which.
void add_accessor(int hash, void (*run)());
/// Ends the adding. From here on the index of an accessor means the same on all images.
void sort_accessors();
/// Returns the index of an accessor, or -1.
int accessor_index(int hash);

/// Runs a call of image `caller` (an index in the initial team) in this thread. Returns the answer.
Bytes run_call(std::span<std::byte> bytes, int caller);

/// Returns whether the call may run in the handler of an active message. An accessor that makes calls itself
/// must not. The first run of an accessor shows whether it does.
bool may_run_in_handler(std::span<const std::byte> bytes);

/// Returns whether this thread runs an accessor. Images are those of the initial team then.
bool runs_accessor();
/// Notes that the accessor that this thread runs makes a call.
void note_nested_call();

}  // namespace librma::coarrays
