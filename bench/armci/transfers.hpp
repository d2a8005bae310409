/**
 * @file transfers.hpp
 * Put, get and accumulate, contiguous and with two dimensions.
 */
#pragma once

#include <array>

#include "armci/member.hpp"
#include "armci/patch.hpp"

namespace rma::bench {

inline constexpr std::array<std::size_t, 5> kArmciSizes = {8, 512, 8192, 65536, 4194304};
/** Numbers of segments, and their sizes in bytes. */
inline constexpr std::array<std::array<std::size_t, 2>, 5> kArmciShapes = {
    {{4, 8}, {16, 64}, {32, 256}, {128, 512}, {1024, 4096}}};
static_assert(Arena::kData + 2 * kArmciShapes.back()[0] * kArmciShapes.back()[1] <= Arena::kLargeBytes);
/** Strided transfers of up to this size count as small. Clients issue mostly such transfers. */
inline constexpr std::size_t kSmallPatch = 10240;

enum class Kind { put, get, accumulate };

inline const char* kind_text(Kind kind) {
  return kind == Kind::put ? "put" : kind == Kind::get ? "get" : "accumulate";
}

/** One transfer between private memory and the arena of the next rank, with prepared
 * arguments for armci.h. */
class Transfer {
 public:
  Transfer(const ArmciMember& member, Kind kind, const StridedShape& shape, char* local)
      : local_(local),
        remote_(member.at(Arena::kData, member.next())),
        rank_(member.next()),
        kind_(kind),
        levels_(shape.segments == 1 ? 0 : 1),
        stride_(static_cast<int>(shape.stride)),
        counts_{static_cast<int>(shape.segment_bytes), static_cast<int>(shape.segments)} {}

  /** Executes the transfer until the data is visible at its destination. */
  void operator()() {
    switch (kind_) {
      case Kind::put:
        if (levels_ == 0) {
          ARMCI_Put(local_, remote_, counts_[0], rank_);
        } else {
          ARMCI_PutS(local_, &stride_, remote_, &stride_, counts_.data(), levels_, rank_);
        }
        ARMCI_Fence(rank_);
        break;
      case Kind::accumulate:
        if (levels_ == 0) {
          ARMCI_Acc(ARMCI_ACC_DBL, &scale_, local_, remote_, counts_[0], rank_);
        } else {
          ARMCI_AccS(ARMCI_ACC_DBL, &scale_, local_, &stride_, remote_, &stride_, counts_.data(), levels_,
                     rank_);
        }
        ARMCI_Fence(rank_);
        break;
      case Kind::get:
        if (levels_ == 0) {
          ARMCI_Get(remote_, local_, counts_[0], rank_);
        } else {
          ARMCI_GetS(remote_, &stride_, local_, &stride_, counts_.data(), levels_, rank_);
        }
        break;
    }
  }

  static constexpr double kScale = 2.0;

 private:
  char* local_;
  char* remote_;
  int rank_;
  Kind kind_;
  int levels_;
  int stride_;
  std::array<int, 2> counts_;
  double scale_ = kScale;
};

/** Executes the transfer once. Returns whether it changed the right memory, and no other, to the
 * right data. Collective. */
inline bool transfer_is_right(ArmciMember& member, Kind kind, const StridedShape& shape, char* local) {
  constexpr double kBase = 3.0;
  char* const arena = member.local() + Arena::kData;
  const std::size_t bytes = span_bytes(shape);
  char* const source = kind == Kind::get ? arena : local;
  char* const target = kind == Kind::get ? local : arena;
  fill_pattern(source, bytes);
  fill_value(target, bytes, kBase);
  member.sync();
  if (acts(member)) Transfer(member, kind, shape, local)();
  member.sync();
  // With two ranks only rank 1's arena, or rank 0's buffer, was written.
  const bool written = member.size() > 2 || (member.rank() == 0) == (kind == Kind::get);
  if (!written) return true;
  return kind == Kind::accumulate ? holds(target, shape, kBase, kBase, Transfer::kScale)
                                  : holds(target, shape, kBase, 0.0, 1.0);
}

template <Kind kKind>
void transfer_suite(ArmciMeasure& measure) {
  ArmciMember& member = measure.backend();
  const LocalBuffer buffer(Arena::kLargeBytes - Arena::kData);
  const std::string ranks = " " + ranks_text(member.size());
  const auto row = [&](const std::string& what, const StridedShape& shape) {
    const std::size_t bytes = shape.segments * shape.segment_bytes;
    RowName name{kind_text(kKind), "armci " + what + kind_text(kKind) + " " + patch_text(shape) + ranks, "",
                 bytes};
    if (!measure.agree(name, transfer_is_right(member, kKind, shape, buffer.data()))) return;
    Transfer transfer(member, kKind, shape, buffer.data());
    measure_acting(measure, std::move(name), [&](std::size_t) { transfer(); });
  };
  for (const std::size_t bytes : kArmciSizes) row("", contiguous(bytes));
  for (const auto& [segments, segment_bytes] : kArmciShapes) {
    row(segments * segment_bytes <= kSmallPatch ? "small strided " : "strided ",
        two_dimensional(segments, segment_bytes));
  }
}

}  // namespace rma::bench
