/**
 * @file member.hpp
 * A process of an ARMCI job. The same source serves every ARMCI: it calls only functions of armci.h that all
 * of them have. Only the controls beside librma's own rows ask librma where memory is mapped.
 */
#pragma once

// ARMCI-MPI's header is not made for C++. It includes an MPI's header if the library uses an MPI.
extern "C" {
#include <armci.h>
#include <message.h>
}

#include <cstddef>
#include <vector>

#include "harness/program.hpp"

// The name of this ARMCI in the results: -DRMA_BENCH_ARMCI=... on the command line, else librma's name.
#ifndef RMA_BENCH_ARMCI
#include "rma/direct.h"
#endif

namespace rma::bench {

#ifdef RMA_BENCH_ARMCI
inline constexpr const char* kArmciName = RMA_BENCH_ARMCI;
inline void* mapped_address(const void* /*address*/, std::size_t /*bytes*/, int /*rank*/) { return nullptr; }
#else
inline constexpr const char* kArmciName = "rma";
inline void* mapped_address(const void* address, std::size_t bytes, int rank) {
  return rma_direct_address(address, bytes, rank);
}
#endif

class ArmciMember {
 public:
  static const char* name() { return kArmciName; }

  ArmciMember(int& argc, char**& argv) {
#ifdef MPI_VERSION
    MPI_Init(&argc, &argv);
#else
    static_cast<void>(argc);
    static_cast<void>(argv);
#endif
    ARMCI_Init();
    rank_ = armci_msg_me();
    size_ = armci_msg_nproc();
  }

  [[nodiscard]] int leave(int exit_code) {
    if (!bases_.empty()) ARMCI_Free(local());
    ARMCI_Finalize();
#ifdef MPI_VERSION
    MPI_Finalize();
#endif
    return exit_code;
  }

  void allocate(std::size_t bytes) {
    bases_.resize(static_cast<std::size_t>(size_));
    if (ARMCI_Malloc(bases_.data(), static_cast<armci_size_t>(bytes)) != 0) {
      bases_.clear();
      ARMCI_Error("there is no room for the arena", 1);
    }
  }

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] char* local() const { return at(0, rank_); }
  /** Returns the address of an offset in a rank's arena. */
  [[nodiscard]] char* at(std::size_t offset, int rank) const {
    return static_cast<char*>(bases_[static_cast<std::size_t>(rank)]) + offset;
  }
  /** Returns where that memory is mapped here, for controls; null if it is not, or the library hides it. */
  [[nodiscard]] char* mapped(std::size_t offset, std::size_t bytes, int rank) const {
    return static_cast<char*>(mapped_address(at(offset, rank), bytes, rank));
  }
  /** Returns the rank with which this one measures transfers. */
  [[nodiscard]] int next() const { return (rank_ + 1) % size_; }

  void sync() { ARMCI_Barrier(); }
  void put(std::size_t dst, const void* src, std::size_t bytes, int rank) {
    // ARMCI's sources are not const.
    ARMCI_Put(const_cast<void*>(src), at(dst, rank), static_cast<int>(bytes), rank);
    ARMCI_Fence(rank);
  }

 private:
  int rank_ = 0;
  int size_ = 0;
  std::vector<void*> bases_;
};

using ArmciMeasure = Measure<ArmciMember>;

/** Returns whether this rank executes operations. With two ranks one measures while the other waits, as in
 * every other suite. With more than two ranks all of them do, because such a run measures a job whose
 * ranks share processors. */
inline bool acts(const ArmciMember& member) { return member.size() > 2 || member.rank() == 0; }

/** Measures op(i), which the acting ranks call. */
template <typename Op>
void measure_acting(ArmciMeasure& measure, RowName name, Op&& op, std::size_t operations = 1) {
  if (measure.backend().size() > 2) {
    measure.together(std::move(name), op, operations);
  } else {
    measure.alone(std::move(name), op, operations);
  }
}

/** The same, with `control(i)` beside it, which does as many operations. */
template <typename Op, typename Control>
void measure_acting_beside(ArmciMeasure& measure, const RowName& name, Op&& op, Control&& control,
                           std::size_t operations) {
  if (measure.backend().size() > 2) {
    measure.together_beside(name, op, control, operations);
  } else {
    measure.alone_beside(name, op, control, operations);
  }
}

}  // namespace rma::bench
