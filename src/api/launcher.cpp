// What libraries over this one ask the launcher for (rma/launcher.h).

#include "rma/launcher.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "api/call.hpp"
#include "api/check.hpp"
#include "messages/finishing_thread.hpp"
#include "util/system/spawn_call.hpp"
#include "util/text.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma {
namespace {

const Job* current_job() {
  const Runtime* const runtime = current_runtime.load(std::memory_order_acquire);
  return runtime != nullptr ? runtime->job.get() : nullptr;
}

/// Runs `wait`, which waits for other ranks. A thread takes messages in meanwhile, which these ranks may
/// need. Where the system has no thread left, the wait goes without.
template <class Wait>
auto taking_messages_in(Runtime& runtime, const Wait& wait) {
  const FinishingThread taking_in(*runtime.messages);
  return wait();
}

std::string text_or_empty(const char* text) { return text != nullptr ? text : ""; }

Status check_programs(const rma_launch_program_t* programs, int count) {
  RMA_TRY(check_not_null(programs, "programs"));
  if (count <= 0) return {RMA_ERR_ARGUMENT, text("the number of programs is {}", count)};
  for (const rma_launch_program_t& program : std::span(programs, static_cast<std::size_t>(count))) {
    RMA_TRY(check_not_null(program.command, "command"));
    RMA_TRY(check_not_null(program.command[0], "command"));
    if (program.ranks < 0) return {RMA_ERR_ARGUMENT, text("the number of ranks is {}", program.ranks)};
  }
  return {};
}

/// Checks a list of ranks of the job, of any worlds.
Status check_ranks(const Job& job, const int* ranks, int count) {
  RMA_TRY(check_not_null(ranks, "ranks"));
  if (count <= 0) return {RMA_ERR_ARGUMENT, text("the number of ranks is {}", count)};
  for (const int rank : std::span(ranks, static_cast<std::size_t>(count))) {
    if (rank < 0 || rank >= job.size())
      return {RMA_ERR_RANK, text("there is no rank {}: ranks are 0 .. {}", rank, job.size() - 1)};
  }
  return {};
}

std::vector<SpawnedProgram> programs_of(std::span<const rma_launch_program_t> programs) {
  std::vector<SpawnedProgram> all;
  for (const rma_launch_program_t& program : programs) {
    SpawnedProgram& spawned = all.emplace_back();
    spawned.ranks = program.ranks;
    for (const char* const* word = program.command; *word != nullptr; ++word)
      spawned.command.emplace_back(*word);
    spawned.directory = text_or_empty(program.directory);
    spawned.path = text_or_empty(program.path);
    spawned.host = text_or_empty(program.host);
    spawned.soft = text_or_empty(program.soft);
  }
  return all;
}

Status ask_about_name(Runtime& runtime, RankCall what, std::span<const std::string> texts) {
  const auto encoded = encode_texts(texts);
  auto answer = runtime.job->bootstrap().ask({.call = what, .body = encoded});
  return answer.ok() ? Status() : std::move(answer).status();
}

}  // namespace

extern "C" {

int rma_world_first(void) {
  const Job* const job = current_job();
  return job != nullptr ? job->world_first() : -1;
}

int rma_seats(void) {
  const Job* const job = current_job();
  return job != nullptr ? job->size() : -1;
}

int rma_parents(const int** ranks, uint32_t* number) {
  Runtime* const runtime = current_runtime.load(std::memory_order_acquire);
  if (runtime == nullptr) return 0;
  const Parents& parents = runtime->job->bootstrap().parents();
  *ranks = parents.ranks.data();
  *number = parents.number;
  return static_cast<int>(parents.ranks.size());
}

const char* rma_job_name(void) {
  Runtime* const runtime = current_runtime.load(std::memory_order_acquire);
  return runtime != nullptr ? runtime->job->bootstrap().job_id().c_str() : nullptr;
}

rma_status_t rma_meet_later(const int* ranks, int count, uint32_t number) {
  return call(__func__, -1, 0, [&](Runtime& runtime) -> Status {
    RMA_TRY(check_ranks(*runtime.job, ranks, count));
    const std::span<const int> all(ranks, static_cast<std::size_t>(count));
    return taking_messages_in(runtime,
                              [&] { return runtime.job->meet_later({.ranks = all, .number = number}); });
  });
}

rma_status_t rma_launch(const rma_launch_program_t* programs, int count, const int* parents, int parent_count,
                        uint32_t number, int* first, int* started) {
  return call(__func__, -1, 0, [&](Runtime& runtime) -> Status {
    RMA_TRY(check_programs(programs, count));
    RMA_TRY(check_ranks(*runtime.job, parents, parent_count));
    RMA_TRY(check_not_null(first, "first"));
    RMA_TRY(check_not_null(started, "started"));
    const SpawnCall asked = {.programs = programs_of({programs, static_cast<std::size_t>(count)}),
                             .parents = {parents, parents + parent_count},
                             .number = number};
    const auto encoded = asked.encode();
    RMA_TRY_ASSIGN(answer, taking_messages_in(runtime, [&] {
                     return runtime.job->bootstrap().ask({.call = RankCall::spawn, .body = encoded});
                   }));
    std::span<const std::byte> rest = answer.body;
    const auto numbers = take_ranks(rest);
    if (!numbers || numbers->size() != asked.programs.size())
      return {RMA_ERR_LAUNCH, "rmarun does not say how many ranks it has started"};
    *first = answer.words.rank;
    std::ranges::copy(*numbers, started);
    return {};
  });
}

rma_status_t rma_port_open(uint32_t* port) {
  return call(__func__, -1, 0, [&](Runtime& runtime) -> Status {
    RMA_TRY(check_not_null(port, "port"));
    RMA_TRY_ASSIGN(answer, runtime.job->bootstrap().ask({.call = RankCall::open_port}));
    *port = static_cast<std::uint32_t>(answer.words.number);
    return {};
  });
}

rma_status_t rma_port_close(uint32_t port) {
  return call(__func__, -1, 0, [&](Runtime& runtime) -> Status {
    auto answer = runtime.job->bootstrap().ask(
        {.call = RankCall::close_port, .number = static_cast<std::int32_t>(port)});
    return answer.ok() ? Status() : std::move(answer).status();
  });
}

rma_status_t rma_port_meet(uint32_t port, int accepts, int seconds, const void* mine, size_t bytes,
                           void (*take)(void* context, const void* theirs, size_t bytes), void* context) {
  return call(__func__, -1, bytes, [&](Runtime& runtime) -> Status {
    RMA_TRY(check_range(mine, bytes, "mine"));
    if (take == nullptr) return {RMA_ERR_ARGUMENT, "take is null"};
    if (seconds < 0) return {RMA_ERR_ARGUMENT, text("seconds is {}", seconds)};
    const RankCall what = accepts != 0 ? RankCall::accept : RankCall::connect;
    RMA_TRY_ASSIGN(
        answer, taking_messages_in(runtime, [&] {
          return runtime.job->bootstrap().ask({.call = what,
                                               .number = static_cast<std::int32_t>(port),
                                               .body = {static_cast<const std::byte*>(mine), bytes},
                                               .detail = seconds});
        }));
    take(context, answer.body.data(), answer.body.size());
    return {};
  });
}

rma_status_t rma_name_publish(const char* name, const char* value) {
  return call(__func__, -1, 0, [&](Runtime& runtime) -> Status {
    RMA_TRY(check_not_null(name, "name"));
    RMA_TRY(check_not_null(value, "value"));
    return ask_about_name(runtime, RankCall::publish_name, std::array<std::string, 2>{name, value});
  });
}

rma_status_t rma_name_look_up(const char* name, char* value, size_t room) {
  return call(__func__, -1, 0, [&](Runtime& runtime) -> Status {
    RMA_TRY(check_not_null(name, "name"));
    RMA_TRY(check_not_null(value, "value"));
    const std::string wanted = name;
    const auto encoded = encode_texts({&wanted, 1});
    RMA_TRY_ASSIGN(answer, runtime.job->bootstrap().ask({.call = RankCall::look_name_up, .body = encoded}));
    if (answer.body.size() >= room)
      return {RMA_ERR_SIZE, text("the value of '{}' has {} bytes", wanted, answer.body.size())};
    std::memcpy(value, answer.body.data(), answer.body.size());
    value[answer.body.size()] = '\0';
    return {};
  });
}

rma_status_t rma_name_unpublish(const char* name) {
  return call(__func__, -1, 0, [&](Runtime& runtime) -> Status {
    RMA_TRY(check_not_null(name, "name"));
    return ask_about_name(runtime, RankCall::unpublish_name, std::array<std::string, 1>{name});
  });
}

}  // extern "C"

}  // namespace librma
