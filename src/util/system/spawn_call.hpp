#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// The requests of a rank to rmarun that have texts and lists (RankCall::spawn and the names). Each text or
// list has its length in front.

namespace librma {

/// A program of which more ranks are to start.
struct SpawnedProgram {
  int ranks = 0;
  std::vector<std::string> command;  ///< the program and its arguments, at least one
  std::string directory;             ///< in which they start; empty: rmarun's
  std::string path;                  ///< directories in which the program is looked for, separated by colons
  std::string host;                  ///< hosts on which they may start, separated by commas; empty: any
  std::string soft;                  ///< the numbers that will do: "2,4:8,10:20:5"; empty: `ranks` alone

  bool operator==(const SpawnedProgram&) const = default;
};

/// A request to start more ranks.
struct SpawnCall {
  std::vector<SpawnedProgram> programs;
  std::vector<int> parents;  ///< the ranks that make the call
  std::uint32_t number = 0;  ///< that under which they meet the new ones

  [[nodiscard]] std::vector<std::byte> encode() const;
  /// Returns no value if the bytes are not an encoded call. Their sender may be faulty or hostile.
  [[nodiscard]] static std::optional<SpawnCall> decode(std::span<const std::byte> bytes);
};

/// Returns texts as they travel.
[[nodiscard]] std::vector<std::byte> encode_texts(std::span<const std::string> texts);
/// Returns `count` texts, or no value if the bytes are not exactly these.
[[nodiscard]] std::optional<std::vector<std::string>> decode_texts(std::span<const std::byte> bytes,
                                                                   std::size_t count);
/// Returns ranks as they travel, with their number in front.
[[nodiscard]] std::vector<std::byte> encode_ranks(std::span<const int> ranks);
/// Takes ranks from the front of `bytes`. Returns no value if they are cut short.
[[nodiscard]] std::optional<std::vector<int>> take_ranks(std::span<const std::byte>& bytes);

/// Returns the largest number that will do and is at most `most`: of `ranks` alone, or of those that `soft`
/// lists. Returns -1 if there is none, and no value if `soft` is no such list.
[[nodiscard]] std::optional<int> soft_number(const std::string& soft, int ranks, int most);

}  // namespace librma
