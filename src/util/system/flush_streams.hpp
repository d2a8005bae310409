#pragma once

namespace librma {

/// Flushes the streams of C and, if the process has GNU Fortran's library, its units. It is for a process
/// that is about to end without running exit(). It returns after one second at most, because a thread may
/// hold a stream's lock while it waits for input or for a pipe to be read. The data of such a stream is lost.
void flush_streams() noexcept;

}  // namespace librma
