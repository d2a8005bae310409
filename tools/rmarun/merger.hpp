#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace rmarun {

/// Merges the streams of several ranks into one file. Every byte comes out, in the order of its stream, and
/// no byte is added but labels.
///
/// Lines stay whole, and a line whose end is not there yet is still shown soon: a prompt, a progress bar. A
/// rank's unfinished line goes out at once while no other rank has written, else after Pace::hold. Then the
/// line is open, and the others wait for its end. They go ahead when it has stood still for Pace::patience.
class Merger {
 public:
  using Clock = std::chrono::steady_clock;

  struct Pace {
    Clock::duration hold;      ///< how long an unfinished line waits for its end
    Clock::duration patience;  ///< how long others wait for the end of an open line
  };
  /// The pace for a terminal: its reader waits for what a program asks, rather than for whole lines.
  static constexpr Pace kTerminal{std::chrono::milliseconds(50), std::chrono::milliseconds(200)};
  static constexpr Pace kFile{std::chrono::milliseconds(50), std::chrono::seconds(2)};

  /// So much output at most waits for the end of an open line. This bounds the memory that ranks can make the
  /// launcher keep.
  static constexpr std::size_t kLongestWait = std::size_t{16} << 20;

  /// `one_rank`: everything passes as it comes.
  Merger(Pace pace, bool one_rank) : pace_(pace), one_rank_(one_rank) {}

  /// Adds a stream of `rank`. `label` goes before each of its lines, and before the rest of a line that
  /// another stream has interrupted. The output goes to the end of `queue`, which outlives this.
  /// @return the number of the stream.
  std::size_t add(int rank, std::string label, std::string& queue);
  /// Takes the next piece of a stream.
  void feed(std::size_t stream, std::string_view piece, Clock::time_point now);
  /// Takes the end of a stream. Its last line needs no end.
  void finish(std::size_t stream, Clock::time_point now);
  /// Does what is due.
  void look(Clock::time_point now);
  /// When something will be due, if nothing comes before.
  [[nodiscard]] std::optional<Clock::time_point> next_look() const;

 private:
  struct Stream {
    int rank = 0;
    std::string label;
    std::string* queue = nullptr;
    std::string text;          ///< what has come and has not gone out
    std::size_t whole = 0;     ///< how much of the text is whole lines
    bool inside_line = false;  ///< the last byte that went out was not the end of a line
    bool ended = false;
    Clock::time_point last_piece;
  };

  [[nodiscard]] bool others_wait() const;
  Stream* next_to_open(Clock::time_point now);
  bool pass_open_line();
  void pass(Stream& stream, std::size_t size);

  Pace pace_;
  bool one_rank_;
  std::deque<Stream> streams_;
  std::size_t waiting_ = 0;       ///< the size of all texts
  std::optional<int> writer_;     ///< the first rank that has written
  bool several_ = false;          ///< other ranks have written too
  Stream* open_ = nullptr;        ///< the stream whose line is open
  const Stream* last_ = nullptr;  ///< the stream whose output went out last
};

}  // namespace rmarun
