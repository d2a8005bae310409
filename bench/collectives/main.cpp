/**
 * @file main.cpp
 * collectives-bench: collective calls on librma's MPI, or on another MPI if compare.sh compiles it.
 */
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "collectives/calls.hpp"
#include "suites/buffers.hpp"

namespace rma::bench {
namespace {

constexpr std::array<std::size_t, 7> kSizes = {8, 512, 4096, 32768, 262144, 1048576, 4194304};
/** A row's block is at most as large as makes a rank's blocks for all ranks this large. */
constexpr std::size_t kMostOfAllBlocks = std::size_t{4} << 20;

bool has_blocks(Call call) {
  return call == Call::allgather || call == Call::gather || call == Call::scatter || call == Call::alltoall ||
         call == Call::reduce_scatter_block;
}

/** Returns whether the ranks are on several hosts, whose clocks differ. Collective. */
bool on_several_hosts() {
  MPI_Comm host = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  int here = 0;
  int all = 0;
  MPI_Comm_size(host, &here);
  MPI_Comm_size(MPI_COMM_WORLD, &all);
  MPI_Comm_free(&host);
  return here != all;
}

/** Measures a call between hosts. A sample is the longest time of a rank by its own clock, for one call. */
void measure_on_hosts(MpiMeasure& measure, const RowName& name, CallBuffers& buffers) {
  constexpr std::size_t kCalls = 40;
  constexpr int kSamples = 7;
  MpiMember& member = measure.backend();
  std::vector<double> samples;
  for (int sample = 0; sample < kSamples; ++sample) {
    member.sync();
    const double own = time_batch(kCalls, buffers) / static_cast<double>(kCalls);
    samples.push_back(member.greatest(own));
  }
  measure.record(name, "ns", std::move(samples));
}

void measure_call(MpiMeasure& measure, Call call, const std::string& what, std::size_t bytes) {
  MpiMember& member = measure.backend();
  const std::string size = call == Call::barrier ? "" : " " + size_text(bytes);
  const RowName name{what, "coll " + what + size + " " + ranks_text(member.size()), "", bytes};
  CallBuffers buffers(member, call, bytes);
  if (!measure.agree(name, buffers.is_right())) return;
  if (on_several_hosts()) {
    measure_on_hosts(measure, name, buffers);
  } else {
    measure.together(name, [&](std::size_t i) { buffers(i); });
  }
}

template <Call kCall>
void call_suite(MpiMeasure& measure) {
  static constexpr std::array<const char*, 10> kNames = {"barrier",   "bcast",     "reduce",
                                                         "allreduce", "allgather", "gather",
                                                         "scatter",   "alltoall",  "reduce_scatter_block",
                                                         "scan"};
  const std::string what = kNames[static_cast<std::size_t>(kCall)];
  if (kCall == Call::barrier) {
    measure_call(measure, kCall, what, 0);
    return;
  }
  for (const std::size_t bytes : kSizes) {
    const auto blocks = has_blocks(kCall) ? static_cast<std::size_t>(measure.backend().size()) : 1;
    if (bytes * blocks <= kMostOfAllBlocks) measure_call(measure, kCall, what, bytes);
  }
}

/** An MPI_Iallreduce of 1 MiB, beside as much computing as the blocking call takes: the rank calls MPI_Test
 * eight times meanwhile. The row is the time of both; its control is the computing alone. */
void overlap_suite(MpiMeasure& measure) {
  constexpr std::size_t kBytes = std::size_t{1} << 20;
  constexpr int kCount = static_cast<int>(kBytes / sizeof(double));
  constexpr int kTests = 8;
  const LocalBuffer out_memory(kBytes);
  const LocalBuffer in_memory(kBytes);
  double* const out = out_memory.doubles(kCount);
  double* const in = in_memory.doubles(kCount);
  constexpr double kComputing = 1e6;  // nanoseconds
  const auto compute = [&](auto&& test) {
    for (int part = 0; part < kTests; ++part) {
      const double until = now_ns() + kComputing / kTests;
      while (now_ns() < until) {
      }
      test();
    }
  };
  measure.together({"overlap", "coll overlap 1 MiB " + ranks_text(measure.backend().size()), "", kBytes},
                   [&](std::size_t) {
                     MPI_Request request = MPI_REQUEST_NULL;
                     MPI_Iallreduce(out, in, kCount, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
                     compute([&] {
                       int done = 0;
                       MPI_Test(&request, &done, MPI_STATUS_IGNORE);
                     });
                     MPI_Wait(&request, MPI_STATUS_IGNORE);
                   });
}

}  // namespace
}  // namespace rma::bench

int main(int argc, char** argv) {
  using namespace rma::bench;
  const std::vector<Suite<MpiMember>> suites = {
      {{"barrier", "MPI_Barrier"}, call_suite<Call::barrier>},
      {{"bcast", "MPI_Bcast, by size"}, call_suite<Call::bcast>},
      {{"reduce", "MPI_Reduce of doubles, by size"}, call_suite<Call::reduce>},
      {{"allreduce", "MPI_Allreduce of doubles, by size"}, call_suite<Call::allreduce>},
      {{"allgather", "MPI_Allgather, by size of a block"}, call_suite<Call::allgather>},
      {{"gather", "MPI_Gather, by size of a block"}, call_suite<Call::gather>},
      {{"scatter", "MPI_Scatter, by size of a block"}, call_suite<Call::scatter>},
      {{"alltoall", "MPI_Alltoall, by size of a block"}, call_suite<Call::alltoall>},
      {{"reduce_scatter_block", "MPI_Reduce_scatter_block, by size of a block"},
       call_suite<Call::reduce_scatter_block>},
      {{"scan", "MPI_Scan of doubles, by size"}, call_suite<Call::scan>},
      {{"overlap", "1 ms of computing beside an MPI_Iallreduce of 1 MiB"}, overlap_suite}};
  return run_program<MpiMember>(argc, argv, suites);
}
