#pragma once

namespace rma {

/// Writes out what the streams of C hold, and the units of GNU Fortran where the process has its library: for
/// a process that is about to end without the usual way out. Takes a second at most: a thread may hold a
/// stream's lock and wait in there, for a key to be pressed or a pipe to be read. What is locked so is lost.
void flush_streams() noexcept;

}  // namespace rma
