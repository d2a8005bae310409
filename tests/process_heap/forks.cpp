// Children of a process whose malloc is the process heap: by fork, with and without exec, by posix_spawn and
// system.

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "heap.hpp"

namespace {

constexpr int kBlocks = 1200;
const char* program = nullptr;

void expect_success(pid_t child) {
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/// Blocks of many sizes, each full of one value.
class Blocks {
 public:
  explicit Blocks(unsigned char value) {
    for (int i = 0; i < kBlocks; ++i)
      blocks_.emplace_back(i % 500 == 0 ? 3'000'000 : 10 + 7 * i % 5000, value);
  }
  void fill(unsigned char value) {
    for (auto& block : blocks_) std::fill(block.begin(), block.end(), value);
  }
  [[nodiscard]] bool full_of(unsigned char value) const {
    for (const auto& block : blocks_) {
      for (const unsigned char byte : block) {
        if (byte != value) return false;
      }
    }
    return true;
  }

 private:
  std::vector<std::vector<unsigned char>> blocks_;
};

/// More than jemalloc has ahead, so the process takes addresses that it has not had before.
constexpr std::size_t kFresh = std::size_t{80} << 20U;
constexpr std::size_t kPage = 4096;

// What one process stores after the fork, the other does not see, nor do their allocations meet.
void snapshot() {
  Blocks before(1);
  auto freed = std::make_unique<Blocks>(9);  // leaves dirty pages and gaps
  freed.reset();
  std::array<int, 2> go = {};
  CHECK(pipe(go.data()) == 0);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    char byte = 0;
    CHECK(read(go[0], &byte, 1) == 1);  // the parent has stored
    CHECK(before.full_of(1));
    before.fill(3);
    Blocks mine(4);
    auto* const fresh = static_cast<unsigned char*>(std::calloc(kFresh, 1));
    for (std::size_t at = 0; at < kFresh; at += kPage) CHECK(fresh[at] == 0);
    for (int i = 0; i < 100; ++i) {
      const std::size_t bytes = 1000 + static_cast<std::size_t>(i) * 5000;
      auto* const cleared = static_cast<unsigned char*>(std::calloc(bytes, 1));
      for (std::size_t at = 0; at < bytes; ++at) CHECK(cleared[at] == 0);
      std::memset(cleared, 0xee, bytes);
      if (i % 2 == 0) std::free(cleared);
    }
    const pid_t grandchild = fork();
    if (grandchild == 0) {
      CHECK(before.full_of(3) && mine.full_of(4));
      mine.fill(5);
      _exit(0);
    }
    expect_success(grandchild);
    CHECK(mine.full_of(4) && before.full_of(3));
    _exit(0);
  }
  before.fill(2);
  const Blocks after(6);
  auto* const fresh = static_cast<unsigned char*>(std::malloc(kFresh));
  for (std::size_t at = 0; at < kFresh; at += kPage) fresh[at] = 7;
  CHECK(write(go[1], "g", 1) == 1);
  expect_success(child);
  CHECK(before.full_of(2) && after.full_of(6));
  std::free(fresh);
  close(go[0]);
  close(go[1]);
}

// The arguments lie in blocks that the parent overwrites at once.
void exec() {
  for (int turn = 0; turn < 20; ++turn) {
    std::vector<std::string> words = {program, "arguments", std::string(100, 'a'), std::string(10'000, 'b')};
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      execv(pointers[0], pointers.data());
      _exit(99);
    }
    for (std::string& word : words) std::fill(word.begin(), word.end(), 'x');
    std::fill(pointers.begin(), pointers.end(), nullptr);
    expect_success(child);
  }
}

int check_arguments(int argc, char** argv) {
  return argc == 4 && std::string_view(argv[2]) == std::string(100, 'a') &&
                 std::string_view(argv[3]) == std::string(10'000, 'b')
             ? 0
             : 1;
}

void spawn() {
  std::vector<std::string> words = {program, "arguments", std::string(100, 'a'), std::string(10'000, 'b')};
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  pid_t child = 0;
  CHECK(posix_spawn(&child, program, nullptr, nullptr, pointers.data(), environ) == 0);
  expect_success(child);
  CHECK(system("exit 7") == 7 << 8);
  std::FILE* const stream = popen("echo heap", "r");
  std::array<char, 16> line = {};
  CHECK(std::fgets(line.data(), line.size(), stream) != nullptr && std::string_view(line.data()) == "heap\n");
  CHECK(pclose(stream) == 0);
}

/// Allocates a block and stores into it, so that the compiler cannot leave the block out.
void* touched_block(std::size_t bytes) {
  void* const block = std::malloc(bytes);
  CHECK(block != nullptr);
  *static_cast<volatile unsigned char*>(block) = 1;
  return block;
}

// Other threads allocate while one forks. The children allocate too. The blocks are so large that each takes
// an extent of jemalloc's, and the children take many, so that each lock of jemalloc's extents is asked for.
void threads() {
  constexpr int kForks = 40;
  constexpr int kBlocksOfChild = 300;
  constexpr std::size_t kExtent = 33'000;
  std::atomic<bool> stop = false;
  std::vector<std::thread> others;
  for (unsigned thread = 0; thread < 3; ++thread) {
    others.emplace_back([&stop, thread] {
      for (std::size_t i = 1; !stop.load(std::memory_order_relaxed); ++i) {
        std::vector<unsigned char> block(i * 977 % 60'000 + 1, static_cast<unsigned char>(thread));
        for (const unsigned char byte : block) CHECK(byte == thread);
        for (std::size_t extent = 0; extent < 20; ++extent) {
          std::free(touched_block(kExtent + extent * 4099));
        }
      }
    });
  }
  for (int turn = 0; turn < kForks; ++turn) {
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      for (int block = 0; block < kBlocksOfChild; ++block) touched_block(kExtent);
      const Blocks mine(8);
      _exit(mine.full_of(8) ? 0 : 1);
    }
    expect_success(child);
  }
  stop.store(true, std::memory_order_relaxed);
  for (std::thread& other : others) other.join();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2) return check_arguments(argc, argv);
  program = argv[0];
  CHECK(shown_heap().reason == nullptr);
  snapshot();
  exec();
  spawn();
  threads();
  std::puts("forks: right");
}
