/**
 * @file bare_client.hpp
 * The control beside a client's rows: the same pass by plain loads and stores on the pages of the targets'
 * matrices. It takes no lock, checks nothing and completes nothing, so no library on this machine does the
 * pass faster.
 */
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "armci/client.hpp"

namespace rma::bench {

/** Ranks that accumulate into the same word at once lose sums here, so the data must not be checked. */
class BareClient {
 public:
  BareClient(const ArmciMember& member, const ClientCounts& counts)
      : ops_(client_ops(counts, member.rank(), member.size())),
        source_(kPatchWords * sizeof(double)),
        target_(kPatchWords * sizeof(double)),
        from_(source_.doubles(kPatchWords)),
        to_(target_.doubles(kPatchWords)) {
    constexpr std::size_t kReached = Arena::kData + kMatrixWords * sizeof(double);
    for (int rank = 0; rank < member.size(); ++rank) arenas_.push_back(member.mapped(0, kReached, rank));
  }

  /** Returns false if some rank's memory is not mapped here. */
  [[nodiscard]] bool possible() const {
    return std::find(arenas_.begin(), arenas_.end(), nullptr) == arenas_.end();
  }

  void operator()() {
    for (const ClientOp& op : ops_) run(op);
  }

 private:
  void run(const ClientOp& op) {
    char* const arena = arenas_[static_cast<std::size_t>(op.rank)];
    if (op.kind == ClientOp::Kind::rmw) {
      std::atomic_ref<long>(*reinterpret_cast<long*>(arena + Arena::kCounter))
          .fetch_add(1, std::memory_order_acq_rel);
      return;
    }
    auto* there = reinterpret_cast<double*>(arena + Arena::kData) + op.first;
    double* mine = op.kind == ClientOp::Kind::get ? to_ : from_;
    for (std::size_t row = 0; row < op.rows; ++row, there += kMatrixColumns, mine += op.columns) {
      const std::size_t bytes = op.columns * sizeof(double);
      switch (op.kind) {
        case ClientOp::Kind::put:
          std::memcpy(there, mine, bytes);
          break;
        case ClientOp::Kind::get:
          std::memcpy(mine, there, bytes);
          break;
        default:
          for (std::size_t i = 0; i < op.columns; ++i) there[i] += scale_ * mine[i];
      }
      // The next pass must do it again.
      asm volatile("" ::: "memory");
    }
  }

  std::vector<ClientOp> ops_;
  LocalBuffer source_;
  LocalBuffer target_;
  double* from_;
  double* to_;
  std::vector<char*> arenas_;
  double scale_ = 1.0;
};

}  // namespace rma::bench
