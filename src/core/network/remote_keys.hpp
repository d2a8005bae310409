#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/completion/pending_operations.hpp"
#include "core/network/bounce_copy.hpp"
#include "core/network/peer.hpp"
#include "core/network/posting.hpp"
#include "core/network/remote_memory.hpp"
#include "util/status.hpp"

namespace librma {

/// Finds the remote keys of other ranks' memory. Reads a rank's directory by RDMA if RemoteMemory does not
/// know the address yet. Thread-safe.
class RemoteKeys {
 public:
  /// `read_bytes` is the size of the reads of a directory.
  RemoteKeys(PendingOperations& pending, Posting& posting, BounceCopy& bounce, std::size_t read_bytes)
      : pending_(pending), posting_(posting), bounce_(bounce), read_bytes_(read_bytes) {}

  /// Returns the registration that `address` lies in. Reading the directory posts the batch first, because
  /// that may hold the very buffers that reading waits for. The errors are those of RemoteMemory::find() and
  /// of reading.
  [[nodiscard]] Result<RemoteRange> find(Batch& batch, NetworkPeer& peer, std::uintptr_t address,
                                         std::size_t bytes);
  /// Appends to `ranges` the registrations that all of [address, address + bytes) lies in, in order.
  [[nodiscard]] Status find_all(Batch& batch, NetworkPeer& peer, std::uintptr_t address, std::size_t bytes,
                                std::vector<RemoteRange>& ranges);

 private:
  class DirectoryReader;

  /// Reads [address, address + bytes) of the rank by these keys of this process's rails, and waits for it.
  [[nodiscard]] Status read(NetworkPeer& peer, std::byte* to, std::uintptr_t address, std::size_t bytes,
                            const RailKeys& keys);

  PendingOperations& pending_;
  Posting& posting_;
  BounceCopy& bounce_;
  const std::size_t read_bytes_;
};

}  // namespace librma
