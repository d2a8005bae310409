#include "rmarun/hosts/frames.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <utility>

namespace rmarun {
namespace {

constexpr char kEscape = '\x10';
constexpr std::string_view kTagStart = "1,";
constexpr std::string_view kTagEnd = "]<stdout>:";
/// The longest tag without its '['.
constexpr std::size_t kLongestTag = 32;
/// The length of each line with its end. Daemons read pieces of 4,096 bytes from a keeper's pipe, mix the
/// pieces of several ranks, and put nothing between them. If all lines are as long, which divides that size,
/// each piece has whole lines.
constexpr std::size_t kLineBytes = 512;
/// Two bytes that fill a line. The reader drops them.
constexpr std::string_view kFiller = "\x10.";
/// The longest words of a keeper, and the longest line of an engine, that are kept.
constexpr std::size_t kLongestText = std::size_t{64} << 10;

/// Adds one byte of a rank's output, in one or two bytes.
void add_stuffed(std::string& to, char c) {
  if (c == '\n') {
    to += {kEscape, 'n'};
  } else if (c == '[') {
    to += {kEscape, 'b'};
  } else if (c == kEscape) {
    to += {kEscape, 'd'};
  } else {
    to += c;
  }
}

/// Ends a line that begins at `start`. The number of the rank, behind which `number_end` stands, gets a zero
/// in front if the length would not come out.
void end_line(std::string& lines, std::size_t start, std::size_t number_start) {
  if ((kLineBytes - 1 - (lines.size() - start)) % kFiller.size() != 0) lines.insert(number_start, 1, '0');
  while (lines.size() - start < kLineBytes - 1) lines += kFiller;
  lines += '\n';
}

}  // namespace

std::string FrameWriter::output(Outlet::Stream stream, std::string_view bytes) {
  return carried({kEscape, stream == Outlet::kOut ? 'o' : 'e'}, bytes, "");
}

std::string FrameWriter::words(std::string_view text) {
  return carried({kEscape, '('}, text.substr(0, kLongestText), {kEscape, ')'});
}

std::string FrameWriter::carried(const std::string& kind, std::string_view bytes,
                                 const std::string& end) const {
  std::string text = kind;
  text.reserve(bytes.size() + bytes.size() / 8);
  if (carriage_ == Carriage::kTagged) {
    for (const char c : bytes) add_stuffed(text, c);
    return text + end;
  }
  const std::string head = std::string{kEscape, 'r'} + std::to_string(rank_) + ';';
  constexpr std::size_t kReserve = 4;  // a stuffed byte, the end of the line, and a zero
  std::string lines;
  text.insert(0, head);
  const auto finish = [&] {
    end_line(text, 0, 2);
    lines += text;
    text = head;
  };
  for (const char c : bytes) {
    if (text.size() + kReserve > kLineBytes) finish();
    add_stuffed(text, c);
  }
  if (text.size() + end.size() + kReserve > kLineBytes) finish();
  text += end;
  finish();
  return lines;
}

void FrameReader::feed(std::string_view bytes) {
  if (carriage_ == Carriage::kTagged) {
    feed_tagged(bytes);
  } else {
    feed_lines(bytes);
  }
}

std::optional<int> FrameReader::rank_of(std::string_view digits) const {
  int rank = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), rank);
  if (error != std::errc() || end != digits.data() + digits.size() || rank < 0 || rank >= ranks_)
    return std::nullopt;
  return rank;
}

void FrameReader::feed_tagged(std::string_view bytes) {
  while (!bytes.empty()) {
    if (!in_tag_) {
      const auto bracket = bytes.find('[');
      const std::string_view piece = bytes.substr(0, bracket);
      if (!piece.empty()) current_ ? take(*current_, piece) : events_.engine_text(piece);
      if (bracket == bytes.npos) return;
      bytes.remove_prefix(bracket + 1);
      in_tag_ = true;
      pending_.clear();
      continue;
    }
    const auto colon = bytes.find(':');
    pending_ += bytes.substr(0, colon == bytes.npos ? bytes.npos : colon + 1);
    const bool whole = colon != bytes.npos;
    bytes.remove_prefix(whole ? colon + 1 : bytes.size());
    if (!whole && pending_.size() <= kLongestTag) return;
    in_tag_ = false;
    const std::string_view tag = pending_;
    current_.reset();
    if (whole && tag.starts_with(kTagStart) && tag.ends_with(kTagEnd) &&
        tag.size() > kTagStart.size() + kTagEnd.size())
      current_ = rank_of(tag.substr(kTagStart.size(), tag.size() - kTagStart.size() - kTagEnd.size()));
    if (!current_) events_.engine_text("[" + pending_);
  }
}

void FrameReader::feed_lines(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto newline = bytes.find('\n');
    pending_ += bytes.substr(0, newline);
    bytes.remove_prefix(newline == bytes.npos ? bytes.size() : newline + 1);
    if (newline == bytes.npos && pending_.size() <= kLongestText) return;
    const std::string line = std::exchange(pending_, "");
    const auto head = line.find({kEscape, 'r'});
    const auto end = line.find(';', head == line.npos ? line.size() : head);
    const auto rank =
        end == line.npos ? std::nullopt : rank_of(std::string_view(line).substr(head + 2, end - head - 2));
    if (rank) {
      take(*rank, std::string_view(line).substr(end + 1));
    } else {
      events_.engine_text(line + "\n");
    }
  }
}

void FrameReader::take(int rank, std::string_view bytes) {
  Source& source = sources_[rank];
  std::string plain;
  const auto pass = [&] {
    if (plain.empty()) return;
    if (!source.speaks) {
      events_.output(rank, source.stream, plain);
    } else if (source.words.size() < 2 * kLongestText) {
      source.words += plain;
    }
    plain.clear();
  };
  for (const char c : bytes) {
    if (!std::exchange(source.escaped, false)) {
      // The engine ends what it passes on with a newline of its own.
      if (c == kEscape) {
        source.escaped = true;
      } else if (c != '\n') {
        plain += c;
      }
      continue;
    }
    switch (c) {
      case 'n':
        plain += '\n';
        break;
      case 'b':
        plain += '[';
        break;
      case 'd':
        plain += kEscape;
        break;
      case 'o':
      case 'e':
        pass();
        source.stream = c == 'o' ? Outlet::kOut : Outlet::kErr;
        break;
      case '(':
        pass();
        source.speaks = true;
        source.words.clear();
        break;
      case ')':
        pass();
        if (std::exchange(source.speaks, false)) events_.words(rank, source.words);
        break;
      default:
        break;  // not of a keeper: dropped
    }
  }
  pass();
}

}  // namespace rmarun
