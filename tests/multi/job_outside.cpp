// Calls of processes that are no member of a job: outside of rma_init ... rma_finalize, or forked.

#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "job.hpp"
#include "rma/direct.h"
#include "rma/unchecked.h"

namespace {

/// Returns whether a child that runs `body` exits with 0.
bool child_passes(const std::function<void()>& body) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // one that hangs fails
    failures = 0;
    body();
    _exit(failures == 0 ? 0 : 1);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// Returns the status with which a receive ends that is posted in a context that is not there any more.
rma_status_t post_in_no_context() {
  char byte = 0;
  rma_posted_recv_t receive = {};
  receive.address = &byte;
  receive.bytes = 1;
  expect_ok(rma_post_recv_in(&receive, 0, 0, nullptr), "a receive that cannot be posted ends");
  expect(rma_posted_ended(&receive) == RMA_POSTED_FAILED, "it has ended");
  return receive.status;
}

}  // namespace

void refuse_everything(rma_status_t expected) {
  char byte = 0;
  void* address = &byte;
  std::uint64_t word = 0;
  std::uint32_t half = 0;
  rma_request_t request = RMA_REQUEST_NULL;
  rma_team_t team = nullptr;
  rma_mutexes_t mutexes = nullptr;
  int number = 0;
  const rma_words_t words = {&word, 1, sizeof word, 0, nullptr, RMA_EQ, &word, 1};
  std::size_t index = 0;
  const std::size_t counts = 1;
  const rma_iov_t iov = {&address, &address, 1, 1};
  const std::map<std::string, rma_status_t> calls = {
      {"rma_finalize", rma_finalize()},
      {"rma_malloc", rma_malloc(team, 1, 0, nullptr, &address)},
      {"rma_free", rma_free(team, nullptr)},
      {"rma_malloc_local", rma_malloc_local(1, 0, &address)},
      {"rma_free_local", rma_free_local(nullptr)},
      {"rma_register", rma_register(&byte, 1)},
      {"rma_unregister", rma_unregister(&byte)},
      {"rma_map", rma_map(&byte, 1, 0, &address)},
      {"rma_find_alias", rma_find_alias(&byte, 1, &address)},
      {"rma_alias_range", rma_alias_range(&address, &index, &address)},
      {"rma_put", rma_put(&byte, &byte, 1, 0)},
      {"rma_get_nb", rma_get_nb(&byte, &byte, 1, 0, &request)},
      {"rma_acc_nbi", rma_acc_nbi(&word, &word, 1, RMA_LONG, nullptr, 0)},
      {"rma_put_strided", rma_put_strided(&byte, nullptr, &byte, nullptr, &counts, 0, 0)},
      {"rma_get_vector", rma_get_vector(&iov, 1, 0)},
      {"rma_wait", rma_wait(&request)},
      {"rma_test", rma_test(&request, &number)},
      {"rma_wait_any", rma_wait_any(&request, 1, &index)},
      {"rma_wait_all", rma_wait_all(&request, 1)},
      {"rma_fence", rma_fence(0)},
      {"rma_fence_all", rma_fence_all()},
      {"rma_barrier", rma_barrier(team)},
      {"rma_atomic64", rma_atomic64(RMA_SET, &word, 1, 0, nullptr, 0)},
      {"rma_atomic32", rma_atomic32(RMA_SET, &half, 1, 0, nullptr, 0)},
      {"rma_post_recv_in", post_in_no_context()},
      {"rma_put_notify", rma_put_notify(&byte, &byte, 1, &word, 1, 0)},
      {"rma_wait_until", rma_wait_until(&word, RMA_EQ, 0, nullptr)},
      {"rma_test_until", rma_test_until(&word, RMA_EQ, 0, &number)},
      {"rma_wait_until_all", rma_wait_until_all(&words)},
      {"rma_test_until_any", rma_test_until_any(&words, &index)},
      {"rma_wake", rma_wake(0)},
      {"rma_mutexes_create", rma_mutexes_create(team, 1, &mutexes)},
      {"rma_mutexes_destroy", rma_mutexes_destroy(&mutexes)},
      {"rma_lock", rma_lock(mutexes, 0, 0)},
      {"rma_unlock", rma_unlock(mutexes, 0, 0)},
      {"rma_team_create", rma_team_create(&number, 1, &team)},
      {"rma_team_split", rma_team_split(team, 0, 0, &team)},
      {"rma_team_free", rma_team_free(&team)},
      {"rma_team_info", rma_team_info(team, &number, nullptr)},
      {"rma_team_world_rank", rma_team_world_rank(team, 0, &number)},
      {"rma_broadcast", rma_broadcast(team, &byte, 1, 0)},
      {"rma_reduce", rma_reduce(team, &word, &word, 1, RMA_LONG, RMA_SUM, 0)},
      {"rma_allreduce", rma_allreduce(team, &word, &word, 1, RMA_LONG, RMA_SUM)},
      {"rma_allgather", rma_allgather(team, &byte, &byte, 1)},
  };
  for (const auto& [call, status] : calls) expect(status == expected, call.c_str());
  static_cast<void>(rma_fence(3));
  expect(error_names("rma_fence") &&
             error_names(expected == RMA_ERR_NOT_INITIALIZED ? "rma_init" : "forked child"),
         "the text names the call and why");
  expect(rma_initialized() == 0 && rma_rank() == -1 && rma_size() == -1, "nobody");
  expect(rma_team_world() == nullptr && rma_same_host(0) == 0, "no world");
  expect(rma_program() == -1, "no program");
  expect(byte == 0 && word == 0 && half == 0, "nothing was written");
}

void forked() {
  std::vector<void*> addresses(static_cast<std::size_t>(rma_size()));
  const rma_team_t team = rma_team_world();
  expect_ok(rma_malloc(team, 64, 0, addresses.data(), nullptr), "malloc");
  const int next = (rma_rank() + 1) % rma_size();
  auto* const word = static_cast<std::uint64_t*>(addresses[static_cast<std::size_t>(rma_rank())]);
  auto* const there = static_cast<std::uint64_t*>(addresses[static_cast<std::size_t>(next)]);
  *word = 0;
  barrier();
  expect(child_passes([&] {
           refuse_everything(RMA_ERR_STATE);
           expect(rma_init() == RMA_ERR_STATE && rma_finalize() == RMA_ERR_STATE, "no member");
           expect(rma_barrier(team) == RMA_ERR_STATE, "barrier");
           expect_ok(rma_put8(there, 77, next), "the inlined path");
           std::uint64_t outside = 0;
           expect(rma_put8(&outside, 77, next) == RMA_ERR_STATE, "what is not in the heap");
         }),
         "a child");
  barrier();
  expect(*word == 77, "what the child has put by the inlined path");
  expect(child_passes([] { rma_abort(0, nullptr); }), "a child that aborts ends alone");
  some_traffic();
  expect_ok(rma_free(team, word), "free");
  expect_ok(rma_finalize(), "finalize");
  expect(child_passes([] { refuse_everything(); }), "a child of a process that has left");
  expect_ok(rma_init(), "init again");
}
