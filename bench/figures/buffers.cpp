#include <algorithm>
#include <array>

#include "figures/job.hpp"

namespace rma::bench {
namespace {

std::size_t room(const std::vector<Case>& cases) {
  std::size_t most = 0;
  for (const Case& each : cases) {
    const std::size_t segments = each.bytes / each.segment;
    most = std::max(most, segments * (each.segment + each.gap));
  }
  return most;
}

}  // namespace

Buffers::Buffers(const Job& job, const std::vector<Case>& cases) : memory_(job.world, room(cases)) {
  const auto mine = memory_.local();
  std::fill(mine.begin(), mine.end(), std::byte{1});
  job.world.barrier();
}

rma::Request Buffers::start(const Case& each) const {
  const auto there = memory_[1];
  std::byte* const here = memory_.local().data();
  if (each.segment == each.bytes) {
    const std::span<std::byte> span(here, each.bytes);
    return each.put ? rma::put_nb(there, span) : rma::get_nb(span, there);
  }
  const std::array stride = {static_cast<std::ptrdiff_t>(each.segment + each.gap)};
  const std::array counts = {each.segment, each.bytes / each.segment};
  return each.put ? rma::put_strided_nb(there, stride, here, stride, counts)
                  : rma::get_strided_nb(here, stride, there, stride, counts);
}

void Buffers::finish(const Case& each, rma::Request& request) {
  request.wait();
  if (each.put) rma::fence(1);
}

void Buffers::move(const Case& each) const {
  rma::Request request = start(each);
  finish(each, request);
}

double Buffers::bandwidth(const Case& each, double at_least_ns, std::size_t window) const {
  std::vector<rma::Request> under_way(window);
  return bench::bandwidth(
      each.bytes, at_least_ns, window, [&](std::size_t place) { under_way[place] = start(each); },
      [&](std::size_t place) { under_way[place].wait(); },
      [&] {
        if (each.put) rma::fence(1);
      });
}

std::vector<Case> contiguous_cases(const FiguresOptions& options) {
  // Contiguous data in registered memory always takes the direct protocol. If its second half lies a cache
  // line further away, it is nearly contiguous, and every protocol can move it.
  constexpr std::size_t kLine = 64;
  std::vector<Case> cases;
  for (const std::size_t bytes : options.sizes) {
    for (const bool put : {true, false}) {
      cases.push_back({.put = put,
                       .layout = "contiguous",
                       .bytes = bytes,
                       .segment = options.copied ? bytes / 2 : bytes,
                       .gap = options.copied ? kLine : 0,
                       .named = bytes});
    }
  }
  return cases;
}

std::vector<Case> strided_cases(const FiguresOptions& options) {
  std::vector<Case> cases;
  for (const std::size_t segment : options.segments) {
    for (const bool put : {true, false}) {
      cases.push_back({.put = put,
                       .layout = "strided",
                       .bytes = options.total,
                       .segment = segment,
                       .gap = segment,
                       .named = segment});
    }
  }
  // The reference that the protocols are compared with.
  for (const bool put : {true, false}) {
    cases.push_back({.put = put,
                     .layout = "whole",
                     .bytes = options.total,
                     .segment = options.total,
                     .named = options.total});
  }
  return cases;
}

}  // namespace rma::bench
