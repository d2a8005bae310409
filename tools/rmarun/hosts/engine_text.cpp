#include "rmarun/hosts/engine_text.hpp"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <system_error>
#include <utility>

namespace rmarun {
namespace {

/// Lines of the engine's text that are kept, and their longest length.
constexpr std::size_t kKeptLines = 40;
constexpr std::size_t kLongestLine = 400;

/// Returns what follows the first `mark` in a text, or nothing if it is not there.
std::optional<std::string_view> behind(std::string_view text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == text.npos) return std::nullopt;
  return text.substr(at + mark.size());
}

/// Returns the number with which a text begins, or nothing if it begins with none.
std::optional<int> number_of(std::optional<std::string_view> text) {
  int number = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), number).ec != std::errc())
    return std::nullopt;
  return number;
}

/// Takes a sentence about a process: "process rank 3 with PID 7 on node b exited on signal 9 (Killed)".
std::optional<EngineSentence> about_process(std::string_view text) {
  const auto process = behind(text, "process rank ");
  const auto rank = number_of(process);
  if (!rank) return std::nullopt;
  const auto signal = number_of(behind(*process, " exited on signal "));
  if (signal && *signal > 0 && *signal < NSIG)
    return EngineSentence{.kind = EngineSentence::Kind::kKilled, .rank = *rank, .signal = *signal};
  if (behind(*process, " exiting improperly"))
    return EngineSentence{.kind = EngineSentence::Kind::kGoneInJob, .rank = *rank};
  return std::nullopt;
}

}  // namespace

std::string without_controls(std::string_view from) {
  std::string text(from.substr(0, kLongestLine));
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return text;
}

std::vector<EngineSentence> EngineText::take(std::string_view text) {
  std::vector<EngineSentence> found;
  for (const char c : text) {
    if (c == '\n') {
      end_line(found);
    } else if (line_.size() < kLongestLine) {
      line_ += c;
    }
  }
  return found;
}

std::vector<EngineSentence> EngineText::end() {
  std::vector<EngineSentence> found;
  end_line(found);
  return found;
}

void EngineText::end_line(std::vector<EngineSentence>& found) {
  if (line_.empty()) return;
  const std::string line = without_controls(line_);
  line_.clear();
  understand(line, found);
  const bool ruler = line.find_first_not_of('-') == line.npos;
  if (ruler) return;
  if (lines_.size() == kKeptLines) lines_.erase(lines_.begin());
  lines_.push_back(line);
}

void EngineText::understand(const std::string& line, std::vector<EngineSentence>& found) {
  // ORTE and PRRTE: "... has lost communication with a remote daemon", and two lines further "on node NAME".
  lost_text_ = lost_text_ || line.find("lost communication with a remote daemon") != line.npos;
  if (const auto daemon = behind(line, "Remote daemon:"); lost_text_ && daemon) {
    if (const auto host = behind(*daemon, " on node "); host) {
      found.push_back(
          {.kind = EngineSentence::Kind::kLostDaemon, .host = std::string(host->substr(0, host->find(' ')))});
      lost_text_ = false;
    }
  }
  // Sentences that may need two lines. One that is whole in a line is found once again with the next.
  const std::string two_lines = std::exchange(previous_line_, line) + " " + line;
  if (const auto sentence = about_process(two_lines)) found.push_back(*sentence);
  // Without its files of texts the engine names the topic alone.
  if (behind(two_lines, "returned a non-zero exit code") || behind(line, "normal-termination-but"))
    found.push_back({.kind = EngineSentence::Kind::kFailedByCode});
}

}  // namespace rmarun
