/**
 * @file memory.cpp
 * The memory of each rank by the number of its connections. The ranks synchronize through a file of their
 * host and not by the library, whose collective calls would connect them.
 */
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "network/job.hpp"
#include "rma/messages.h"

namespace rma::bench {
namespace {

constexpr std::size_t kMostRanks = 256;
constexpr std::size_t kFigures = 2;  ///< Pss and Rss

/** The shared file: all zero at the start. */
struct Board {
  std::atomic<std::uint64_t> arrived;
  std::atomic<std::uint64_t> address[kMostRanks];
  std::atomic<std::uint64_t> kilobytes[kMostRanks][kFigures];
};

class Meeting {
 public:
  explicit Meeting(const Job& job) : ranks_(static_cast<std::uint64_t>(job.size)) {
    const int file = open(job.options.meet.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    void* place = MAP_FAILED;
    if (file >= 0 && ftruncate(file, sizeof(Board)) == 0) {
      place = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    }
    if (place == MAP_FAILED || ranks_ > kMostRanks) {
      std::fprintf(stderr, "network-bench: cannot use %s, for %d ranks\n", job.options.meet.c_str(),
                   job.size);
      rma_abort(EXIT_FAILURE, "no meeting place");
    }
    close(file);
    board_ = static_cast<Board*>(place);
  }
  [[nodiscard]] Board& board() const { return *board_; }

  /** Returns when all ranks have called it. Yields the processor, because there are many more
   * ranks than processors. */
  void meet() {
    target_ += ranks_;
    // Release: a rank that sees this arrival also sees this rank's earlier stores.
    board_->arrived.fetch_add(1, std::memory_order_acq_rel);
    while (board_->arrived.load(std::memory_order_acquire) < target_) usleep(10'000);
  }

 private:
  const std::uint64_t ranks_;
  std::uint64_t target_ = 0;
  Board* board_ = nullptr;
};

/** Reads Pss and Rss of this process in KiB. */
void read_memory(std::atomic<std::uint64_t>* figures) {
  std::ifstream file("/proc/self/smaps_rollup");
  std::string name;
  std::string rest;
  std::getline(file, rest);  // the range of addresses
  while (file >> name) {
    std::uint64_t kilobytes = 0;
    file >> kilobytes;
    std::getline(file, rest);
    if (name == "Pss:") figures[0].store(kilobytes, std::memory_order_relaxed);
    if (name == "Rss:") figures[1].store(kilobytes, std::memory_order_relaxed);
  }
}

/** Returns the memory of the host's kernel in KiB. The kernel holds most of a queue pair. */
double kernel_memory() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  std::string rest;
  double sum = 0;
  while (file >> name) {
    double kilobytes = 0;
    file >> kilobytes;
    std::getline(file, rest);
    if (name == "Slab:" || name == "VmallocUsed:" || name == "PageTables:" || name == "Percpu:")
      sum += kilobytes;
  }
  return sum;
}

void report(const Job& job, Meeting& meeting, const std::string& when) {
  Board& board = meeting.board();
  meeting.meet();
  const auto me = static_cast<std::size_t>(job.rank);
  read_memory(board.kilobytes[me]);
  meeting.meet();
  if (job.rank == 0) {
    const char* const names[kFigures] = {"Pss", "Rss"};
    for (std::size_t figure = 0; figure < kFigures; ++figure) {
      std::vector<double> samples;
      for (std::size_t i = 0; i < static_cast<std::size_t>(job.size); ++i) {
        samples.push_back(static_cast<double>(board.kilobytes[i][figure].load(std::memory_order_relaxed)));
      }
      job.record("memory", std::string(names[figure]) + " " + when, "KiB", 0, std::move(samples));
    }
    job.record("memory", "kernel " + when, "KiB", 0, {kernel_memory()});
  }
  meeting.meet();
}

/** Communicates with other ranks, by puts or by messages. */
class Partner {
 public:
  Partner(const Job& job, Meeting& meeting)
      : messages_(job.options.messages), addresses_(meeting.board().address) {
    check(rma_malloc_local(sizeof(std::uint64_t), 64, &mine_));
    addresses_[job.rank].store(reinterpret_cast<std::uintptr_t>(mine_), std::memory_order_relaxed);
  }
  ~Partner() { check(rma_free_local(mine_)); }
  Partner(const Partner&) = delete;
  Partner& operator=(const Partner&) = delete;

  /** Puts a word to rank `to`; or sends it messages, and receives as many from rank `from`, which makes the
   * call at the same time. */
  void talk(int to, int from) const {
    std::uint64_t value = 1;
    if (!messages_) {
      auto* const there = reinterpret_cast<void*>(
          addresses_[to].load(std::memory_order_relaxed));  // NOLINT(performance-no-int-to-ptr)
      check(rma_put(there, &value, sizeof value, to));
      check(rma_fence(to));
      return;
    }
    for (int i = 0; i < kMessages; ++i) {
      std::uint64_t got = 0;
      rma_request_t receive = RMA_REQUEST_NULL;
      check(rma_recv_nb(&got, sizeof got, from, 0, 0, nullptr, &receive));
      check(rma_send(&value, sizeof value, to, 0, 0));
      check(rma_wait(&receive));
    }
  }

 private:
  /** Enough for a ring to be offered and used, where RMA_PROMOTE is small. */
  static constexpr int kMessages = 8;

  bool messages_;
  std::atomic<std::uint64_t>* addresses_;
  void* mine_ = nullptr;
};

}  // namespace

void measure_memory(const Job& job) {
  Meeting meeting(job);
  const Partner partner(job, meeting);
  report(job, meeting, "after start");
  // The rank that has no neighbour waits.
  if ((job.rank ^ 1) < job.size) partner.talk(job.rank ^ 1, job.rank ^ 1);
  report(job, meeting, "pairwise");
  for (int step = 1; step < job.size; ++step)
    partner.talk((job.rank + step) % job.size, (job.rank + job.size - step) % job.size);
  report(job, meeting, "all-to-all");
}

}  // namespace rma::bench
