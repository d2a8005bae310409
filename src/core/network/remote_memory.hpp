#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <span>
#include <vector>

#include "fabric/rail_match.hpp"
#include "fabric/registrar.hpp"
#include "malloc/directory_layout.hpp"
#include "malloc/region_table.hpp"
#include "util/status.hpp"

namespace librma {

/// The place of a rank's directory, the list of its memory. The rank's card contains it.
struct DirectoryPlace {
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
  RailKeys keys = {};  ///< by the rank's rails; all 0 if it could not be registered
};

/// Part of a rank's memory that lies in one registration.
struct RemoteRange {
  std::size_t bytes = 0;  ///< size from the given address to the registration's end
  RailKeys keys = {};     ///< by this process's rails
  bool lasts = false;     ///< the registration ends with its rank: it is an extent of the heap
};

/// This process's knowledge of the memory of one rank of another host. It consists of entries of the rank's
/// directory. They are read one-sidedly if a lookup fails, so no rank ever has to announce new memory.
/// Thread-safe.
///
/// An extent of the heap keeps its key for as long as its rank lives, so its entry stays valid. Memory that
/// the user registered can be unregistered, and registered again with another key. So a lookup in it first
/// reads the directory's version to see whether it has changed. That costs a round trip; lookups in the heap
/// need none.
class RemoteMemory {
 public:
  /// Reads [address, address + bytes) of the rank, anywhere in its directory.
  class Reader {
   public:
    Reader() = default;
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    virtual ~Reader() = default;
    /// `keys` are those of the memory, by this process's rails.
    [[nodiscard]] virtual Status read(std::byte* to, std::uintptr_t address, std::size_t bytes,
                                      const RailKeys& keys) = 0;
  };

  RemoteMemory(int rank, const DirectoryPlace& place, const RailMatch& rails)
      : rank_(rank),
        rails_(rails),
        place_({.address = place.address, .bytes = place.bytes, .keys = rails.by_mine(place.keys)}),
        geometry_(directory::Geometry::in_bytes(place.bytes)) {}

  /// Finds the registration of the part of the rank's memory that begins at `address`. RMA_ERR_ADDRESS if the
  /// first of the `bytes` is neither allocated nor registered there, RMA_ERR_UNSUPPORTED if the network does
  /// not reach it, and the reader's errors.
  [[nodiscard]] Result<RemoteRange> find(std::uintptr_t address, std::size_t bytes, Reader& reader);

 private:
  /// A leaf of the directory, as it was read, for directory::visit_covering().
  struct Leaf {
    std::uint64_t base = 0;
    std::uint64_t end = 0;
    std::uint64_t written = 0;
    std::size_t block = 0;
    std::size_t entries = 0;
    std::size_t outer = 0;
    std::shared_ptr<const std::vector<std::uint64_t>> words;  ///< those of the entries; null: not read

    [[nodiscard]] std::uint64_t word(std::size_t at, std::size_t which) const {
      return (*words)[at * directory::kEntryWords + which];
    }
  };
  /// The directory as one version describes it.
  struct Tree {
    std::uint64_t version = 0;
    std::vector<Leaf> list;
    std::array<RailKeys, directory::kChunks> chunks = {};  ///< by this process's rails

    [[nodiscard]] std::size_t leaves() const { return list.size(); }
    [[nodiscard]] std::uint64_t base_of(std::size_t number) const { return list[number].base; }
    [[nodiscard]] const Leaf& leaf(std::size_t number) const { return list[number]; }
  };

  [[nodiscard]] std::optional<Region> known(std::uintptr_t address) const;
  /// Returns whether the known regions contain all of the range together.
  [[nodiscard]] bool covers(std::uintptr_t address, std::size_t bytes) const;
  [[nodiscard]] Status refresh(Reader& reader);
  [[nodiscard]] Status read_words(Reader& reader, std::size_t at, std::span<std::uint64_t> words,
                                  const RailKeys& keys) const;
  /// Reads the root of tree.version. Takes the entries of leaves that did not change from the known tree.
  [[nodiscard]] Status read_root(Reader& reader, Tree& tree) const;
  /// Reads the entries that are missing. RMA_ERR_UNSUPPORTED if the network does not reach them.
  [[nodiscard]] Status read_leaves(Reader& reader, Tree& tree) const;
  [[nodiscard]] Status unregistered() const;

  const int rank_;
  const RailMatch rails_;
  const DirectoryPlace place_;
  const directory::Geometry geometry_;
  mutable std::shared_mutex lock_;  ///< guards the tree
  Tree tree_;
};

}  // namespace librma
