#pragma once

#include "twosided_compat/files/file.hpp"

namespace librma::mpi {

/// Finds out from the views and hints of all members whether writes take locks, and whether members need each
/// other in collective calls. Stores it in file.sharing, the same on all members. `view` is the one that this
/// member will have. Collective. The members have no operation under way.
///
/// Hints. Those that divide a file among aggregators are rank 0's on all members, whatever the others have
/// given: members that divided it differently would wait for each other's messages.
///
/// Locks. A lock keeps a member that reads a range with gaps, changes it and writes it back from losing what
/// another one writes there meanwhile. So there are locks if some member may do that, which takes parts of
/// less than kMostWithGap bytes, or the hint for it. If no member does, each system call writes only bytes
/// of the program. On one host, all members then go through one system's cache of the file, which changes no
/// other bytes, so they need no lock. Members of several hosts lock as soon as a view is not contiguous: the
/// client of a network file system has a cache of its own, and may write a whole page of it back of which a
/// program has changed a part (Linux' NFS does, but not in ranges under a lock).
///
/// Collective calls. On one host, members whose parts all have kLargePartOnOneHost bytes or more would not
/// exchange them, whatever the extents of their accesses are. So they do not ask each other for these,
/// unless a hint that wants aggregators makes them decide it for each access.
[[nodiscard]] int agree_on_sharing(File& file, const FileView& view);

}  // namespace librma::mpi
