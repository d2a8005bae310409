/**
 * @file client.hpp
 * The operations of a large client of ARMCI, with the counts of an NWChem profile: for 385 puts of 10 B to 10
 * KB there are 428 accumulates of about 10 KB, 55 nonblocking gets and 1.5 read-modify-writes. Each moves a
 * patch between a small buffer and a large matrix at another rank.
 */
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "armci/calls.hpp"
#include "armci/member.hpp"
#include "suites/buffers.hpp"

namespace rma::bench {

/** The matrix. As in most programs, the distance of its rows is not a power of two. */
inline constexpr std::size_t kMatrixRows = 512;
inline constexpr std::size_t kMatrixColumns = 1036;
inline constexpr std::size_t kMatrixWords = kMatrixRows * kMatrixColumns;
static_assert(Arena::kData + kMatrixWords * sizeof(double) <= Arena::kLargeBytes);
/** The small buffer: room for the largest patch. */
inline constexpr std::size_t kPatchWords = 2048;

struct ClientOp {
  enum class Kind { put, accumulate, get, rmw };
  Kind kind;
  int rank;
  std::size_t rows;
  std::size_t columns;
  std::size_t first;  ///< offset of the patch's corner in the matrix, in words
};

/** The number of operations of each kind in one pass. */
struct ClientCounts {
  std::size_t puts;
  std::size_t accumulates;
  std::size_t gets;
  std::size_t rmws;
};

/** Returns the operations of one pass of a rank. Their order and shapes are the same for every library. */
inline std::vector<ClientOp> client_ops(const ClientCounts& counts, int me, int ranks) {
  using Kind = ClientOp::Kind;
  std::mt19937_64 random(static_cast<std::uint64_t>(me) + 1);
  // The standard's distributions differ between implementations; this one does not.
  const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random() % limit); };
  std::vector<ClientOp> ops;
  const auto add = [&](Kind kind, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      ClientOp op{kind, (me + 1 + static_cast<int>(below(static_cast<std::size_t>(ranks) - 1))) % ranks, 1, 1,
                  0};
      if (kind == Kind::put) {
        // 16 B to 10 KB; each power of two is equally frequent.
        op.rows = std::size_t{1} << (1 + below(5));
        op.columns = std::size_t{1} << below(6);
      } else {
        op.rows = 28 + below(17);
        op.columns = 28 + below(17);
      }
      op.first = below(kMatrixRows - op.rows) * kMatrixColumns + below(kMatrixColumns - op.columns);
      ops.push_back(op);
    }
  };
  add(Kind::put, counts.puts);
  add(Kind::accumulate, counts.accumulates);
  add(Kind::get, counts.gets);
  add(Kind::rmw, counts.rmws);
  for (std::size_t i = ops.size(); i > 1; --i) std::swap(ops[i - 1], ops[below(i)]);
  return ops;
}

class Client {
 public:
  Client(const ArmciMember& member, const ClientCounts& counts)
      : member_(member),
        ops_(client_ops(counts, member.rank(), member.size())),
        source_(kPatchWords * sizeof(double)),
        target_(kPatchWords * sizeof(double)) {
    double* const words = source_.doubles(kPatchWords);
    for (std::size_t i = 0; i < kPatchWords; ++i) words[i] = static_cast<double>(i % 127);
  }

  [[nodiscard]] std::size_t size() const { return ops_.size(); }

  /** Executes the pass until all of it is complete. */
  void operator()() {
    for (const ClientOp& op : ops_) run(op);
    ARMCI_AllFence();
  }

  /** Executes one pass by this rank alone, and the same on a model. Returns whether every get brought the
   * model's data, and all matrices are right afterwards. They must hold zeros before. */
  bool is_right() {
    std::vector<std::vector<double>> model(static_cast<std::size_t>(member_.size()),
                                           std::vector<double>(kMatrixWords));
    bool right = true;
    for (const ClientOp& op : ops_) {
      run(op);
      right = right && apply(op, model[static_cast<std::size_t>(op.rank)]);
    }
    ARMCI_AllFence();
    std::vector<double> matrix(kMatrixWords);
    for (int rank = 0; rank < member_.size(); ++rank) {
      ARMCI_Get(member_.at(Arena::kData, rank), matrix.data(), kMatrixWords * sizeof(double), rank);
      right = right && matrix == model[static_cast<std::size_t>(rank)];
    }
    return right;
  }

 private:
  void run(const ClientOp& op) {
    char* const corner = member_.at(Arena::kData + op.first * sizeof(double), op.rank);
    int near_stride = static_cast<int>(op.columns * sizeof(double));
    int far_stride = static_cast<int>(kMatrixColumns * sizeof(double));
    std::array<int, 2> counts = {near_stride, static_cast<int>(op.rows)};
    switch (op.kind) {
      case ClientOp::Kind::put:
        ARMCI_PutS(source_.data(), &near_stride, corner, &far_stride, counts.data(), 1, op.rank);
        break;
      case ClientOp::Kind::accumulate: {
        double scale = 1.0;
        ARMCI_AccS(ARMCI_ACC_DBL, &scale, source_.data(), &near_stride, corner, &far_stride, counts.data(), 1,
                   op.rank);
        break;
      }
      case ClientOp::Kind::get: {
        armci_hdl_t handle;
        ARMCI_INIT_HANDLE(&handle);
        ARMCI_NbGetS(corner, &far_stride, target_.data(), &near_stride, counts.data(), 1, op.rank, &handle);
        ARMCI_Wait(&handle);
        break;
      }
      case ClientOp::Kind::rmw:
        fetch_add_one(member_, op.rank);
        break;
    }
  }

  /** Does the operations of `run` on a model of a rank's matrix. Returns false if a get brought other data.
   * */
  bool apply(const ClientOp& op, std::vector<double>& matrix) const {
    const auto* const source = reinterpret_cast<const double*>(source_.data());
    const auto* const target = reinterpret_cast<const double*>(target_.data());
    bool right = true;
    for (std::size_t i = 0; op.kind != ClientOp::Kind::rmw && i < op.rows * op.columns; ++i) {
      double& there = matrix[op.first + i / op.columns * kMatrixColumns + i % op.columns];
      if (op.kind == ClientOp::Kind::put) there = source[i];
      if (op.kind == ClientOp::Kind::accumulate) there += source[i];
      if (op.kind == ClientOp::Kind::get) right = right && target[i] == there;
    }
    return right;
  }

  const ArmciMember& member_;
  std::vector<ClientOp> ops_;
  LocalBuffer source_;
  LocalBuffer target_;
};

}  // namespace rma::bench
