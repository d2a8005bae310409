#include "collective_case.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace mpi_test {
namespace {

enum Kind : int {
  kBarrier,
  kBcast,
  kGather,
  kGatherv,
  kScatter,
  kScatterv,
  kAllgather,
  kAllgatherv,
  kAlltoall,
  kAlltoallv,
  kAlltoallw,
  kReduce,
  kAllreduce,
  kReduceScatterBlock,
  kReduceScatter,
  kScan,
  kExscan
};

constexpr std::int64_t kGap = -77;

/// Numbers of elements: none, few, and enough for the algorithms of long data.
int draw_count(std::mt19937& random) {
  constexpr int kCounts[] = {0, 1, 2, 5, 30, 200, 1500, 9000};
  return kCounts[random() % 8];
}

}  // namespace

CollectiveCase::CollectiveCase(int kind, MPI_Comm comm, MPI_Op affine, std::mt19937& random)
    : kind_(kind),
      comm_(comm),
      rank_(rank_in(comm)),
      size_(size_of(comm)),
      count_(draw_count(random)),
      root_(static_cast<int>(random() % static_cast<unsigned>(size_))),
      salt_(static_cast<int>(random() % 1000)),
      large_(random() % 2 == 0),
      in_place_(random() % 3 == 0),
      affine_(random() % 2 == 0) {
  op_ = affine_ ? affine : MPI_SUM;
  const bool rooted =
      kind == kGather || kind == kGatherv || kind == kScatter || kind == kScatterv || kind == kReduce;
  if (kind == kBcast || kind == kBarrier || (rooted && !at_root())) in_place_ = false;
  make_layouts();
}

void CollectiveCase::make_layouts() {
  const bool uneven =
      kind_ == kGatherv || kind_ == kScatterv || kind_ == kAllgatherv || kind_ == kReduceScatter;
  for (int member = 0; member < size_; ++member) {
    if (kind_ == kAlltoallv || kind_ == kAlltoallw) {
      // As much goes one way as the other, which a call in place needs.
      to_.add((rank_ + member) % 3 * count_ / 4);
      from_.add((rank_ + member) % 3 * count_ / 4);
    } else {
      to_.add(uneven ? member % 3 * count_ : count_);
    }
  }
}

std::int64_t CollectiveCase::value(int member, int index) const {
  return (member + 1) * 1000003LL + index * 17LL + salt_ * 101LL + round_;
}

CollectiveCase::Values CollectiveCase::values(int member, int from, int count) const {
  Values made(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) made[static_cast<std::size_t>(i)] = value(member, from + i);
  return made;
}

std::int64_t CollectiveCase::reduced(int end, int index) const {
  auto sum = static_cast<std::uint64_t>(value(0, index));
  for (int member = 1; member < end; ++member) {
    const auto next = static_cast<std::uint64_t>(value(member, index));
    // What the program's operator does with two halves of 32 bits, in the order of ranks.
    sum = affine_ ? (((sum >> 32) * (next >> 32)) << 32) |
                        static_cast<std::uint32_t>(static_cast<std::uint32_t>(sum) * (next >> 32) + next)
                  : sum + next;
  }
  return static_cast<std::int64_t>(sum);
}

void CollectiveCase::fill(int round) {
  round_ = round;
  // A persistent call has the addresses of the first round.
  Values in;
  Values out;
  fill(in, out);
  const auto keep = [](Values& buffer, Values& with) {
    if (buffer.size() == with.size()) {
      std::copy(with.begin(), with.end(), buffer.begin());
    } else {
      buffer = std::move(with);
    }
  };
  keep(in_, in);
  keep(out_, out);
}

void CollectiveCase::fill(Values& in, Values& out) const {
  const int whole = count_ * size_;
  const auto at = [](const Layout& layout, int member) {
    return layout.places[static_cast<std::size_t>(member)];
  };
  const auto count = [](const Layout& layout, int member) {
    return layout.counts[static_cast<std::size_t>(member)];
  };
  switch (kind_) {
    case kBarrier:
      return;
    case kBcast:
      in = at_root() ? values(root_, 0, count_) : Values(static_cast<std::size_t>(count_), kGap);
      return;
    case kScatter:
      out = at_root() ? values(root_, 0, whole) : Values();
      in.assign(static_cast<std::size_t>(count_), kGap);
      return;
    case kScatterv:
      out = at_root() ? values(root_, 0, to_.total) : Values();
      in.assign(static_cast<std::size_t>(count(to_, rank_)), kGap);
      return;
    case kAlltoall:
      out = values(rank_, 0, whole);
      in = in_place_ ? out : Values(static_cast<std::size_t>(whole), kGap);
      return;
    case kAlltoallv:
    case kAlltoallw:
      out = values(rank_, 0, from_.total);
      in = in_place_ ? out : Values(static_cast<std::size_t>(to_.total), kGap);
      return;
    case kGather:
    case kAllgather:
      out = values(rank_, 0, count_);
      in.assign(static_cast<std::size_t>(whole), kGap);
      if (in_place_) std::copy(out.begin(), out.end(), in.begin() + rank_ * count_);
      return;
    case kGatherv:
    case kAllgatherv:
      out = values(rank_, 0, count(to_, rank_));
      in.assign(static_cast<std::size_t>(to_.total), kGap);
      if (in_place_) std::copy(out.begin(), out.end(), in.begin() + at(to_, rank_));
      return;
    case kReduceScatterBlock:
    case kReduceScatter: {
      int total = 0;
      for (const int one : to_.counts) total += one;
      out = values(rank_, 0, total);
      in = in_place_ ? out : Values(static_cast<std::size_t>(count(to_, rank_)), kGap);
      return;
    }
    default:
      out = values(rank_, 0, count_);
      in = in_place_ ? out : Values(static_cast<std::size_t>(count_), kGap);
      return;
  }
}

void CollectiveCase::expect_whole(const Values& got, const Values& expected, const char* what) const {
  if (got == expected) return;
  std::fprintf(stderr, "rank %d of %d: %s of %d elements, root %d, in place %d, affine %d, round %d\n", rank_,
               size_, what, count_, root_, in_place_ ? 1 : 0, affine_ ? 1 : 0, round_);
  CHECK(got == expected);
}

void CollectiveCase::check() const {
  Values expected;
  const auto append = [&](const Values& more) { expected.insert(expected.end(), more.begin(), more.end()); };
  int begin = 0;
  switch (kind_) {
    case kBarrier:
      return;
    case kBcast:
      return expect_whole(in_, values(root_, 0, count_), "bcast");
    case kScatter:
      if (in_place_) return;
      return expect_whole(in_, values(root_, rank_ * count_, count_), "scatter");
    case kScatterv:
      if (in_place_) return;
      return expect_whole(in_,
                          values(root_, to_.places[static_cast<std::size_t>(rank_)],
                                 to_.counts[static_cast<std::size_t>(rank_)]),
                          "scatterv");
    case kGather:
    case kGatherv:
      if (!at_root()) return;
      [[fallthrough]];
    case kAllgather:
    case kAllgatherv:
      for (int member = 0; member < size_; ++member) {
        append(values(member, 0, to_.counts[static_cast<std::size_t>(member)]));
        if (kind_ == kGatherv || kind_ == kAllgatherv) expected.push_back(kGap);
      }
      return expect_whole(in_, expected, "gather");
    case kAlltoall:
      for (int member = 0; member < size_; ++member) append(values(member, rank_ * count_, count_));
      return expect_whole(in_, expected, "alltoall");
    case kAlltoallv:
    case kAlltoallw:
      for (int member = 0; member < size_; ++member) {
        // Where the member's part for this rank begins in its own buffer.
        int place = 0;
        for (int other = 0; other < rank_; ++other) place += (member + other) % 3 * count_ / 4 + 1;
        append(values(member, place, to_.counts[static_cast<std::size_t>(member)]));
        const auto gap = static_cast<std::size_t>(to_.places[static_cast<std::size_t>(member)] +
                                                  to_.counts[static_cast<std::size_t>(member)]);
        expected.push_back(in_place_ ? out_[gap] : kGap);
      }
      return expect_whole(in_, expected, "alltoallv");
    default:
      break;
  }
  const auto combined = [&](int end, int from, int count) {
    for (int i = 0; i < count; ++i) expected.push_back(reduced(end, from + i));
  };
  if (kind_ == kReduceScatterBlock || kind_ == kReduceScatter) {
    for (int member = 0; member < rank_; ++member) begin += to_.counts[static_cast<std::size_t>(member)];
    combined(size_, begin, to_.counts[static_cast<std::size_t>(rank_)]);
    return expect_whole(Values(in_.begin(), in_.begin() + static_cast<std::ptrdiff_t>(expected.size())),
                        expected, "reduce_scatter");
  }
  if (kind_ == kReduce && !at_root()) return;
  if (kind_ == kExscan && rank_ == 0) return;
  combined(kind_ == kScan ? rank_ + 1 : kind_ == kExscan ? rank_ : size_, 0, count_);
  expect_whole(in_, expected, "reduction");
}

int CollectiveCase::begin(MPI_Request* request) const {
  return kind_ < kReduce ? begin_data(request) : begin_reduction(request);
}

int CollectiveCase::init(MPI_Request* request) const {
  return kind_ < kReduce ? init_data(request) : init_reduction(request);
}

int CollectiveCase::begin_data(MPI_Request* request) const {
  const MPI_Datatype type = MPI_INT64_T;
  const auto me = static_cast<std::size_t>(rank_);
  void* const target = in_place_ ? MPI_IN_PLACE : in_.data();
  switch (kind_) {
    case kBarrier:
      return MPI_Ibarrier(comm_, request);
    case kBcast:
      if (large_) return MPI_Ibcast_c(in_.data(), count_, type, root_, comm_, request);
      return MPI_Ibcast(in_.data(), count_, type, root_, comm_, request);
    case kGather:
      if (large_)
        return MPI_Igather_c(source(), count_, type, in_.data(), count_, type, root_, comm_, request);
      return MPI_Igather(source(), count_, type, in_.data(), count_, type, root_, comm_, request);
    case kGatherv:
      if (large_)
        return MPI_Igatherv_c(source(), to_.counts[me], type, in_.data(), to_.wide_counts.data(),
                              to_.wide_places.data(), type, root_, comm_, request);
      return MPI_Igatherv(source(), to_.counts[me], type, in_.data(), to_.counts.data(), to_.places.data(),
                          type, root_, comm_, request);
    case kScatter:
      if (large_)
        return MPI_Iscatter_c(out_.data(), count_, type, target, count_, type, root_, comm_, request);
      return MPI_Iscatter(out_.data(), count_, type, target, count_, type, root_, comm_, request);
    case kScatterv:
      if (large_)
        return MPI_Iscatterv_c(out_.data(), to_.wide_counts.data(), to_.wide_places.data(), type, target,
                               to_.counts[me], type, root_, comm_, request);
      return MPI_Iscatterv(out_.data(), to_.counts.data(), to_.places.data(), type, target, to_.counts[me],
                           type, root_, comm_, request);
    case kAllgather:
      if (large_) return MPI_Iallgather_c(source(), count_, type, in_.data(), count_, type, comm_, request);
      return MPI_Iallgather(source(), count_, type, in_.data(), count_, type, comm_, request);
    case kAllgatherv:
      if (large_)
        return MPI_Iallgatherv_c(source(), to_.counts[me], type, in_.data(), to_.wide_counts.data(),
                                 to_.wide_places.data(), type, comm_, request);
      return MPI_Iallgatherv(source(), to_.counts[me], type, in_.data(), to_.counts.data(), to_.places.data(),
                             type, comm_, request);
    case kAlltoall:
      if (large_) return MPI_Ialltoall_c(source(), count_, type, in_.data(), count_, type, comm_, request);
      return MPI_Ialltoall(source(), count_, type, in_.data(), count_, type, comm_, request);
    case kAlltoallv:
      if (large_)
        return MPI_Ialltoallv_c(source(), from_.wide_counts.data(), from_.wide_places.data(), type,
                                in_.data(), to_.wide_counts.data(), to_.wide_places.data(), type, comm_,
                                request);
      return MPI_Ialltoallv(source(), from_.counts.data(), from_.places.data(), type, in_.data(),
                            to_.counts.data(), to_.places.data(), type, comm_, request);
    case kAlltoallw:
      if (large_)
        return MPI_Ialltoallw_c(source(), from_.wide_counts.data(), from_.wide_byte_places.data(),
                                from_.types.data(), in_.data(), to_.wide_counts.data(),
                                to_.wide_byte_places.data(), to_.types.data(), comm_, request);
      return MPI_Ialltoallw(source(), from_.counts.data(), from_.byte_places.data(), from_.types.data(),
                            in_.data(), to_.counts.data(), to_.byte_places.data(), to_.types.data(), comm_,
                            request);
    default:
      return MPI_ERR_INTERN;
  }
}

int CollectiveCase::begin_reduction(MPI_Request* request) const {
  const MPI_Datatype type = MPI_INT64_T;
  switch (kind_) {
    case kReduce:
      if (large_) return MPI_Ireduce_c(source(), in_.data(), count_, type, op_, root_, comm_, request);
      return MPI_Ireduce(source(), in_.data(), count_, type, op_, root_, comm_, request);
    case kAllreduce:
      if (large_) return MPI_Iallreduce_c(source(), in_.data(), count_, type, op_, comm_, request);
      return MPI_Iallreduce(source(), in_.data(), count_, type, op_, comm_, request);
    case kReduceScatterBlock:
      if (large_) return MPI_Ireduce_scatter_block_c(source(), in_.data(), count_, type, op_, comm_, request);
      return MPI_Ireduce_scatter_block(source(), in_.data(), count_, type, op_, comm_, request);
    case kReduceScatter:
      if (large_)
        return MPI_Ireduce_scatter_c(source(), in_.data(), to_.wide_counts.data(), type, op_, comm_, request);
      return MPI_Ireduce_scatter(source(), in_.data(), to_.counts.data(), type, op_, comm_, request);
    case kScan:
      if (large_) return MPI_Iscan_c(source(), in_.data(), count_, type, op_, comm_, request);
      return MPI_Iscan(source(), in_.data(), count_, type, op_, comm_, request);
    case kExscan:
      if (large_) return MPI_Iexscan_c(source(), in_.data(), count_, type, op_, comm_, request);
      return MPI_Iexscan(source(), in_.data(), count_, type, op_, comm_, request);
    default:
      return MPI_ERR_INTERN;
  }
}

int CollectiveCase::init_data(MPI_Request* request) const {
  const MPI_Datatype type = MPI_INT64_T;
  const auto me = static_cast<std::size_t>(rank_);
  void* const target = in_place_ ? MPI_IN_PLACE : in_.data();
  switch (kind_) {
    case kBarrier:
      return MPI_Barrier_init(comm_, MPI_INFO_NULL, request);
    case kBcast:
      if (large_) return MPI_Bcast_init_c(in_.data(), count_, type, root_, comm_, MPI_INFO_NULL, request);
      return MPI_Bcast_init(in_.data(), count_, type, root_, comm_, MPI_INFO_NULL, request);
    case kGather:
      if (large_)
        return MPI_Gather_init_c(source(), count_, type, in_.data(), count_, type, root_, comm_,
                                 MPI_INFO_NULL, request);
      return MPI_Gather_init(source(), count_, type, in_.data(), count_, type, root_, comm_, MPI_INFO_NULL,
                             request);
    case kGatherv:
      if (large_)
        return MPI_Gatherv_init_c(source(), to_.counts[me], type, in_.data(), to_.wide_counts.data(),
                                  to_.wide_places.data(), type, root_, comm_, MPI_INFO_NULL, request);
      return MPI_Gatherv_init(source(), to_.counts[me], type, in_.data(), to_.counts.data(),
                              to_.places.data(), type, root_, comm_, MPI_INFO_NULL, request);
    case kScatter:
      if (large_)
        return MPI_Scatter_init_c(out_.data(), count_, type, target, count_, type, root_, comm_,
                                  MPI_INFO_NULL, request);
      return MPI_Scatter_init(out_.data(), count_, type, target, count_, type, root_, comm_, MPI_INFO_NULL,
                              request);
    case kScatterv:
      if (large_)
        return MPI_Scatterv_init_c(out_.data(), to_.wide_counts.data(), to_.wide_places.data(), type, target,
                                   to_.counts[me], type, root_, comm_, MPI_INFO_NULL, request);
      return MPI_Scatterv_init(out_.data(), to_.counts.data(), to_.places.data(), type, target,
                               to_.counts[me], type, root_, comm_, MPI_INFO_NULL, request);
    case kAllgather:
      if (large_)
        return MPI_Allgather_init_c(source(), count_, type, in_.data(), count_, type, comm_, MPI_INFO_NULL,
                                    request);
      return MPI_Allgather_init(source(), count_, type, in_.data(), count_, type, comm_, MPI_INFO_NULL,
                                request);
    case kAllgatherv:
      if (large_)
        return MPI_Allgatherv_init_c(source(), to_.counts[me], type, in_.data(), to_.wide_counts.data(),
                                     to_.wide_places.data(), type, comm_, MPI_INFO_NULL, request);
      return MPI_Allgatherv_init(source(), to_.counts[me], type, in_.data(), to_.counts.data(),
                                 to_.places.data(), type, comm_, MPI_INFO_NULL, request);
    case kAlltoall:
      if (large_)
        return MPI_Alltoall_init_c(source(), count_, type, in_.data(), count_, type, comm_, MPI_INFO_NULL,
                                   request);
      return MPI_Alltoall_init(source(), count_, type, in_.data(), count_, type, comm_, MPI_INFO_NULL,
                               request);
    case kAlltoallv:
      if (large_)
        return MPI_Alltoallv_init_c(source(), from_.wide_counts.data(), from_.wide_places.data(), type,
                                    in_.data(), to_.wide_counts.data(), to_.wide_places.data(), type, comm_,
                                    MPI_INFO_NULL, request);
      return MPI_Alltoallv_init(source(), from_.counts.data(), from_.places.data(), type, in_.data(),
                                to_.counts.data(), to_.places.data(), type, comm_, MPI_INFO_NULL, request);
    case kAlltoallw:
      if (large_)
        return MPI_Alltoallw_init_c(source(), from_.wide_counts.data(), from_.wide_byte_places.data(),
                                    from_.types.data(), in_.data(), to_.wide_counts.data(),
                                    to_.wide_byte_places.data(), to_.types.data(), comm_, MPI_INFO_NULL,
                                    request);
      return MPI_Alltoallw_init(source(), from_.counts.data(), from_.byte_places.data(), from_.types.data(),
                                in_.data(), to_.counts.data(), to_.byte_places.data(), to_.types.data(),
                                comm_, MPI_INFO_NULL, request);
    default:
      return MPI_ERR_INTERN;
  }
}

int CollectiveCase::init_reduction(MPI_Request* request) const {
  const MPI_Datatype type = MPI_INT64_T;
  switch (kind_) {
    case kReduce:
      if (large_)
        return MPI_Reduce_init_c(source(), in_.data(), count_, type, op_, root_, comm_, MPI_INFO_NULL,
                                 request);
      return MPI_Reduce_init(source(), in_.data(), count_, type, op_, root_, comm_, MPI_INFO_NULL, request);
    case kAllreduce:
      if (large_)
        return MPI_Allreduce_init_c(source(), in_.data(), count_, type, op_, comm_, MPI_INFO_NULL, request);
      return MPI_Allreduce_init(source(), in_.data(), count_, type, op_, comm_, MPI_INFO_NULL, request);
    case kReduceScatterBlock:
      if (large_)
        return MPI_Reduce_scatter_block_init_c(source(), in_.data(), count_, type, op_, comm_, MPI_INFO_NULL,
                                               request);
      return MPI_Reduce_scatter_block_init(source(), in_.data(), count_, type, op_, comm_, MPI_INFO_NULL,
                                           request);
    case kReduceScatter:
      if (large_)
        return MPI_Reduce_scatter_init_c(source(), in_.data(), to_.wide_counts.data(), type, op_, comm_,
                                         MPI_INFO_NULL, request);
      return MPI_Reduce_scatter_init(source(), in_.data(), to_.counts.data(), type, op_, comm_, MPI_INFO_NULL,
                                     request);
    case kScan:
      if (large_)
        return MPI_Scan_init_c(source(), in_.data(), count_, type, op_, comm_, MPI_INFO_NULL, request);
      return MPI_Scan_init(source(), in_.data(), count_, type, op_, comm_, MPI_INFO_NULL, request);
    case kExscan:
      if (large_)
        return MPI_Exscan_init_c(source(), in_.data(), count_, type, op_, comm_, MPI_INFO_NULL, request);
      return MPI_Exscan_init(source(), in_.data(), count_, type, op_, comm_, MPI_INFO_NULL, request);
    default:
      return MPI_ERR_INTERN;
  }
}
}  // namespace mpi_test
