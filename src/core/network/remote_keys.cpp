#include "core/network/remote_keys.hpp"

#include <algorithm>
#include <utility>

#include "util/text.hpp"
#include "util/try.hpp"

namespace librma {

class RemoteKeys::DirectoryReader final : public RemoteMemory::Reader {
 public:
  DirectoryReader(RemoteKeys& keys, Batch& batch, NetworkPeer& peer)
      : keys_(keys), batch_(batch), peer_(peer) {}
  [[nodiscard]] Status read(std::byte* to, std::uintptr_t address, std::size_t bytes,
                            const RailKeys& keys) override {
    RMA_TRY(keys_.posting_.flush(batch_));
    return keys_.read(peer_, to, address, bytes, keys);
  }

 private:
  RemoteKeys& keys_;
  Batch& batch_;
  NetworkPeer& peer_;
};

Result<RemoteRange> RemoteKeys::find(Batch& batch, NetworkPeer& peer, std::uintptr_t address,
                                     std::size_t bytes) {
  DirectoryReader reader(*this, batch, peer);
  return peer.memory->find(address, bytes, reader);
}

Status RemoteKeys::find_all(Batch& batch, NetworkPeer& peer, std::uintptr_t address, std::size_t bytes,
                            std::vector<RemoteRange>& ranges) {
  const std::uintptr_t whole = address;
  const std::size_t whole_bytes = bytes;
  while (bytes > 0) {
    auto range = find(batch, peer, address, bytes);
    if (!range.ok()) {
      if (address == whole) return std::move(range).status();
      return std::move(range).status().within(text("part of {} bytes at {:#x}", whole_bytes, whole));
    }
    range->bytes = std::min(range->bytes, bytes);
    address += range->bytes;
    bytes -= range->bytes;
    ranges.push_back(range.value());
  }
  return {};
}

Status RemoteKeys::read(NetworkPeer& peer, std::byte* to, std::uintptr_t address, std::size_t bytes,
                        const RailKeys& keys) {
  Batch batch(peer.rank);
  Status status;
  while (bytes > 0 && status.ok()) {
    const std::size_t part = std::min(bytes, read_bytes_);
    Span span = {.direction = transport::Direction::read,
                 .remote = address,
                 .local = to,
                 .bytes = part,
                 .remote_keys = keys,
                 .lasts = true};
    status = bounce_.post(batch, peer, span);
    address += part;
    to += part;
    bytes -= part;
  }
  if (Status posted = posting_.flush(batch); status.ok()) status = std::move(posted);
  if (batch.operation() == RMA_REQUEST_NULL) return status;
  Status finished = pending_.finish(batch.take_operation());
  return status.ok() ? std::move(finished) : std::move(status);
}

}  // namespace librma
