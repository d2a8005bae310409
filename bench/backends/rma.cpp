/**
 * @file rma.cpp
 * rma-bench: the measurements on librma.
 */
#include "rma/rma.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "rma/direct.h"
#include "suites/all.hpp"

namespace rma::bench {
namespace {

[[gnu::cold]] void fail(rma_status_t status) {
  std::fprintf(stderr, "rma-bench: %s: %s\n", rma_strerror(status), rma_last_error());
  rma_abort(EXIT_FAILURE, "a measured operation failed");
}

/** A measurement of failing calls would be worthless, so any failure ends the job. */
inline void check(rma_status_t status) {
  if (status != RMA_SUCCESS) [[unlikely]] {
    fail(status);
  }
}

class RmaBackend {
 public:
  struct Strided {
    char* local;
    std::size_t offset;
    std::size_t counts[2];
    std::ptrdiff_t stride;
  };
  struct Vector {
    std::vector<void*> local;
    std::vector<void*> remote;  // at rank 1, the only target of the vector suite
    std::size_t bytes;
  };

  static const char* name() { return "rma"; }
  static std::vector<const char*> strided_forms(const StridedShape&) { return {""}; }
  static std::vector<const char*> vector_forms() { return {""}; }

  RmaBackend(int, char**) {
    const rma_status_t status = rma_init();
    if (status != RMA_SUCCESS) {
      std::fprintf(stderr, "rma-bench: %s: %s\n", rma_strerror(status), rma_last_error());
      std::exit(EXIT_FAILURE);
    }
    rank_ = rma_rank();
    world_ = rma_team_world();
  }

  [[nodiscard]] int leave(int exit_code) {
    if (mine_ != nullptr) check(rma_free(world_, mine_));
    check(rma_finalize());
    return exit_code;
  }

  void allocate(std::size_t bytes) {
    bases_.resize(static_cast<std::size_t>(rma_size()));
    check(rma_malloc(world_, bytes, 4096, bases_.data(), &mine_));
  }

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return rma_size(); }
  [[nodiscard]] char* local() const { return static_cast<char*>(mine_); }

  void sync() { check(rma_barrier(world_)); }
  void barrier() { check(rma_barrier(world_)); }

  void put(std::size_t dst, const void* src, std::size_t bytes, int rank) {
    check(rma_put(at(dst, rank), src, bytes, rank));
    check(rma_fence(rank));
  }
  void put_nbi(std::size_t dst, const void* src, std::size_t bytes, int rank) {
    check(rma_put_nbi(at(dst, rank), src, bytes, rank));
  }
  void flush(int rank) { check(rma_fence(rank)); }
  void get(void* dst, std::size_t src, std::size_t bytes, int rank) {
    check(rma_get(dst, at(src, rank), bytes, rank));
  }

  void put8(std::size_t dst, std::uint64_t value, int rank) {
    check(rma_put8(word(dst, rank), value, rank));
    check(rma_fence(rank));
  }
  [[nodiscard]] std::uint64_t get8(std::size_t src, int rank) {
    std::uint64_t value = 0;
    check(rma_get8(&value, word(src, rank), rank));
    return value;
  }

  [[nodiscard]] char* mapped(std::size_t offset, std::size_t bytes, int rank) const {
    return static_cast<char*>(rma_direct_address(at(offset, rank), bytes, rank));
  }

  std::uint64_t fetch_add(std::size_t offset, std::uint64_t operand, int rank) {
    std::uint64_t old = 0;
    check(rma_atomic64(RMA_FETCH_ADD, word(offset, rank), operand, 0, &old, rank));
    return old;
  }
  std::uint64_t fetch_add8(std::size_t offset, std::uint64_t operand, int rank) {
    std::uint64_t old = 0;
    check(rma_fetch_add8(word(offset, rank), operand, &old, rank));
    return old;
  }

  Strided plan_strided(const StridedShape& shape, char* local, std::size_t offset) {
    return {local, offset, {shape.segment_bytes, shape.segments}, static_cast<std::ptrdiff_t>(shape.stride)};
  }
  void put_strided(const Strided& plan, std::size_t, int rank) {
    check(
        rma_put_strided(at(plan.offset, rank), &plan.stride, plan.local, &plan.stride, plan.counts, 1, rank));
    check(rma_fence(rank));
  }
  void get_strided(const Strided& plan, std::size_t, int rank) {
    check(
        rma_get_strided(plan.local, &plan.stride, at(plan.offset, rank), &plan.stride, plan.counts, 1, rank));
  }

  Vector plan_vector(const VectorShape& shape, char* local, std::size_t offset) {
    Vector plan;
    plan.bytes = shape.segment_bytes;
    for (const std::size_t piece : shape.offsets) {
      plan.local.push_back(local + piece);
      plan.remote.push_back(at(offset + piece, 1));
    }
    return plan;
  }
  void put_vector(const Vector& plan, std::size_t, int rank) {
    const rma_iov_t iov = {plan.remote.data(), plan.local.data(), plan.local.size(), plan.bytes};
    check(rma_put_vector(&iov, 1, rank));
    check(rma_fence(rank));
  }
  void get_vector(const Vector& plan, std::size_t, int rank) {
    const rma_iov_t iov = {plan.local.data(), plan.remote.data(), plan.local.size(), plan.bytes};
    check(rma_get_vector(&iov, 1, rank));
  }

  void accumulate(std::size_t dst, const double* src, std::size_t count, int rank) {
    check(rma_acc(at(dst, rank), src, count, RMA_DOUBLE, nullptr, rank));
    check(rma_fence(rank));
  }
  void allreduce(std::size_t dst, std::size_t src, std::size_t count) {
    check(rma_allreduce(world_, local() + dst, local() + src, count, RMA_DOUBLE, RMA_SUM));
  }

  void notify(std::size_t dst, const void* src, std::size_t bytes, std::size_t flag, std::uint64_t value,
              int rank) {
    check(rma_put_notify(at(dst, rank), src, bytes, word(flag, rank), value, rank));
  }
  void wait_notify(std::size_t flag, std::uint64_t value) {
    check(rma_wait_until(word(flag, rank_), RMA_GE, value, nullptr));
  }

 private:
  [[nodiscard]] char* at(std::size_t offset, int rank) const {
    return static_cast<char*>(bases_[static_cast<std::size_t>(rank)]) + offset;
  }
  [[nodiscard]] std::uint64_t* word(std::size_t offset, int rank) const {
    return reinterpret_cast<std::uint64_t*>(at(offset, rank));
  }

  int rank_ = 0;
  rma_team_t world_ = nullptr;
  void* mine_ = nullptr;
  std::vector<void*> bases_;
};

}  // namespace
}  // namespace rma::bench

int main(int argc, char** argv) { return rma::bench::bench_main<rma::bench::RmaBackend>(argc, argv); }
