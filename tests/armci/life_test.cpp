// Initializing and finalizing, nested and repeated. This is not a GoogleTest, because each round is a job
// of its own.
//
// usage: life_test                 rounds of initializing and finalizing; exits with 0 if all is right
//        life_test MISUSE          does something that ends the job
//        life_test exit KIND       ends with code 0 without ARMCI_Finalize
#include <armci.h>
#include <message.h>
#include <rma/rma.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

namespace {

void expect(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "process %d: %s\n", rma_rank(), what);
  std::exit(EXIT_FAILURE);
}

/// Uses a little of everything that has a state.
void use() {
  const int me = rma_rank();
  const int size = rma_size();
  std::vector<void*> addresses(static_cast<std::size_t>(size));
  expect(ARMCI_Malloc(addresses.data(), 64) == 0, "malloc");
  const int next = (me + 1) % size;
  expect(ARMCI_PutValueInt(me, addresses[static_cast<std::size_t>(next)], next) == 0, "put");
  expect(armci_notify(next) == 1, "the counters begin again");
  int waited = 0;
  armci_notify_wait((me + size - 1) % size, &waited);
  expect(waited == 1, "one notification was waited for");
  expect(*static_cast<int*>(addresses[static_cast<std::size_t>(me)]) == (me + size - 1) % size, "data");
  expect(ARMCI_Create_mutexes(1) == 0, "mutexes");
  ARMCI_Lock(0, 0);
  ARMCI_Unlock(0, 0);
  std::vector<int> members(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i) members[static_cast<std::size_t>(i)] = i;
  ARMCI_Group group = 0;
  ARMCI_Group_create(size, members.data(), &group);
  expect(group == 1, "the first group");
  // ARMCI_Finalize frees the mutexes, the group and the memory.
}

/// Each process is a job of its own, with any launcher, because rma_init_with says which
/// processes belong together.
void alone() {
  const auto allgather = [](void* /*context*/, const void* mine, void* all, std::size_t bytes) {
    std::memcpy(all, mine, bytes);
    return 0;
  };
  const auto fail = [](void* /*context*/, const void* /*mine*/, void* /*all*/, std::size_t /*bytes*/) {
    return 1;
  };
  const auto barrier = [](void* /*context*/) { return 0; };
  rma_bootstrap_t given = {0, 1, allgather, barrier, nullptr, nullptr};
  expect(rma_init_with(nullptr) == RMA_ERR_ARGUMENT, "no bootstrap");
  given.barrier = nullptr;
  expect(rma_init_with(&given) == RMA_ERR_ARGUMENT, "no barrier");
  given.barrier = barrier;
  given.rank = 1;
  expect(rma_init_with(&given) == RMA_ERR_RANK, "rank 1 of 1");
  given.rank = 0;
  given.allgather = fail;
  expect(rma_init_with(&given) == RMA_ERR_LAUNCH, "a failing call");
  given.allgather = allgather;
  expect(rma_initialized() == 0, "nothing has begun");
  expect(rma_init_with(&given) == RMA_SUCCESS, "rma_init_with");
  expect(rma_init_with(&given) == RMA_ERR_STATE, "twice");
  expect(rma_size() == 1 && rma_rank() == 0, "a job of one");
  expect(rma_init() == RMA_SUCCESS && rma_finalize() == RMA_SUCCESS, "nested");
  expect(rma_finalize() == RMA_SUCCESS && rma_initialized() == 0, "the end");
}

int misuse(std::string_view kind) {
  if (kind == "before") {
    ARMCI_Barrier();
    return EXIT_SUCCESS;
  }
  ARMCI_Init();
  if (kind == "error") ARMCI_Error("the program says so", 7);
  if (kind == "die") armci_die("the program dies", 300);  // the exit code has 8 bits: 44
  if (kind == "die2") armci_die2("the program dies", 256, 9);
  if (kind == "buffered") {
    // The C library writes this to a pipe only when the buffer is full or flushed.
    std::printf("standard output\n");
    FILE* const file = std::fopen("/dev/fd/1", "w");
    std::fputs("another stream\n", file);
    ARMCI_Error("behind it", 7);
  }
  if (kind == "unaligned") {
    const auto other = static_cast<std::size_t>((rma_rank() + 1) % rma_size());
    std::vector<void*> addresses(static_cast<std::size_t>(rma_size()));
    ARMCI_Malloc(addresses.data(), 64);
    double one = 1;
    int stride = 8;
    std::array<int, 2> counts = {8, 1};
    char* const at = static_cast<char*>(addresses[other]) + 4;
    ARMCI_AccS(ARMCI_ACC_DBL, &one, &one, &stride, at, &stride, counts.data(), 1, static_cast<int>(other));
  }
  if (kind == "swapped") {
    // The list has 16 pieces of 1 byte in place of 1 piece of 16 bytes: 15 addresses come from behind the
    // list.
    std::array<char, 16> data = {};
    std::array<void*, 16> from;
    std::array<void*, 16> to;
    from.fill(data.data());
    to.fill(data.data());
    armci_giov_t list = {from.data(), to.data(), 16, 1};
    ARMCI_PutV(&list, 1, (rma_rank() + 1) % rma_size());
  }
  if (kind == "address") {
    static int not_shared = 0;
    int value = 1;
    const int other = (rma_rank() + 1) % rma_size();
    ARMCI_Put(&value, &not_shared, sizeof value, other);
  }
  if (kind == "type") {
    int value = 1;
    ARMCI_Acc(12345, &value, &value, &value, sizeof value, rma_rank());
  }
  if (kind == "group") {
    ARMCI_Group none = 99;
    ARMCI_Group_set_default(&none);
  }
  if (kind == "unlock") {
    ARMCI_Create_mutexes(1);
    ARMCI_Unlock(0, 0);
  }
  ARMCI_Finalize();
  return EXIT_SUCCESS;  // not reached by a misuse
}

/// Ends the program at another time in each process, so that those that have ended would be missed.
int end_without_finalize(int argc, char** argv, std::string_view kind) {
  constexpr useconds_t kLater = 200'000;
  if (kind.substr(0, 8) == "messages") armci_msg_init(&argc, &argv);
  if (kind == "messages") {
    armci_msg_barrier();
  } else {
    ARMCI_Init();
    use();
  }
  if (kind == "nested") ARMCI_Init();
  if (kind == "messages-finalized") armci_msg_finalize();
  const int me = rma_rank();
  if (me == 1) usleep(kLater);
  std::printf("process %d ends\n", me);
  if (kind == "return") return EXIT_SUCCESS;
  std::exit(EXIT_SUCCESS);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2) return end_without_finalize(argc, argv, argv[2]);
  if (argc > 1) return misuse(argv[1]);
  alone();
  expect(ARMCI_Initialized() == 0, "not initialized at first");
  for (int round = 0; round < 3; ++round) {
    expect(ARMCI_Init() == 0, "init");
    expect(ARMCI_Init_args(&argc, &argv) == 0, "init again");
    expect(ARMCI_Initialized() == 1, "initialized");
    use();
    ARMCI_Finalize();
    expect(ARMCI_Initialized() == 1, "initialized until the last finalize");
    ARMCI_Barrier();
    ARMCI_Cleanup();
    ARMCI_Finalize();
    expect(ARMCI_Initialized() == 0, "not initialized any more");
    ARMCI_Finalize();  // one too many does nothing
  }
  // Inside a runtime that the program has begun itself.
  expect(rma_init() == RMA_SUCCESS, "rma_init");
  expect(ARMCI_Init() == 0, "init");
  use();
  ARMCI_Finalize();
  expect(rma_initialized() == 1, "the runtime is the program's");
  expect(rma_finalize() == RMA_SUCCESS, "rma_finalize");
  std::puts("right");
  return EXIT_SUCCESS;
}
