/**
 * @file backend.hpp
 * The contract between the suites and the measured libraries: librma, MPI, OpenSHMEM and ARMCI.
 *
 * A backend is a class; the suites are templates over it, so that a backend's operations are compiled into
 * the timed loops and an operation of ten nanoseconds is not measured through a virtual call. Every process
 * allocates one arena that all others reach, and remote memory is named by rank and byte offset into that
 * rank's arena.
 */
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rma::bench {

/** `segments` pieces of `segment_bytes` bytes, `stride` bytes apart on both sides: a block of a larger
 * matrix. */
struct StridedShape {
  std::size_t segments = 0;
  std::size_t segment_bytes = 0;
  std::size_t stride = 0;
};

/** Pieces of `segment_bytes` bytes at these byte offsets, the same on both sides. */
struct VectorShape {
  std::vector<std::size_t> offsets;
  std::size_t segment_bytes = 0;
};

/**
 * A process of a job.
 *
 *  - The constructor takes main's arguments, and also the options if it wants them, and joins the job.
 *    leave(code) leaves it and returns the exit code; it does not return if the library's shutdown is not
 *    reliable.
 *  - After sync, all ranks see everything that was issued before.
 */
template <typename B>
concept Process = requires(B& backend, int exit_code) {
  { B::name() } -> std::convertible_to<const char*>;
  { backend.rank() } -> std::same_as<int>;
  { backend.size() } -> std::same_as<int>;
  { backend.leave(exit_code) } -> std::same_as<int>;
  backend.sync();
};

/**
 * A process of a job whose processes share an arena. Local pointers point to any memory of this process;
 * `offset`s are bytes into `rank`'s arena.
 *
 *  - allocate is collective and called once.
 *  - put returns when the data is visible at the target.
 */
template <typename B>
concept Member = Process<B> &&
    requires(B& backend, std::size_t offset, const void* src, std::size_t bytes, int rank) {
  { backend.local() } -> std::same_as<char*>;
  backend.allocate(bytes);
  backend.put(offset, src, bytes, rank);
};

/** A process without an arena: greatest(value) returns the greatest of the ranks' values, on all of them. */
template <typename B>
concept Messenger = Process<B> && requires(B& backend, double value) {
  { backend.greatest(value) } -> std::same_as<double>;
};

/**
 * The functions that the suites of every library need besides.
 *
 *  - put, put_strided, put_vector, accumulate return when the data is visible at the target (put and flush);
 *    get, get_strided, get_vector when it has arrived here. put_nbi only starts; flush(rank) completes it
 *    there.
 *  - `strided_forms(shape)`, `vector_forms()`: a library that can express a noncontiguous transfer in several
 *    ways (a derived datatype, a loop of contiguous puts) names them here; each is measured and the best one
 *    counts. `form` is an index into it.
 *  - plan_strided and plan_vector do the work that a program does once for a shape that it uses often.
 *    `local` is the start of the local side; the remote side starts at `offset`.
 *  - allreduce sums `count` doubles; both buffers are offsets into the caller's own arena.
 *  - notify writes data, then `value` to the 8-byte word at `flag`; wait_notify waits until the word at
 *    `flag` of the caller's own arena holds `value`.
 *  - barrier is measured; sync is for the harness.
 */
template <typename B>
concept Backend = Member<B> &&
    requires(B& backend, std::size_t offset, const void* src, void* dst, std::size_t bytes, int rank,
             std::uint64_t value, const StridedShape& strided, const VectorShape& vector,
             typename B::Strided& strided_plan, typename B::Vector& vector_plan, char* local,
             std::size_t form) {
  { B::strided_forms(strided) } -> std::same_as<std::vector<const char*>>;
  { B::vector_forms() } -> std::same_as<std::vector<const char*>>;
  backend.barrier();
  backend.put_nbi(offset, src, bytes, rank);
  backend.flush(rank);
  backend.get(dst, offset, bytes, rank);
  { backend.fetch_add(offset, value, rank) } -> std::same_as<std::uint64_t>;
  { backend.plan_strided(strided, local, offset) } -> std::same_as<typename B::Strided>;
  { backend.plan_vector(vector, local, offset) } -> std::same_as<typename B::Vector>;
  backend.put_strided(strided_plan, form, rank);
  backend.get_strided(strided_plan, form, rank);
  backend.put_vector(vector_plan, form, rank);
  backend.get_vector(vector_plan, form, rank);
  backend.allreduce(offset, offset, bytes);
  backend.notify(offset, src, bytes, offset, value, rank);
  backend.wait_notify(offset, value);
};

/** A backend with 8-byte accesses that its compiler can inline: put8 completes as put does, get8 as get does.
 * */
template <typename B>
concept HasInline8 = requires(B& backend, std::size_t offset, std::uint64_t value, int rank) {
  backend.put8(offset, value, rank);
  { backend.get8(offset, rank) } -> std::same_as<std::uint64_t>;
};

/** A backend that returns where a rank's arena is mapped here (null: it is not). The suites can then measure
 * memcpy on the same pages as the control of a transfer. */
template <typename B>
concept HasMapped = requires(B& backend, std::size_t offset, std::size_t bytes, int rank) {
  { backend.mapped(offset, bytes, rank) } -> std::same_as<char*>;
};

/** A backend whose fetch-add can be inlined too. */
template <typename B>
concept HasInlineFetchAdd = requires(B& backend, std::size_t offset, std::uint64_t value, int rank) {
  { backend.fetch_add8(offset, value, rank) } -> std::same_as<std::uint64_t>;
};

/** A backend with an atomic sum of doubles into remote memory. */
template <typename B>
concept HasAccumulate = requires(B& backend, std::size_t offset, const double* src, std::size_t count,
                                 int rank) {
  backend.accumulate(offset, src, count, rank);
};

}  // namespace rma::bench
