#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <vector>

#include "fabric/rail_match.hpp"
#include "fabric/registrar.hpp"
#include "malloc/region_table.hpp"
#include "util/status.hpp"

namespace rma {

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
    [[nodiscard]] virtual Status read(std::byte* to, std::uintptr_t address, std::size_t bytes) = 0;
  };

  RemoteMemory(int rank, const DirectoryPlace& place, const RailMatch& rails)
      : rank_(rank),
        rails_(rails),
        place_({.address = place.address, .bytes = place.bytes, .keys = rails.by_mine(place.keys)}) {}

  /// Returns the place of the directory, with keys by this process's rails.
  [[nodiscard]] const DirectoryPlace& place() const { return place_; }

  /// Finds the registration of the part of the rank's memory that begins at `address`. RMA_ERR_ADDRESS if the
  /// first of the `bytes` is neither allocated nor registered there, RMA_ERR_UNSUPPORTED if the network does
  /// not reach it, and the reader's errors.
  [[nodiscard]] Result<RemoteRange> find(std::uintptr_t address, std::size_t bytes, Reader& reader);

 private:
  [[nodiscard]] std::optional<Region> known(std::uintptr_t address) const;
  [[nodiscard]] Status refresh(Reader& reader);
  [[nodiscard]] Status read_entries(Reader& reader, std::uint64_t version, std::vector<Region>& regions);

  const int rank_;
  const RailMatch rails_;
  const DirectoryPlace place_;
  mutable std::shared_mutex lock_;  ///< guards the members below
  std::vector<Region> regions_;     ///< sorted by base; of several at one address, the last is used
  std::uint64_t version_ = 0;
};

}  // namespace rma
