/**
 * @file active.cpp
 * The round trip of active messages between ranks 0 and 1 while both poll: a request of two words, whose
 * handler replies.
 */
#include <cstdint>

#include "messages/job.hpp"
#include "network/ticks.hpp"
#include "rma/active_messages.h"

namespace rma::bench {
namespace {

constexpr std::size_t kActiveWarmUp = 20;

/** The counts of this rank's handlers, which run in the thread that polls, or in the helper thread. */
struct Counts {
  int ask = -1;
  int answer = -1;
  std::uint64_t asked = 0;
  std::uint64_t answered = 0;
};

void count(std::uint64_t& number) { __atomic_fetch_add(&number, 1, __ATOMIC_RELEASE); }
std::uint64_t load(const std::uint64_t& number) { return __atomic_load_n(&number, __ATOMIC_ACQUIRE); }

void take_question(void* context, rma_am_token_t* token, const rma_am_message_t* message) {
  auto& counts = *static_cast<Counts*>(context);
  if (rma_am_reply(token, counts.answer, message->words, message->word_count) == RMA_SUCCESS)
    count(counts.asked);
}
void take_answer(void* context, rma_am_token_t* /*token*/, const rma_am_message_t* /*message*/) {
  count(static_cast<Counts*>(context)->answered);
}

void poll_until(const std::uint64_t& number, std::uint64_t goal) {
  while (load(number) < goal) check(rma_am_poll());
}

}  // namespace

void measure_active(const Job& job) {
  static Counts counts;  // handlers stay until the job ends
  if (counts.ask < 0) {
    check(rma_am_register(take_answer, &counts, &counts.answer));
    check(rma_am_register(take_question, &counts, &counts.ask));
  }
  const std::size_t trips = kActiveWarmUp + job.options.iterations;
  if (job.rank() == 0) {
    const std::uint64_t before = counts.answered;
    std::uint64_t trip = 0;
    job.record("active", "round trip", "ns", 2 * sizeof(std::uint64_t),
               time_each(job.options.iterations, kActiveWarmUp, [&](std::size_t) {
                 const std::uint64_t words[] = {trip, trip};  // NOLINT(cppcoreguidelines-avoid-c-arrays)
                 check(rma_am_request(1, counts.ask, words, 2));
                 poll_until(counts.answered, before + ++trip);
               }));
  } else if (job.rank() == 1) {
    static std::uint64_t all = 0;
    poll_until(counts.asked, all += trips);
  }
  job.world.barrier();
}

}  // namespace rma::bench
