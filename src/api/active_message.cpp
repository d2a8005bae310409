// Active messages (rma/active_messages.h).

#include "rma/active_messages.h"

#include <cstdint>
#include <span>

#include "api/call.hpp"
#include "api/check.hpp"
#include "helper_thread/active_messages.hpp"
#include "util/text.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma {
namespace {

/// Checks the words and puts them into the message.
Status add_words(ActiveMessage& message, const uint64_t* words, int count) {
  if (count < 0 || count > RMA_AM_WORDS) [[unlikely]] {
    return {RMA_ERR_ARGUMENT, text("{} is no count of words: there are 0 to {}", count, RMA_AM_WORDS)};
  }
  if (count == 0) return {};
  RMA_TRY(check_not_null(words, "words"));
  message.words = {words, static_cast<std::size_t>(count)};
  return {};
}

Status add_payload(ActiveMessage& message, const void* payload, std::size_t bytes) {
  if (bytes == 0) return {};
  RMA_TRY(check_range(payload, bytes, "payload"));
  message.payload = {static_cast<const std::byte*>(payload), bytes};
  return {};
}

/// A message as the caller describes it.
struct Described {
  ActiveMessage message;
  const uint64_t* words = nullptr;
  int word_count = 0;
  const void* payload = nullptr;
  std::size_t bytes = 0;

  /// Checks all of it, and returns it complete.
  [[nodiscard]] Status complete() {
    RMA_TRY(add_words(message, words, word_count));
    RMA_TRY(add_payload(message, payload, bytes));
    if (message.form != ActiveForm::long_carried || bytes == 0) return {};
    return check_range(message.place, bytes, "dst");
  }
};

rma_status_t request(const char* name, int rank, Described&& described) {
  return call(name, rank, described.bytes, [&](Runtime& runtime) -> Status {
    RMA_TRY(check_rank(runtime, rank));
    RMA_TRY(described.complete());
    return runtime.active_messages->request(rank, described.message);
  });
}

rma_status_t reply(const char* name, rma_am_token_t* token, Described&& described) {
  return call(name, -1, described.bytes, [&](Runtime& runtime) -> Status {
    RMA_TRY(check_not_null(token, "token"));
    RMA_TRY(described.complete());
    return runtime.active_messages->reply(token, described.message);
  });
}

}  // namespace

extern "C" {

rma_status_t rma_am_register(rma_am_handler_t handler, void* context, int* number) {
  return call(__func__, -1, 0, [&](Runtime& runtime) -> Status {
    RMA_TRY(check_not_null(reinterpret_cast<const void*>(handler), "handler"));
    RMA_TRY(check_not_null(number, "number"));
    RMA_TRY_ASSIGN(made, runtime.active_messages->add(handler, context));
    *number = made;
    const rma_status_t met = rma_barrier(rma_team_world());
    return met == RMA_SUCCESS ? Status() : Status(met, rma_last_error());
  });
}

rma_status_t rma_am_limits(size_t* medium, size_t* long_reply) {
  return call(__func__, -1, 0, [&](Runtime& runtime) {
    if (medium != nullptr) *medium = runtime.active_messages->most_medium();
    if (long_reply != nullptr) *long_reply = runtime.active_messages->most_long_reply();
    return Status();
  });
}

rma_status_t rma_am_request(int rank, int handler, const uint64_t* words, int word_count) {
  return call(__func__, rank, 0, [&](Runtime& runtime) -> Status {
    RMA_TRY(check_rank(runtime, rank));
    ActiveMessage message = {.handler = handler};
    RMA_TRY(add_words(message, words, word_count));
    return runtime.active_messages->request(rank, message);
  });
}

rma_status_t rma_am_request_medium(int rank, int handler, const uint64_t* words, int word_count,
                                   const void* payload, size_t bytes) {
  return request(__func__, rank,
                 {.message = {.handler = handler, .form = ActiveForm::medium},
                  .words = words,
                  .word_count = word_count,
                  .payload = payload,
                  .bytes = bytes});
}

rma_status_t rma_am_request_long(int rank, int handler, const uint64_t* words, int word_count,
                                 const void* payload, size_t bytes, void* dst) {
  return request(__func__, rank,
                 {.message = {.handler = handler, .form = ActiveForm::long_carried, .place = dst},
                  .words = words,
                  .word_count = word_count,
                  .payload = payload,
                  .bytes = bytes});
}

rma_status_t rma_am_reply(rma_am_token_t* token, int handler, const uint64_t* words, int word_count) {
  return call(__func__, -1, 0, [&](Runtime& runtime) -> Status {
    RMA_TRY(check_not_null(token, "token"));
    ActiveMessage message = {.handler = handler};
    RMA_TRY(add_words(message, words, word_count));
    return runtime.active_messages->reply(token, message);
  });
}

rma_status_t rma_am_reply_medium(rma_am_token_t* token, int handler, const uint64_t* words, int word_count,
                                 const void* payload, size_t bytes) {
  return reply(__func__, token,
               {.message = {.handler = handler, .form = ActiveForm::medium},
                .words = words,
                .word_count = word_count,
                .payload = payload,
                .bytes = bytes});
}

rma_status_t rma_am_reply_long(rma_am_token_t* token, int handler, const uint64_t* words, int word_count,
                               const void* payload, size_t bytes, void* dst) {
  return reply(__func__, token,
               {.message = {.handler = handler, .form = ActiveForm::long_carried, .place = dst},
                .words = words,
                .word_count = word_count,
                .payload = payload,
                .bytes = bytes});
}

rma_status_t rma_am_poll(void) {
  return call(__func__, -1, 0, [&](Runtime& runtime) -> Status {
    return runtime.active_messages->poll(runtime.job->wait_policy());
  });
}

rma_status_t rma_am_wait(int (*met)(void* context), void* context, int rank) {
  return call(__func__, rank, 0, [&](Runtime& runtime) -> Status {
    RMA_TRY(check_not_null(reinterpret_cast<const void*>(met), "met"));
    if (rank != -1) {
      RMA_TRY(check_rank(runtime, rank));
    }
    return runtime.active_messages->wait(
        runtime.job->wait_policy(), [&] { return met(context) != 0; }, rank);
  });
}

}  // extern "C"

}  // namespace librma
