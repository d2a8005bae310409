#include "rmarun/merger.hpp"

#include <algorithm>
#include <utility>

namespace rmarun {

std::size_t Merger::add(int rank, std::string label, std::string& queue) {
  Stream& stream = streams_.emplace_back();
  stream.rank = rank;
  stream.label = std::move(label);
  stream.queue = &queue;
  return streams_.size() - 1;
}

void Merger::feed(std::size_t stream, std::string_view piece, Clock::time_point now) {
  Stream& from = streams_[stream];
  several_ = several_ || (writer_ && *writer_ != from.rank);
  if (!writer_) writer_ = from.rank;
  if (const auto newline = piece.rfind('\n'); newline != std::string_view::npos)
    from.whole = from.text.size() + newline + 1;
  from.text += piece;
  from.last_piece = now;
  waiting_ += piece.size();
  look(now);
}

void Merger::finish(std::size_t stream, Clock::time_point now) {
  Stream& from = streams_[stream];
  from.ended = true;
  from.whole = from.text.size();
  look(now);
}

bool Merger::others_wait() const { return waiting_ > open_->text.size(); }

void Merger::look(Clock::time_point now) {
  if (open_ != nullptr && others_wait() &&
      (now >= open_->last_piece + pace_.patience || waiting_ > kLongestWait)) {
    open_ = nullptr;
  }
  while (true) {
    if (open_ != nullptr && !pass_open_line()) return;
    for (Stream& stream : streams_) pass(stream, one_rank_ ? stream.text.size() : stream.whole);
    open_ = next_to_open(now);
    if (open_ == nullptr) return;
  }
}

/// Passes on what has come of the open line. Returns whether that is its end.
bool Merger::pass_open_line() {
  const bool ends = open_->whole > 0 || open_->ended;
  pass(*open_, open_->whole > 0 ? open_->whole : open_->text.size());
  if (ends) open_ = nullptr;
  return ends;
}

/// Returns the stream whose unfinished line is the next to go out, or null while all have to wait.
Merger::Stream* Merger::next_to_open(Clock::time_point now) {
  Stream* next = nullptr;
  for (Stream& stream : streams_) {
    const bool due = !several_ || now >= stream.last_piece + pace_.hold || stream.text.size() > kLongestWait;
    if (stream.text.empty() || !due) continue;
    if (next == nullptr || stream.last_piece < next->last_piece) next = &stream;
  }
  return next;
}

std::optional<Merger::Clock::time_point> Merger::next_look() const {
  if (open_ != nullptr)
    return others_wait() ? std::optional(open_->last_piece + pace_.patience) : std::nullopt;
  std::optional<Clock::time_point> next;
  for (const Stream& stream : streams_) {
    if (stream.text.empty()) continue;
    const auto due = stream.last_piece + pace_.hold;
    next = next ? std::min(*next, due) : due;
  }
  return next;
}

/// Passes on the first `size` bytes of the text.
void Merger::pass(Stream& stream, std::size_t size) {
  if (size == 0) return;
  std::string_view rest = std::string_view(stream.text).substr(0, size);
  // The rest of a line that was interrupted gets its label again.
  bool at_label = !stream.inside_line || last_ != &stream;
  while (!stream.label.empty() && !rest.empty()) {
    const std::string_view line = rest.substr(0, std::min(rest.find('\n'), rest.size() - 1) + 1);
    if (at_label) *stream.queue += stream.label;
    *stream.queue += line;
    at_label = true;
    rest.remove_prefix(line.size());
  }
  *stream.queue += rest;
  stream.inside_line = stream.text[size - 1] != '\n';
  last_ = &stream;
  stream.text.erase(0, size);
  stream.whole -= std::min(stream.whole, size);
  waiting_ -= size;
}

}  // namespace rmarun
