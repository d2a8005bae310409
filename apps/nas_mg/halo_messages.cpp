// Swaps over librma's two-sided messages. Each box is one strided send, and its counterpart one strided
// receive. The channel is the message's tag.

#include <algorithm>
#include <cstdint>
#include <rma/rma.hpp>
#include <vector>

#include "halo.hpp"

namespace nas_mg {

namespace {

// The context of the swaps; the library's collectives have others.
constexpr std::uint32_t kContext = 0;
constexpr int kLevels = 2;

}  // namespace

struct Halo::Implementation {
  struct Exchange {
    int tag;
    int to;
    int from;
    const double* source;
    double* arrival;
    std::array<std::size_t, kLevels + 1> counts;  // the first in bytes, as the strides
    std::array<std::ptrdiff_t, kLevels> strides;
  };

  // In the heap, so that the receiver can copy from the sender's grid where it maps it.
  rma::SharedArray<double> memory;
  std::vector<std::vector<Exchange>> swaps;
  std::vector<rma::Request> requests;  // of the present swap

  explicit Implementation(std::size_t points) : memory(rma::Team::world(), points) {
    std::ranges::fill(memory.local(), 0.0);
  }
};

Halo::Halo(Job& /*job*/, std::size_t points, std::size_t /*channels*/)
    : implementation_(std::make_unique<Implementation>(points)) {}
Halo::~Halo() = default;

const char* Halo::communication() { return "librma, sends and receives"; }

double* Halo::memory() const { return implementation_->memory.local().data(); }

Halo::Swap Halo::describe(std::span<const Message> messages) {
  const auto bytes = [](std::size_t points) { return static_cast<std::ptrdiff_t>(points * sizeof(double)); };
  std::vector<Implementation::Exchange> swap;
  for (const Message& message : messages) {
    const Shape& shape = message.shape;
    swap.push_back({.tag = static_cast<int>(message.channel),
                    .to = message.to,
                    .from = message.from,
                    .source = memory() + message.source,
                    .arrival = memory() + message.arrival,
                    .counts = {shape.counts[0] * sizeof(double), shape.counts[1], shape.counts[2]},
                    .strides = {bytes(shape.strides[0]), bytes(shape.strides[1])}});
  }
  implementation_->swaps.push_back(std::move(swap));
  return implementation_->swaps.size() - 1;
}

void Halo::exchange(Swap swap) {
  std::vector<rma::Request>& requests = implementation_->requests;
  requests.clear();
  for (const auto& each : implementation_->swaps[swap]) {
    rma_request_t request = RMA_REQUEST_NULL;
    rma::check(rma_recv_strided_nb(each.arrival, each.strides.data(), each.counts.data(), kLevels, each.from,
                                   each.tag, kContext, nullptr, &request));
    requests.emplace_back(request);
  }
  for (const auto& each : implementation_->swaps[swap]) {
    rma_request_t request = RMA_REQUEST_NULL;
    rma::check(rma_send_strided_nb(each.source, each.strides.data(), each.counts.data(), kLevels, each.to,
                                   each.tag, kContext, &request));
    requests.emplace_back(request);
  }
  rma::wait_all(requests);
}

}  // namespace nas_mg
