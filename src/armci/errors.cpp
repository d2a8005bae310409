// Error texts, and the end of the job after an error.

#include "armci/errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "armci/alias.hpp"
#include "armci/mpi_comm.hpp"
#include "armci/rank_and_size.hpp"

namespace librma::armci {
namespace {

/// Returns the name by which programs know a call.
std::string weak_name(std::string_view call) {
  if (call.starts_with("PARMCI_") || call.starts_with("parmci_")) call.remove_prefix(1);
  return std::string(call);
}

constexpr std::string_view kNameLetters = "abcdefghijklmnopqrstuvwxyz0123456789_";

struct Name {
  std::string_view runtime;
  std::string_view armci;
};
constexpr std::array kNames = {Name{"rma_malloc_local", "ARMCI_Malloc_local"},
                               Name{"rma_malloc", "ARMCI_Malloc"},
                               Name{"rma_free_local", "ARMCI_Free_local"},
                               Name{"rma_free", "ARMCI_Free"},
                               Name{"rma_init", "ARMCI_Init"},
                               Name{"rma_finalize", "ARMCI_Finalize"}};

/// Returns the runtime's text without the name of its call in front, and with ARMCI's names in place
/// of the runtime's.
std::string own_words(std::string_view text) {
  const auto word_length = [&text] { return std::min(text.find_first_not_of(kNameLetters), text.size()); };
  if (text.starts_with("rma_") && text.substr(word_length()).starts_with(": ")) {
    text.remove_prefix(word_length() + 2);
  }
  std::string words;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, std::max<std::size_t>(word_length(), 1));
    const auto* const name = std::find_if(kNames.begin(), kNames.end(),
                                          [word](const Name& known) { return known.runtime == word; });
    words += name != kNames.end() ? name->armci : word;
    text.remove_prefix(word.size());
  }
  return words;
}

/// Returns the rank of this process, as a part of an error text.
std::string rank_text() {
  const RankAndSize job = rank_and_size();
  return job.size > 0 ? fmt::format("rank {}: ", job.rank) : std::string();
}

}  // namespace

void end_job(int exit_code, const std::string& text) {
  if (rma_initialized() == 0) end_processes(exit_code, text);
  rma_abort(exit_code, text.c_str());
  std::abort();  // not reached
}

void die(std::string_view call, std::string_view text) {
  end_job(EXIT_FAILURE, fmt::format("{}: {}{}", weak_name(call), rank_text(), own_words(text)));
}

void require(rma_status_t status, const char* call) {
  if (status != RMA_SUCCESS) [[unlikely]]
    die(call, rma_last_error());
}

int failure(rma_status_t status, const char* call) {
  switch (status) {
    case RMA_SUCCESS:
      return 0;
    case RMA_ERR_ARGUMENT:
      return kNullArgument;
    case RMA_ERR_SIZE:
      return kBadSize;
    case RMA_ERR_RANK:
      return kBadProcess;
    default:
      die(call, rma_last_error());
  }
}

namespace {

/// Ends the job for a program that asks for it, with the program's text and number.
[[noreturn]] void end_by_program(const char* call, const char* text, const std::string& numbers, int code) {
  // An exit code has 8 bits, and 0 would call the job a success.
  const int exit_code = (code & 0xff) != 0 ? code : EXIT_FAILURE;
  end_job(exit_code, fmt::format("{}: {}{} {}", call, rank_text(), text != nullptr ? text : "", numbers));
}

}  // namespace

extern "C" {

void PARMCI_Error(const char* text, int code) {
  end_by_program("ARMCI_Error", text, std::to_string(code), code);
}

void armci_die(const char* text, int code) { end_by_program("armci_die", text, std::to_string(code), code); }

void armci_die2(const char* text, int code, int number) {
  end_by_program("armci_die2", text, fmt::format("{} {}", code, number), code);
}

void PARMCI_Cleanup(void) {}

}  // extern "C"

}  // namespace librma::armci

RMA_ARMCI(Error);
RMA_ARMCI(Cleanup);
