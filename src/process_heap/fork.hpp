#pragma once

namespace librma::process_heap {

/// Makes fork() give the child a copy of the process heap, as it gives one of all other memory: the memory is
/// shared with other processes, so the system would let the child write into its parent's. The thread that
/// forks waits until the child has copied. Called before jemalloc registers its own functions with fork(), so
/// that jemalloc's locks are held meanwhile: no thread allocates or frees, and no other thread forks.
///
/// The system's posix_spawn, vfork and system() run the child in its parent's memory until it executes a
/// program, as always. They copy nothing.
void copy_at_fork() noexcept;

}  // namespace librma::process_heap
