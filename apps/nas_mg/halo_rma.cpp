// Swaps over librma. Each box is one strided put into the memory of its target, and the same call stores the
// new count into a counter there. A target waits only for its counters.

#include <algorithm>
#include <cstdint>
#include <rma/rma.hpp>
#include <vector>

#include "halo.hpp"

namespace nas_mg {

namespace {

// The distance between two counters is a cache line, so that writes to one do not disturb a rank
// that polls another.
constexpr std::size_t kCounterWords = 8;

}  // namespace

struct Halo::Implementation {
  struct Put {
    std::size_t channel;
    rma::GlobalPtr<double> destination;
    rma::GlobalPtr<std::uint64_t> counter;
    const double* source;
    std::array<std::size_t, 3> counts;
    std::array<std::ptrdiff_t, 2> strides;  // the same here and there
  };

  rma::Team world = rma::Team::world();
  rma::SharedArray<double> memory;
  // How many messages have arrived on each channel.
  rma::SharedArray<std::uint64_t> arrived;
  // How many messages this rank has sent on each channel. It expects as many, because each swap sends
  // and receives one.
  std::vector<std::uint64_t> sent;
  std::vector<std::vector<Put>> swaps;

  Implementation(std::size_t points, std::size_t channels)
      : memory(world, points), arrived(world, channels * kCounterWords), sent(channels, 0) {
    std::ranges::fill(memory.local(), 0.0);
    std::ranges::fill(arrived.local(), 0);
    world.barrier();  // nobody sends before every counter is 0
  }
};

Halo::Halo(Job& /*job*/, std::size_t points, std::size_t channels)
    : implementation_(std::make_unique<Implementation>(points, channels)) {}
Halo::~Halo() = default;

const char* Halo::communication() { return "librma, one-sided puts"; }

double* Halo::memory() const { return implementation_->memory.local().data(); }

Halo::Swap Halo::describe(std::span<const Message> messages) {
  std::vector<Implementation::Put> puts;
  for (const Message& message : messages) {
    puts.push_back({.channel = message.channel,
                    .destination = implementation_->memory[message.to] +
                                   static_cast<std::ptrdiff_t>(message.destination),
                    .counter = implementation_->arrived[message.to] +
                               static_cast<std::ptrdiff_t>(message.channel * kCounterWords),
                    .source = memory() + message.source,
                    .counts = message.shape.counts,
                    .strides = {static_cast<std::ptrdiff_t>(message.shape.strides[0]),
                                static_cast<std::ptrdiff_t>(message.shape.strides[1])}});
  }
  implementation_->swaps.push_back(std::move(puts));
  return implementation_->swaps.size() - 1;
}

void Halo::exchange(Swap swap) {
  const auto& puts = implementation_->swaps[swap];
  for (const auto& put : puts) {
    rma::put_strided_notify(put.destination, put.strides, put.source, put.strides, put.counts, put.counter,
                            ++implementation_->sent[put.channel]);
  }
  for (const auto& put : puts) {
    rma::wait_until(implementation_->arrived.local()[put.channel * kCounterWords],
                    rma::Compare::kGreaterEqual, implementation_->sent[put.channel]);
  }
}

}  // namespace nas_mg
