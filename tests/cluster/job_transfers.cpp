// Transfers: random puts and gets, buffers whose memory is replaced, more memory than can be registered.

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <random>

#include "job.hpp"

namespace cluster_job {

void exchange(const Shared& shared, Models& models, const std::vector<char*>& buffers, long rounds) {
  const std::size_t bytes_of_slice = models[0].size();
  std::mt19937_64 random(20261121U + static_cast<unsigned>(rma_rank()));
  for (long round = 0; round < rounds && !lost; ++round) {
    const int target = static_cast<int>(random() % static_cast<unsigned>(rma_size()));
    std::vector<char>& model = models[static_cast<std::size_t>(target)];
    const std::size_t bytes = 1 + random() % (std::size_t{1} << random() % 19);
    const std::size_t at = random() % (bytes_of_slice - bytes);
    char* const buffer = buffers[random() % buffers.size()];
    char* const there = slice(shared, target, bytes_of_slice) + at;
    if (random() % 3 != 0) {
      for (std::size_t i = 0; i < bytes; ++i) buffer[i] = static_cast<char>(random());
      expect_ok(rma_put(there, buffer, bytes, target), "put");
      std::memcpy(model.data() + at, buffer, bytes);
    } else {
      expect_ok(rma_get(buffer, there, bytes, target), "get");
      expect(lost || std::memcmp(buffer, model.data() + at, bytes) == 0, "a get sees what was put before it");
    }
  }
  expect_ok(rma_fence_all(), "fence_all");
  for (int target = 0; target < rma_size(); ++target) {
    const std::vector<char>& model = models[static_cast<std::size_t>(target)];
    for (char* const buffer : buffers) {
      expect_ok(rma_get(buffer, slice(shared, target, bytes_of_slice), bytes_of_slice, target),
                "get of a whole slice");
      expect(lost || std::memcmp(buffer, model.data(), bytes_of_slice) == 0, "a slice is as its model");
    }
  }
  barrier();
}

/// Traffic with every rank. `argument` rounds.
void traffic() {
  constexpr std::size_t kSlice = std::size_t{3} << 18;
  const Shared shared(kSlice * ranks());
  Models models(ranks(), std::vector<char>(kSlice));
  for (int target = 0; target < rma_size(); ++target) {
    expect_ok(rma_put(slice(shared, target, kSlice), models[0].data(), 1, target), "first put");
  }
  barrier();
  if (rma_rank() == 0) {
    std::printf("running\n");  // the scripts wait for this
    std::fflush(stdout);
  }
  std::vector<char> buffer(kSlice);
  exchange(shared, models, {buffer.data()}, argument);
}

/// The same with so much packet loss that ranks may count as lost. Operations that were reported complete
/// must be complete.
void lossy() {
  may_lose = true;
  traffic();
  std::fprintf(stderr, "rank %d: %s\n", rma_rank(), lost ? "a rank was lost" : "complete");
}

/// Puts from a buffer whose memory is replaced, at the same address, between two transfers.
void reuse_address() {
  constexpr std::size_t kBytes = std::size_t{1} << 20;
  const Shared shared(kBytes);
  const int far = first_of_another_host();
  const auto map = [&](void* where) {
    return mmap(where, kBytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | (where != nullptr ? MAP_FIXED : 0), -1, 0);
  };
  std::vector<char> back(kBytes);
  void* buffer = map(nullptr);
  for (int round = 1; round <= 8; ++round) {
    std::memset(buffer, round, kBytes);
    expect_ok(rma_put(shared.at(far), buffer, kBytes, far), "put");
    expect_ok(rma_fence(far), "fence");
    expect_ok(rma_get(back.data(), shared.at(far), kBytes, far), "get");
    expect(std::all_of(back.begin(), back.end(), [&](char byte) { return byte == round; }),
           "what arrived is the buffer's present content");
    if (round % 2 == 0) munmap(buffer, kBytes);
    expect(map(buffer) == buffer, "mapped at the same address");
  }
  // Now gets into the buffer: a stale registration would write to the old memory.
  for (int round = 1; round <= 4; ++round) {
    std::memset(back.data(), 100 + round, kBytes);
    expect_ok(rma_put(shared.at(far), back.data(), kBytes, far), "put");
    expect_ok(rma_get(buffer, shared.at(far), kBytes, far), "get");
    expect(std::memcmp(buffer, back.data(), kBytes) == 0, "what is got is in the buffer's present memory");
    munmap(buffer, kBytes);
    expect(map(buffer) == buffer, "mapped at the same address");
  }
  munmap(buffer, kBytes);
  barrier();
}

namespace {

/// Words of 4 and 8 bytes and elements to accumulate on, spread over all of a rank's memory, which all ranks
/// update at once.
void count_together(const Shared& shared, std::size_t bytes) {
  constexpr std::size_t kDistance = std::size_t{1} << 17;
  constexpr std::size_t kElements = 1000;
  struct Place {
    std::uint64_t eight;
    std::uint32_t four;
    std::uint32_t untouched;
    std::array<long, kElements> sums;
  };
  std::memset(shared.mine, 0, bytes);
  barrier();
  std::array<long, kElements> ones = {};
  ones.fill(1);
  const long two = 2;
  for (int rank = 0; rank < rma_size(); ++rank) {
    for (std::size_t at = 0; at < bytes; at += kDistance) {
      auto* const place = reinterpret_cast<Place*>(shared.at(rank) + at);
      expect_ok(rma_atomic64(RMA_FETCH_ADD, &place->eight, 1, 0, nullptr, rank), "8-byte fetch-and-add");
      expect_ok(rma_atomic32(RMA_FETCH_ADD, &place->four, 1, 0, nullptr, rank), "4-byte fetch-and-add");
      expect_ok(rma_acc(place->sums.data(), ones.data(), kElements, RMA_LONG, &two, rank), "accumulate");
    }
  }
  barrier();
  for (std::size_t at = 0; at < bytes; at += kDistance) {
    const auto* const place = reinterpret_cast<const Place*>(shared.mine + at);
    expect(place->eight == ranks(), "8-byte words");
    expect(place->four == ranks() && place->untouched == 0, "4-byte words");
    expect(
        std::all_of(place->sums.begin(), place->sums.end(), [](long sum) { return sum == 2L * rma_size(); }),
        "sums");
  }
  barrier();
}

/// Tests all of a rank's memory, by transfers with these buffers, and by updates of all ranks at once.
void use_all(const Shared& shared, std::size_t bytes, const std::vector<char*>& buffers) {
  Models models(ranks(), std::vector<char>(bytes / ranks()));
  for (int rank = 0; rank < rma_size(); ++rank) {
    std::vector<char>& model = models[static_cast<std::size_t>(rank)];
    for (std::size_t i = 0; i < model.size(); ++i) model[i] = static_cast<char>(i ^ (i >> 8U));
    expect_ok(rma_put(slice(shared, rank, model.size()), model.data(), model.size(), rank),
              "put of a whole slice");
  }
  exchange(shared, models, buffers, 60);
  count_together(shared, bytes);
}

}  // namespace

/// Uses `argument` MiB of the heap and of the user's memory, more than the limit allows to register. All of
/// it must work, on both sides of a transfer.
void memory_limit() {
  const std::size_t bytes = static_cast<std::size_t>(argument) << 20U;
  void* early = nullptr;  // can be registered, because it is the first
  expect_ok(rma_malloc_local(bytes / ranks(), 0, &early), "malloc_local");
  const Shared heap(bytes);
  void* late = nullptr;
  expect_ok(rma_malloc_local(bytes / ranks(), 0, &late), "malloc_local");
  std::vector<char> plain(bytes / ranks());
  const std::vector<char*> buffers = {static_cast<char*>(early), static_cast<char*>(late), plain.data()};
  use_all(heap, bytes, buffers);
  {
    const Shared users(bytes, Shared::Kind::registered);  // the limit is used up by then
    use_all(users, bytes, buffers);
    for (int rank = 0; rank < rma_size(); ++rank) {
      operations_on<std::uint32_t>(users.at(rank) + std::size_t{64} * static_cast<unsigned>(rma_rank()),
                                   rank);
      operations_on<std::uint64_t>(users.at(rank) + std::size_t{64} * static_cast<unsigned>(rma_rank()),
                                   rank);
    }
  }
  expect_ok(rma_free_local(late), "free_local");
  expect_ok(rma_free_local(early), "free_local");
}

}  // namespace cluster_job
