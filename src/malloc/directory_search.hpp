#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "malloc/directory_layout.hpp"

namespace librma::directory {

/// Searches the words of a directory, in place or copied. A source has
///   leaves()       the number of leaves,
///   base_of(leaf)  the first word of a leaf in the root,
///   leaf(leaf)     an object with the other words `outer` and `end`, with `entries`, the number of its
///   entries, and
///                  with word(at, which), a word of its entry `at`.
/// The words may be hostile, and may change: a search ends with any of them, and asks for no other leaf or
/// entry.

/// Returns how many of `count` ascending numbers are at most `limit`.
template <typename NumberAt>
std::size_t count_up_to(std::size_t count, std::uint64_t limit, const NumberAt& number_at) {
  std::size_t begin = 0;
  while (begin < count) {
    const std::size_t middle = begin + (count - begin) / 2;
    if (number_at(middle) <= limit) {
      begin = middle + 1;
    } else {
      count = middle;
    }
  }
  return begin;
}

/// Returns the nearest one before `at` of numbers whose `outer` is 1 + the nearest one before that ends
/// later, so that none in between ends later. 0 stands for none.
inline std::size_t before(std::size_t at, std::size_t outer) { return std::min(at, outer); }

/// Calls visit(number, leaf, at) for the entries, by their leaves, that contain [address, address + bytes),
/// the nearest beginning first, until it returns true. Returns whether it did.
template <typename Source, typename Visit>
bool visit_covering(const Source& source, std::uintptr_t address, std::size_t bytes, const Visit& visit) {
  if (bytes > UINTPTR_MAX - address) return false;
  const std::uintptr_t end = address + bytes;
  const auto in_leaf = [&](std::size_t number, const auto& leaf, std::size_t next) {
    while (next != 0) {
      const std::size_t at = next - 1;
      const std::uint64_t base = leaf.word(at, kBase);
      if (base <= address && leaf.word(at, kBytes) >= end - base) {
        if (visit(number, leaf, at)) return true;
        next = at;
      } else {
        next = before(at, leaf.word(at, kOuter));
      }
    }
    return false;
  };
  std::size_t next =
      count_up_to(source.leaves(), address, [&](std::size_t number) { return source.base_of(number); });
  bool is_last =
      true;  // of the leaves whose first entry begins early enough: others in it may begin too late
  while (next != 0) {
    const std::size_t number = next - 1;
    const auto& leaf = source.leaf(number);
    if (leaf.end < end) {
      next = before(number, leaf.outer);
      continue;
    }
    const std::size_t first =
        is_last ? count_up_to(leaf.entries, address, [&](std::size_t at) { return leaf.word(at, kBase); })
                : leaf.entries;
    if (in_leaf(number, leaf, first)) return true;
    is_last = false;
    next = number;
  }
  return false;
}

}  // namespace librma::directory
