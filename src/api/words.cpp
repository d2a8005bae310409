// Waits for and tests of several words.

#include "atomics/words.hpp"

#include "api/call.hpp"
#include "api/check.hpp"
#include "util/text.hpp"
#include "util/try.hpp"

namespace librma {
namespace {

Status check_words(const rma_words_t* words) {
  RMA_TRY(check_not_null(words, "words"));
  if (!valid_compare(words->compare)) {
    return {RMA_ERR_ARGUMENT, text("there is no comparison {}", static_cast<int>(words->compare))};
  }
  if (words->bytes != 2 && words->bytes != 4 && words->bytes != 8) {
    return {RMA_ERR_ARGUMENT, text("a word has 2, 4 or 8 bytes, not {}", words->bytes)};
  }
  if (words->count == 0) return {};
  RMA_TRY(check_not_null(words->words, "words->words"));
  RMA_TRY(check_not_null(words->values, "words->values"));
  RMA_TRY(check_aligned(words->values, words->bytes));
  return check_aligned(words->words, words->bytes);
}

/// Executes a call whose result is what use(job, words) returns.
template <typename Result, typename Use>
rma_status_t use_words(const char* name, const rma_words_t* words, Result* result, const char* argument,
                       const Use& use) {
  return call(name, -1, 0, [&](Runtime& runtime) -> Status {
    RMA_TRY(check_words(words));
    RMA_TRY(check_not_null(result, argument));
    *result = with_words(*words, [&](const auto& typed) { return use(*runtime.job, typed); });
    return {};
  });
}

Status check_indices(const rma_words_t* words, const std::size_t* indices) {
  return words == nullptr || words->count == 0 ? Status() : check_not_null(indices, "indices");
}

}  // namespace

extern "C" {

rma_status_t rma_wait_until_all(const rma_words_t* words) {
  return call(__func__, -1, 0, [&](Runtime& runtime) -> Status {
    RMA_TRY(check_words(words));
    with_words(*words, [&](const auto& typed) {
      std::size_t done = 0;
      wait_for_words(*runtime.job, [&] { return typed.advance(done); });
    });
    return {};
  });
}

rma_status_t rma_wait_until_any(const rma_words_t* words, size_t* index) {
  return use_words(__func__, words, index, "index", [](const Job& job, const auto& typed) {
    std::size_t found = SIZE_MAX;
    if (typed.empty()) return found;
    wait_for_words(job, [&] { return (found = typed.find()) != SIZE_MAX; });
    return found;
  });
}

rma_status_t rma_wait_until_some(const rma_words_t* words, size_t* indices, size_t* found) {
  return call(__func__, -1, 0, [&](Runtime& runtime) -> Status {
    RMA_TRY(check_words(words));
    RMA_TRY(check_indices(words, indices));
    RMA_TRY(check_not_null(found, "found"));
    *found = 0;
    with_words(*words, [&](const auto& typed) {
      if (typed.empty()) return;
      wait_for_words(*runtime.job, [&] { return (*found = typed.find_all(indices)) != 0; });
    });
    return {};
  });
}

rma_status_t rma_test_until_all(const rma_words_t* words, int* met) {
  return use_words(__func__, words, met, "met", [](const Job& job, const auto& typed) {
    std::size_t done = 0;
    if (typed.advance(done)) return 1;
    let_others_run(job.wait_policy());
    return 0;
  });
}

rma_status_t rma_test_until_any(const rma_words_t* words, size_t* index) {
  return use_words(__func__, words, index, "index", [](const Job& job, const auto& typed) {
    const std::size_t found = typed.find();
    if (found == SIZE_MAX) let_others_run(job.wait_policy());
    return found;
  });
}

rma_status_t rma_test_until_some(const rma_words_t* words, size_t* indices, size_t* found) {
  return call(__func__, -1, 0, [&](Runtime& runtime) -> Status {
    RMA_TRY(check_words(words));
    RMA_TRY(check_indices(words, indices));
    RMA_TRY(check_not_null(found, "found"));
    *found = with_words(*words, [&](const auto& typed) { return typed.find_all(indices); });
    if (*found == 0) let_others_run(runtime.job->wait_policy());
    return {};
  });
}

}  // extern "C"

}  // namespace librma
