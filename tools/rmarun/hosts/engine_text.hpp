#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rmarun {

/// A sentence of an engine's own text that rmarun understands.
struct EngineSentence {
  enum class Kind {
    kLostDaemon,   ///< the daemon of a host does not answer, or its connection has ended
    kKilled,       ///< a signal has ended a keeper
    kGoneInJob,    ///< a keeper has ended with code 0, and its rank has joined the job and not left it
    kFailedByCode  ///< a keeper has ended with another code, and its rank has not aborted the job
  };
  Kind kind = Kind::kLostDaemon;
  std::string host{};  ///< by its engine's name
  int rank = -1;
  int signal = 0;
};

/// The text that an engine writes beside the output of the ranks. Nothing in it need be true.
class EngineText {
 public:
  /// Takes a part of the text. Returns the sentences that it completes.
  std::vector<EngineSentence> take(std::string_view text);
  /// Takes the end of the last line, which may lack its newline.
  std::vector<EngineSentence> end();
  /// Returns the last lines, with nothing in them that a terminal would act on.
  [[nodiscard]] const std::vector<std::string>& last_lines() const { return lines_; }

 private:
  void end_line(std::vector<EngineSentence>& found);
  void understand(const std::string& line, std::vector<EngineSentence>& found);

  std::string line_;  ///< the beginning of the next line
  std::string previous_line_;
  bool lost_text_ = false;  ///< inside the text about a lost host
  std::vector<std::string> lines_;
};

/// Returns a text that another machine wrote, with nothing in it that a terminal would act on, and not too
/// long.
[[nodiscard]] std::string without_controls(std::string_view from);

}  // namespace rmarun
