// The symmetric heap: random allocations, against a model that knows which bytes are in use.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "check.hpp"

namespace {

struct Block {
  unsigned char* address;
  std::size_t bytes;
  unsigned char value;
};

bool holds(const Block& block, std::size_t bytes) {
  return std::all_of(block.address, block.address + bytes,
                     [&](unsigned char byte) { return byte == block.value; });
}

bool apart(const Block& one, const Block& other) {
  return one.address + one.bytes <= other.address || other.address + other.bytes <= one.address;
}

/// A new block overlaps none, has its alignment, lies at the same offset from the first block on all PEs, and
/// keeps what is written to it while others come and go.
class Model {
 public:
  explicit Model(std::mt19937_64 source)
      : source_(source), base_(static_cast<unsigned char*>(shmem_malloc(64))) {}

  void step() {
    const auto kind = source_() % 8;
    if (kind < 3 || blocks_.empty()) return allocate(draw_bytes(), 1);
    if (kind == 3) return allocate(draw_bytes(), std::size_t{1} << source_() % 22);
    if (kind == 4) return allocate_zeroed();
    const auto chosen = static_cast<std::ptrdiff_t>(source_() % blocks_.size());
    if (kind == 5) return reallocate(blocks_[static_cast<std::size_t>(chosen)]);
    CHECK(holds(blocks_[static_cast<std::size_t>(chosen)], blocks_[static_cast<std::size_t>(chosen)].bytes));
    shmem_free(blocks_[static_cast<std::size_t>(chosen)].address);
    blocks_.erase(blocks_.begin() + chosen);
  }

  void end() {
    for (const Block& block : blocks_) {
      CHECK(holds(block, block.bytes));
      shmem_free(block.address);
    }
    shmem_free(base_);
  }

 private:
  std::size_t draw_bytes() { return 1 + source_() % (std::size_t{1} << (4 + source_() % 15)); }

  void take(unsigned char* address, std::size_t bytes, std::size_t alignment) {
    const Block block = {address, bytes, static_cast<unsigned char>(source_())};
    if (address == nullptr) return CHECK(address != nullptr);
    CHECK(reinterpret_cast<std::uintptr_t>(address) % alignment == 0);
    for (const Block& other : blocks_) CHECK(apart(block, other));
    auto* const offsets = static_cast<long*>(shmem_malloc(2 * sizeof(long)));
    offsets[0] = address - base_;
    shmem_long_max_reduce(SHMEM_TEAM_WORLD, &offsets[1], &offsets[0], 1);
    CHECK(offsets[0] == offsets[1]);
    shmem_free(offsets);
    std::memset(address, block.value, bytes);
    blocks_.push_back(block);
  }

  void allocate(std::size_t bytes, std::size_t alignment) {
    void* const made = alignment == 1 ? shmem_malloc(bytes) : shmem_align(alignment, bytes);
    take(static_cast<unsigned char*>(made), bytes, alignment);
  }

  void allocate_zeroed() {
    const std::size_t bytes = draw_bytes();
    auto* const made = static_cast<unsigned char*>(shmem_calloc(bytes, 1));
    CHECK(std::all_of(made, made + bytes, [](unsigned char byte) { return byte == 0; }));
    take(made, bytes, 1);
  }

  void reallocate(Block& block) {
    const std::size_t bytes = draw_bytes();
    block.address = static_cast<unsigned char*>(shmem_realloc(block.address, bytes));
    CHECK(holds(block, std::min(bytes, block.bytes)));
    block.bytes = bytes;
    std::memset(block.address, block.value, bytes);
    for (const Block& other : blocks_) CHECK(&other == &block || apart(block, other));
  }

  std::mt19937_64 source_;
  unsigned char* base_;
  std::vector<Block> blocks_;
};

void check_special() {
  CHECK(shmem_malloc(0) == nullptr);
  CHECK(shmem_calloc(0, 8) == nullptr);
  CHECK(shmem_calloc(SIZE_MAX, 2) == nullptr);
  CHECK(shmem_malloc(SIZE_MAX) == nullptr);
  CHECK(shmem_malloc(SIZE_MAX / 2) == nullptr);
  shmem_free(nullptr);
  void* const block = shmem_realloc(nullptr, 100);
  CHECK(block != nullptr);
  CHECK(shmem_realloc(block, 0) == nullptr);
  void* const hinted = shmem_malloc_with_hints(8, SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE);
  CHECK(hinted != nullptr);
  shmem_free(hinted);
  void* const old = shmalloc(8);
  shfree(shrealloc(old, 16));
  shfree(shmemalign(128, 8));
}

}  // namespace

int main() {
  shmem_init();
  Model model(shmem_tests::generator());
  check_special();
  for (int i = 0; i < 300; ++i) model.step();
  model.end();
  return shmem_tests::result();
}
