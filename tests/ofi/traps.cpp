/**
 * @file traps.cpp
 * Two or more ranks that reach each other by libfabric. The command line names the trap:
 *
 * fork          T9: a forked child shares the provider's descriptors. It leaves, and the transfers go on
 * descriptors   T10: ranks connect on demand, and use each connection again
 * exhausted     T10: a process without descriptors gets an answer for each rank that it has to connect with
 * idle          a rank that waits or sleeps uses no processor time
 * held          short messages that wait to go together arrive while their sender computes
 */
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "rma/messages.h"
#include "rma/rma.h"

namespace {

void need(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "rank %d: %s: %s\n", rma_rank(), what, rma_last_error());
  std::exit(EXIT_FAILURE);
}

/** Memory of all ranks, 8 bytes each. */
std::vector<void*> words() {
  std::vector<void*> all(static_cast<std::size_t>(rma_size()));
  void* mine = nullptr;
  need(rma_malloc(rma_team_world(), sizeof(std::uint64_t), 0, all.data(), &mine) == RMA_SUCCESS, "malloc");
  return all;
}

rma_status_t put(const std::vector<void*>& all, int to) {
  const std::uint64_t value = 4711;
  const rma_status_t status = rma_put(all[static_cast<std::size_t>(to)], &value, sizeof value, to);
  return status != RMA_SUCCESS ? status : rma_fence(to);
}

void meet() { need(rma_barrier(rma_team_world()) == RMA_SUCCESS, "barrier"); }

void test_fork() {
  const std::vector<void*> all = words();
  need(put(all, 1 - rma_rank()) == RMA_SUCCESS, "put before the fork");
  for (int i = 0; i < 3; ++i) {
    const pid_t child = fork();
    need(child >= 0, "fork");
    if (child == 0) std::exit(put(all, 1 - rma_rank()) == RMA_ERR_STATE ? 0 : 1);
    int status = 0;
    need(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child");
    need(put(all, 1 - rma_rank()) == RMA_SUCCESS, "put after the fork");
  }
  meet();
}

std::size_t open_sockets() {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    const std::string target = std::filesystem::read_symlink(entry.path(), error).string();
    if (target.rfind("socket:", 0) == 0) ++count;
  }
  return count;
}

void test_descriptors() {
  const std::vector<void*> all = words();
  meet();
  // The ranks are in a ring of barriers already; the last two have met neither each other nor rank 0 by puts.
  const std::size_t before = open_sockets();
  need(before < static_cast<std::size_t>(2 * rma_size()) + 8,
       "a rank has a socket or two for each peer at most");
  for (int i = 0; i < 10; ++i) need(put(all, (rma_rank() + 1) % rma_size()) == RMA_SUCCESS, "put");
  need(open_sockets() <= before + 4, "a connection is used again and again");
  meet();
}

void test_exhausted() {
  const std::vector<void*> all = words();
  meet();
  rlimit limit = {};
  need(getrlimit(RLIMIT_NOFILE, &limit) == 0, "getrlimit");
  const rlimit none = {.rlim_cur = 3, .rlim_max = limit.rlim_max};
  if (rma_rank() == 0) {
    need(setrlimit(RLIMIT_NOFILE, &none) == 0, "setrlimit");
    int lost = 0;
    for (int peer = 1; peer < rma_size(); ++peer) {
      const rma_status_t status = put(all, peer);
      need(status == RMA_SUCCESS || status == RMA_ERR_PEER_LOST, "a put without descriptors");
      lost += status == RMA_ERR_PEER_LOST ? 1 : 0;
    }
    need(lost != 0, "all ranks were connected: the test shows nothing");
    need(setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
  }
  // The others miss rank 0 now, or the ranks that miss it. Each call says so, and none waits.
  static_cast<void>(rma_barrier(rma_team_world()));
  static_cast<void>(rma_finalize());
  std::exit(EXIT_SUCCESS);
}

double processor_seconds() {
  rusage used = {};
  need(getrusage(RUSAGE_SELF, &used) == 0, "getrusage");
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/** Rank 1 waits in a barrier, and then sleeps, while rank 0 uses some processor time. */
void test_idle() {
  constexpr double kBusy = 0.6;
  constexpr double kShare = 0.1;
  const std::vector<void*> all = words();
  need(put(all, 1 - rma_rank()) == RMA_SUCCESS, "put");
  for (const bool in_barrier : {true, false}) {
    meet();
    const double before = processor_seconds();
    if (rma_rank() == 0) {
      while (processor_seconds() - before < kBusy) {
      }
    } else if (!in_barrier) {
      std::this_thread::sleep_for(std::chrono::milliseconds(600));
    }
    if (!in_barrier && rma_rank() == 1) {
      need(processor_seconds() - before < kShare * kBusy, "a rank that sleeps uses the processor");
    }
    meet();
    if (in_barrier && rma_rank() == 1) {
      need(processor_seconds() - before < kShare * kBusy, "a rank in a barrier uses the processor");
    }
  }
}

std::sig_atomic_t volatile answered = 0;

/** Rank 0 sends more messages in a row than go at once, and computes until rank 1, which got all, signals. */
void test_held() {
  constexpr int kMessages = 30;
  constexpr std::uint32_t kContext = 7;
  need(std::signal(SIGUSR1, [](int) { answered = 1; }) != SIG_ERR, "signal");
  for (int round = 0; round < 40; ++round) {
    meet();
    // The service thread naps while a thread polls, and sleeps without a limit otherwise.
    for (int polls = round % 4 * 5000; polls > 0; --polls) {
      int found = 0;
      need(rma_iprobe(RMA_ANY_SOURCE, 1, kContext, &found, nullptr) == RMA_SUCCESS, "probe");
    }
    if (round % 4 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::int32_t pid = getpid();
    answered = 0;
    for (int i = 0; i < kMessages; ++i) {
      if (rma_rank() == 0) {
        need(rma_send(&pid, sizeof pid, 1, i, kContext) == RMA_SUCCESS, "send");
      } else {
        need(rma_recv(&pid, sizeof pid, 0, i, kContext, nullptr) == RMA_SUCCESS, "receive");
      }
    }
    if (rma_rank() == 1) need(kill(pid, SIGUSR1) == 0, "kill");
    while (rma_rank() == 0 && answered == 0) {
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string trap = argc == 2 ? argv[1] : "";
  if (rma_init() != RMA_SUCCESS || rma_size() < 2) {
    std::fprintf(stderr, "rma_init: %s\n", rma_last_error());
    return 2;
  }
  if (trap == "fork")
    test_fork();
  else if (trap == "descriptors")
    test_descriptors();
  else if (trap == "exhausted")
    test_exhausted();
  else if (trap == "idle")
    test_idle();
  else if (trap == "held")
    test_held();
  else
    return 2;
  return rma_finalize() == RMA_SUCCESS ? 0 : 1;
}
