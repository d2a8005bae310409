// Atomic operations: one counter for all ranks, and every operation on every rank.

#include <algorithm>
#include <cstdint>

#include "job.hpp"

namespace cluster_job {
namespace {

rma_status_t add_one(std::uint64_t* word, std::uint64_t* old, bool inlined, int rank) {
  return inlined ? rma_fetch_add8(word, 1, old, rank) : rma_atomic64(RMA_FETCH_ADD, word, 1, 0, old, rank);
}
rma_status_t add_one(std::uint32_t* word, std::uint32_t* old, bool /*inlined*/, int rank) {
  return rma_atomic32(RMA_FETCH_ADD, word, 1, 0, old, rank);
}

rma_status_t atomic(rma_atomic_op_t op, std::uint64_t* word, std::uint64_t operand, std::uint64_t compare,
                    std::uint64_t* old, int rank) {
  return rma_atomic64(op, word, operand, compare, old, rank);
}
rma_status_t atomic(rma_atomic_op_t op, std::uint32_t* word, std::uint32_t operand, std::uint32_t compare,
                    std::uint32_t* old, int rank) {
  return rma_atomic32(op, word, operand, compare, old, rank);
}

}  // namespace

/// Every rank, including the owner and its neighbours, adds to one counter of rank 0. No update is lost, and
/// no value is returned twice.
template <typename Word>
void hammer() {
  const auto total = static_cast<std::size_t>(argument) * ranks();
  const Shared shared(64 + sizeof(Word) * total);
  auto* const counter = reinterpret_cast<Word*>(shared.at(0));
  auto* const taken = reinterpret_cast<Word*>(shared.at(0) + 64);
  for (long i = 0; i < argument; ++i) {
    Word number = 0;
    if (!expect_ok(add_one(counter, &number, i % 2 == 0, 0), "fetch-and-add")) return;
    if (!expect(number < total, "a number in range")) return;
    expect_ok(add_one(taken + number, nullptr, false, 0), "mark");
  }
  barrier();
  if (rma_rank() == 0) {
    expect(*counter == total, "no addition is lost");
    expect(std::all_of(taken, taken + total, [](Word marks) { return marks == 1; }),
           "every number was given out once");
  }
  barrier();
}

template <typename Word>
void operations_on(char* there, int rank) {
  struct Step {
    rma_atomic_op_t op;
    Word operand;
    Word compare;
    Word after;
  };
  const Word ones = ~Word{0};
  const std::vector<Step> steps = {{RMA_FETCH_ADD, 5, 0, 12},
                                   {RMA_FETCH_ADD, ones, 0, 11},
                                   {RMA_SWAP, 100, 0, 100},
                                   {RMA_COMPARE_SWAP, 1, 99, 100},
                                   {RMA_COMPARE_SWAP, 6, 100, 6},
                                   {RMA_AND, 3, 0, 2},
                                   {RMA_OR, 9, 0, 11},
                                   {RMA_XOR, ones, 0, static_cast<Word>(ones - 11)},
                                   {RMA_SET, 42, 0, 42},
                                   {RMA_FETCH, 5, 5, 42}};
  auto* const word = reinterpret_cast<Word*>(there);
  const std::vector<Word> first = {7, ones};
  expect_ok(rma_put(there, first.data(), 2 * sizeof(Word), rank), "put");
  Word before = 7;
  for (const Step& step : steps) {
    Word old = before;
    expect_ok(atomic(step.op, word, step.operand, step.compare, &old, rank), "atomic");
    expect(step.op == RMA_SET || old == before, "the value before");
    std::vector<Word> now(2);
    expect_ok(rma_get(now.data(), there, 2 * sizeof(Word), rank), "get");
    expect(now[0] == step.after, "the value after");
    expect(now[1] == ones, "the word behind it");
    before = step.after;
  }
}

/// Every atomic operation on words of every rank.
template <typename Word>
void operations() {
  const Shared shared(2 * sizeof(Word) * ranks());
  for (int rank = 0; rank < rma_size(); ++rank) {
    operations_on<Word>(slice(shared, rank, 2 * sizeof(Word)), rank);
  }
  barrier();
}

template void hammer<std::uint32_t>();
template void hammer<std::uint64_t>();
template void operations_on<std::uint32_t>(char*, int);
template void operations_on<std::uint64_t>(char*, int);
template void operations<std::uint32_t>();
template void operations<std::uint64_t>();

}  // namespace cluster_job
