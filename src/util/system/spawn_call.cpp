#include "util/system/spawn_call.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "util/bytes_of.hpp"
#include "util/take_head.hpp"

namespace librma {
namespace {

/// Far more than any call needs. The limit keeps a wrong length from asking for all memory.
constexpr std::uint32_t kMostParts = 1U << 20U;

class Writer {
 public:
  void number(std::uint32_t value) { append(bytes_of(value)); }
  void text(std::string_view value) {
    number(static_cast<std::uint32_t>(value.size()));
    append(std::as_bytes(std::span(value)));
  }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void append(std::span<const std::byte> part) { bytes_.insert(bytes_.end(), part.begin(), part.end()); }
  std::vector<std::byte> bytes_;
};

/// Reads what a Writer has written. After the first failure everything is 0 or empty.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::uint32_t number() {
    const auto value = take_head<std::uint32_t>(bytes_);
    good_ = good_ && value.has_value();
    return good_ ? *value : 0;
  }
  std::uint32_t count() {
    const std::uint32_t value = number();
    good_ = good_ && value <= kMostParts;
    return good_ ? value : 0;
  }
  std::string text() {
    const std::uint32_t length = number();
    good_ = good_ && length <= bytes_.size();
    if (!good_) return {};
    std::string value(reinterpret_cast<const char*>(bytes_.data()), length);
    bytes_ = bytes_.subspan(length);
    return value;
  }
  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] bool over() const { return good_ && bytes_.empty(); }

 private:
  std::span<const std::byte> bytes_;
  bool good_ = true;
};

/// One entry of a soft list: first, first:last, or first:last:step.
std::optional<std::array<int, 3>> parse_range(std::string_view word) {
  std::array<int, 3> parts = {};
  std::size_t count = 0;
  const char* at = word.data();
  const char* const end = at + word.size();
  while (true) {
    if (count == parts.size()) return std::nullopt;
    const auto [stop, error] = std::from_chars(at, end, parts[count++]);
    if (error != std::errc()) return std::nullopt;
    if (stop == end) break;
    if (*stop != ':') return std::nullopt;
    at = stop + 1;
  }
  if (count == 1) parts[1] = parts[0];
  if (count < 3) parts[2] = 1;
  if (parts[2] == 0) return std::nullopt;
  return parts;
}

/// Returns the largest member of a range that lies in [0, most], or -1.
int largest_in(const std::array<int, 3>& range, int most) {
  const auto [first, last, step] = range;
  std::int64_t low = first;
  std::int64_t high = last;
  const std::int64_t width = step < 0 ? -std::int64_t{step} : step;
  if (step < 0) std::swap(low, high);
  if (high < low) return -1;
  // The members are first + k * step: of a descending range they are counted from its upper end.
  const std::int64_t anchor = first;
  const std::int64_t top = std::min<std::int64_t>(high, most);
  if (top < low) return -1;
  const std::int64_t distance = anchor - top;
  const std::int64_t rest = ((distance % width) + width) % width;
  const std::int64_t found = rest == 0 ? top : top - (width - rest);
  return found >= low && found >= 0 ? static_cast<int>(found) : -1;
}

}  // namespace

std::vector<std::byte> SpawnCall::encode() const {
  Writer to;
  to.number(number);
  to.number(static_cast<std::uint32_t>(parents.size()));
  for (const int rank : parents) to.number(static_cast<std::uint32_t>(rank));
  to.number(static_cast<std::uint32_t>(programs.size()));
  for (const SpawnedProgram& program : programs) {
    to.number(static_cast<std::uint32_t>(program.ranks));
    to.number(static_cast<std::uint32_t>(program.command.size()));
    for (const std::string& word : program.command) to.text(word);
    for (const std::string* text : {&program.directory, &program.path, &program.host, &program.soft})
      to.text(*text);
  }
  return to.take();
}

std::optional<SpawnCall> SpawnCall::decode(std::span<const std::byte> bytes) {
  Reader from(bytes);
  SpawnCall call;
  call.number = from.number();
  for (std::uint32_t left = from.count(); left != 0 && from.good(); --left)
    call.parents.push_back(static_cast<int>(from.number()));
  for (std::uint32_t left = from.count(); left != 0 && from.good(); --left) {
    SpawnedProgram& program = call.programs.emplace_back();
    program.ranks = static_cast<int>(from.number());
    for (std::uint32_t words = from.count(); words != 0 && from.good(); --words)
      program.command.push_back(from.text());
    for (std::string* text : {&program.directory, &program.path, &program.host, &program.soft})
      *text = from.text();
    if (program.command.empty() || program.ranks < 0) return std::nullopt;
  }
  if (!from.over() || call.programs.empty()) return std::nullopt;
  return call;
}

std::vector<std::byte> encode_texts(std::span<const std::string> texts) {
  Writer to;
  for (const std::string& text : texts) to.text(text);
  return to.take();
}

std::optional<std::vector<std::string>> decode_texts(std::span<const std::byte> bytes, std::size_t count) {
  Reader from(bytes);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < count; ++i) texts.push_back(from.text());
  if (!from.over()) return std::nullopt;
  return texts;
}

std::vector<std::byte> encode_ranks(std::span<const int> ranks) {
  Writer to;
  to.number(static_cast<std::uint32_t>(ranks.size()));
  for (const int rank : ranks) to.number(static_cast<std::uint32_t>(rank));
  return to.take();
}

std::optional<std::vector<int>> take_ranks(std::span<const std::byte>& bytes) {
  const auto count = take_head<std::uint32_t>(bytes);
  if (!count || *count > bytes.size() / sizeof(std::int32_t)) return std::nullopt;
  std::vector<int> ranks(*count);
  std::memcpy(ranks.data(), bytes.data(), ranks.size() * sizeof(std::int32_t));
  bytes = bytes.subspan(ranks.size() * sizeof(std::int32_t));
  return ranks;
}

std::optional<int> soft_number(const std::string& soft, int ranks, int most) {
  if (soft.empty()) return ranks <= most ? ranks : -1;
  int best = -1;
  std::string_view rest = soft;
  while (true) {
    const std::size_t comma = rest.find(',');
    const auto range = parse_range(rest.substr(0, comma));
    if (!range) return std::nullopt;
    best = std::max(best, largest_in(*range, std::min(ranks, most)));
    if (comma == std::string_view::npos) return best;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace librma
