/**
 * @file shmem.cpp
 * The measurements on OpenSHMEM: symmetric memory, completion by shmem_quiet. Compiled by compare.sh with
 * oshcxx. OpenSHMEM has no accumulate of doubles, so that suite is empty here.
 */
#include <shmem.h>

#include <array>
#include <cstdio>
#include <vector>

#include "suites/all.hpp"

namespace rma::bench {
namespace {

class ShmemBackend {
 public:
  struct Strided {
    StridedShape shape;
    char* local;
    std::size_t offset;
  };
  struct Vector {
    VectorShape shape;
    char* local;
    std::size_t offset;
  };
  enum Form : std::size_t { kLoop, kElements };

  static const char* name() { return "openshmem"; }
  /** The forms are a loop of contiguous transfers and, for segments of single words,
   * shmem_iput and shmem_iget. */
  static std::vector<const char*> strided_forms(const StridedShape& shape) {
    if (shape.segment_bytes == sizeof(std::uint64_t)) return {"loop", "iput"};
    return {"loop"};
  }
  static std::vector<const char*> vector_forms() { return {"loop"}; }

  ShmemBackend(int, char**) {
    shmem_init();
    rank_ = shmem_my_pe();
    size_ = shmem_n_pes();
  }

  /** shmem_finalize of Open MPI 4.1 may crash after everything is done, so the job ends by shmem_global_exit.
   */
  [[nodiscard]] int leave(int exit_code) {
    std::fflush(nullptr);
    shmem_barrier_all();
    shmem_global_exit(exit_code);
    return exit_code;
  }

  void allocate(std::size_t bytes) {
    mine_ = static_cast<char*>(shmem_align(4096, bytes));
    // The work and synchronization arrays of OpenSHMEM 1.4's reductions. There are two of each, which are
    // used in turn, so that no call uses an array that a slower member still reads.
    for (Scratch& scratch : scratch_) {
      scratch.work = static_cast<double*>(shmem_malloc(kWorkElements * sizeof(double)));
      scratch.sync = static_cast<long*>(shmem_malloc(_SHMEM_REDUCE_SYNC_SIZE * sizeof(long)));
      std::fill_n(scratch.sync, _SHMEM_REDUCE_SYNC_SIZE, static_cast<long>(_SHMEM_SYNC_VALUE));
    }
    shmem_barrier_all();
  }

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] char* local() const { return mine_; }

  void sync() { shmem_barrier_all(); }
  void barrier() { shmem_barrier_all(); }

  void put(std::size_t dst, const void* src, std::size_t bytes, int rank) {
    shmem_putmem(mine_ + dst, src, bytes, rank);
    shmem_quiet();
  }
  void put_nbi(std::size_t dst, const void* src, std::size_t bytes, int rank) {
    shmem_putmem_nbi(mine_ + dst, src, bytes, rank);
  }
  void flush(int) { shmem_quiet(); }
  void get(void* dst, std::size_t src, std::size_t bytes, int rank) {
    shmem_getmem(dst, mine_ + src, bytes, rank);
  }

  void put8(std::size_t dst, std::uint64_t value, int rank) {
    shmem_uint64_p(word(dst), value, rank);
    shmem_quiet();
  }
  [[nodiscard]] std::uint64_t get8(std::size_t src, int rank) { return shmem_uint64_g(word(src), rank); }

  std::uint64_t fetch_add(std::size_t offset, std::uint64_t operand, int rank) {
    return shmem_ulong_atomic_fetch_add(word(offset), operand, rank);
  }

  Strided plan_strided(const StridedShape& shape, char* local, std::size_t offset) {
    return {shape, local, offset};
  }
  Vector plan_vector(const VectorShape& shape, char* local, std::size_t offset) {
    return {shape, local, offset};
  }

  void put_strided(const Strided& plan, std::size_t form, int rank) {
    const auto& [segments, bytes, stride] = plan.shape;
    if (form == kElements) {
      const auto words = static_cast<std::ptrdiff_t>(stride / bytes);
      shmem_iput64(mine_ + plan.offset, plan.local, words, words, segments, rank);
    } else {
      for (std::size_t i = 0; i < segments; ++i) {
        put_nbi(plan.offset + i * stride, plan.local + i * stride, bytes, rank);
      }
    }
    shmem_quiet();
  }
  void get_strided(const Strided& plan, std::size_t form, int rank) {
    const auto& [segments, bytes, stride] = plan.shape;
    if (form == kElements) {
      const auto words = static_cast<std::ptrdiff_t>(stride / bytes);
      shmem_iget64(plan.local, mine_ + plan.offset, words, words, segments, rank);
      return;
    }
    for (std::size_t i = 0; i < segments; ++i) {
      shmem_getmem_nbi(plan.local + i * stride, mine_ + plan.offset + i * stride, bytes, rank);
    }
    shmem_quiet();
  }
  void put_vector(const Vector& plan, std::size_t, int rank) {
    for (const std::size_t i : plan.shape.offsets) {
      put_nbi(plan.offset + i, plan.local + i, plan.shape.segment_bytes, rank);
    }
    shmem_quiet();
  }
  void get_vector(const Vector& plan, std::size_t, int rank) {
    for (const std::size_t i : plan.shape.offsets) {
      shmem_getmem_nbi(plan.local + i, mine_ + plan.offset + i, plan.shape.segment_bytes, rank);
    }
    shmem_quiet();
  }

  void allreduce(std::size_t dst, std::size_t src, std::size_t count) {
    const Scratch& scratch = scratch_[calls_++ % scratch_.size()];
    shmem_double_sum_to_all(reinterpret_cast<double*>(mine_ + dst), reinterpret_cast<double*>(mine_ + src),
                            static_cast<int>(count), 0, 0, size_, scratch.work, scratch.sync);
  }

  void notify(std::size_t dst, const void* src, std::size_t bytes, std::size_t flag, std::uint64_t value,
              int rank) {
    shmem_putmem(mine_ + dst, src, bytes, rank);
    shmem_fence();
    shmem_uint64_p(word(flag), value, rank);
  }
  void wait_notify(std::size_t flag, std::uint64_t value) {
    shmem_uint64_wait_until(word(flag), SHMEM_CMP_GE, value);
  }

 private:
  // Half the largest reduction and one more element, as the specification asks.
  static constexpr std::size_t kWorkElements = (std::size_t{1} << 20) / sizeof(double) / 2 + 1;
  struct Scratch {
    double* work;
    long* sync;
  };

  [[nodiscard]] std::uint64_t* word(std::size_t offset) const {
    return reinterpret_cast<std::uint64_t*>(mine_ + offset);
  }

  int rank_ = 0;
  int size_ = 0;
  char* mine_ = nullptr;
  std::array<Scratch, 2> scratch_{};
  std::size_t calls_ = 0;
};

}  // namespace
}  // namespace rma::bench

int main(int argc, char** argv) { return rma::bench::bench_main<rma::bench::ShmemBackend>(argc, argv); }
