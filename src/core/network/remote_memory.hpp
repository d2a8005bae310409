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

/// The place of a rank's region directory, as its card says.
struct DirectoryPlace {
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
  RailKeys keys = {};  ///< by its rails; all 0 when it could not be registered
};

/// Part of a rank's memory that lies in one registration.
struct RemoteRange {
  std::size_t bytes = 0;  ///< from the address asked for to the registration's end
  RailKeys keys = {};     ///< by this process's rails
};

/// This process's copy of the region directory of one rank of another host: entries that were read
/// one-sidedly when something is not found, so that nobody ever has to be told of new memory. Thread-safe.
///
/// An extent of the heap keeps its key for as long as its rank lives, so what was read of it stays true.
/// Memory that the user registered can be unregistered, and registered again with another key; so a lookup in
/// it first looks whether the directory's version has moved. That costs a round trip, and the heap none.
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

  /// With keys by this process's rails.
  [[nodiscard]] const DirectoryPlace& place() const { return place_; }

  /// Where the part of the rank's memory that begins at `address` is registered. RMA_ERR_ADDRESS when the
  /// first of the `bytes` is neither allocated nor registered there; RMA_ERR_UNSUPPORTED when the network
  /// does not reach it; the reader's errors.
  [[nodiscard]] Result<RemoteRange> find(std::uintptr_t address, std::size_t bytes, Reader& reader);

 private:
  [[nodiscard]] std::optional<Region> known(std::uintptr_t address) const;
  [[nodiscard]] Status refresh(Reader& reader);
  [[nodiscard]] Status read_entries(Reader& reader, std::uint64_t version, std::vector<Region>& regions);

  const int rank_;
  const RailMatch rails_;
  const DirectoryPlace place_;
  mutable std::shared_mutex lock_;  ///< of the following
  std::vector<Region> regions_;     ///< sorted by base; of any at one address, the last is the one to use
  std::uint64_t version_ = 0;
};

}  // namespace rma
