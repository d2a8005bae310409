/**
 * @file threads.hpp
 * The message rate of two threads on communicators of their own, beside one thread's.
 */
#pragma once

#include <barrier>
#include <cstdio>
#include <thread>

#include "twosided/pair.hpp"

namespace rma::bench {

/** Two threads that call work(0) and work(1) at the same time, again and again. The first one is the
 * caller's. */
template <typename Work>
class TwoThreads {
 public:
  explicit TwoThreads(Work& work) : work_(work), second_([this] { run(); }) {}
  TwoThreads(const TwoThreads&) = delete;
  TwoThreads& operator=(const TwoThreads&) = delete;
  ~TwoThreads() {
    ends_ = true;
    meet_.arrive_and_wait();
    second_.join();
  }
  void operator()() {
    meet_.arrive_and_wait();
    work_(0);
    meet_.arrive_and_wait();
  }

 private:
  void run() {
    for (;;) {
      meet_.arrive_and_wait();
      if (ends_) return;
      work_(1);
      meet_.arrive_and_wait();
    }
  }

  Work& work_;
  bool ends_ = false;  // the barrier orders it
  std::barrier<> meet_{2};
  std::thread second_;
};

inline void thread_suite(MpiMeasure& measure) {
  // An operation is so long that the start of the second thread hardly counts.
  constexpr std::size_t kBursts = 64;
  const MpiMember& member = measure.backend();
  if (!member.threaded()) {
    if (member.rank() == 0) std::fprintf(stderr, "%s: no MPI_THREAD_MULTIPLE\n", MpiMember::name());
    return;
  }
  const Memory memory(kRateSizes.back());
  const Memory memory_of_second(kRateSizes.back());
  std::array<MPI_Comm, 2> comms = {MPI_COMM_NULL, MPI_COMM_NULL};
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (const std::size_t bytes : kRateSizes) {
    const auto stream = [&](std::size_t thread) {
      Link link = link_of_two(member.rank(), Variant::hot);
      link.comm = comms.at(thread);
      const Memory& own = thread == 0 ? memory : memory_of_second;
      return Stream(Messages(link, bytes, own.sent(bytes, false), own.received(bytes, false)), kWindow);
    };
    std::array<Stream, 2> streams = {stream(0), stream(1)};
    const std::string row = "twosided rate " + size_text(bytes) + " of ";
    const RowName one{"threads", row + "1 thread", "", bytes};
    const RowName two{"threads", row + "2 threads", "", bytes};
    const auto bursts = [&](std::size_t thread) {
      for (std::size_t i = 0; i < kBursts; ++i) streams.at(thread)();
    };
    if (measure.agree(one, streams[0].is_right(member.rank())))
      measure.together(
          one, [&](std::size_t) { bursts(0); }, kBursts * kWindow);
    std::array<bool, 2> right = {false, false};
    const auto check = [&](std::size_t thread) {
      right.at(thread) = streams.at(thread).is_right(member.rank());
    };
    {
      TwoThreads checked(check);
      checked();
    }
    if (measure.agree(two, right[0] && right[1])) {
      TwoThreads both(bursts);
      measure.together(
          two, [&](std::size_t) { both(); }, 2 * kBursts * kWindow);
    }
  }
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

}  // namespace rma::bench
