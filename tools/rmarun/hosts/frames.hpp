#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "rmarun/output.hpp"

namespace rmarun {

/// How an engine carries the output of many ranks in one stream.
enum class Carriage {
  /// It may cut anywhere, and starts each piece with "[1,RANK]<stdout>:", as Open MPI's --tag-output does.
  kTagged,
  kLines,  ///< it keeps lines of up to 1,000 bytes whole, and may put words of its own in front of them
};

/// The frames in which a rank's two streams, and what its keeper tells rmarun, go through the engine as one
/// stream.
///
/// Engines cut, label and mix lines, and some lose bytes of lines that they label. Frames have no newline and
/// no '[' in them, so an engine finds nothing to cut or label, and any bytes come out as they went in: - DLE
/// 'o', DLE 'e': what follows is of stdout, or stderr. - DLE 'n', DLE 'b', DLE 'd': a newline, '[', DLE. -
/// DLE '(' TEXT DLE ')': the keeper's words. - DLE 'r' RANK ';': what follows is of this rank, up to a
/// newline (Carriage::kLines).
class FrameWriter {
 public:
  FrameWriter(Carriage carriage, int rank) : carriage_(carriage), rank_(rank) {}

  /// Returns `bytes` of a stream of the rank as frames.
  [[nodiscard]] std::string output(Outlet::Stream stream, std::string_view bytes);
  /// Returns the keeper's words as a frame.
  [[nodiscard]] std::string words(std::string_view text);

 private:
  [[nodiscard]] std::string carried(const std::string& kind, std::string_view bytes,
                                    const std::string& end) const;

  Carriage carriage_;
  int rank_;
};

/// Takes the stream of an engine apart. Nothing that an engine or a rank writes is trusted: what is no frame
/// is the engine's own text.
class FrameReader {
 public:
  struct Events {
    std::function<void(int rank, Outlet::Stream stream, std::string_view bytes)> output;
    std::function<void(int rank, std::string_view words)> words;
    std::function<void(std::string_view text)> engine_text;
  };

  FrameReader(Carriage carriage, int ranks, Events events)
      : carriage_(carriage), ranks_(ranks), events_(std::move(events)) {}

  void feed(std::string_view bytes);

 private:
  /// What has come of one rank.
  struct Source {
    bool escaped = false;
    bool speaks = false;  ///< inside the keeper's words
    Outlet::Stream stream = Outlet::kOut;
    std::string words;
  };

  void feed_tagged(std::string_view bytes);
  void feed_lines(std::string_view bytes);
  [[nodiscard]] std::optional<int> rank_of(std::string_view digits) const;
  void take(int rank, std::string_view bytes);

  Carriage carriage_;
  int ranks_;
  Events events_;
  std::map<int, Source> sources_;
  std::optional<int> current_;
  std::string pending_;  ///< the beginning of a tag, or of a line
  bool in_tag_ = false;
};

}  // namespace rmarun
