#include "transport/shm/shm_transport.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma::transport {

Result<std::unique_ptr<ShmTransport>> ShmTransport::open(const ShmOptions& options) {
  RMA_TRY_ASSIGN(endpoint, ShmMessageEndpoint::create(options));
  return std::unique_ptr<ShmTransport>(
      new ShmTransport(std::move(endpoint), *options.host, options.locals.back() + 1, options.cma));
}

Status ShmTransport::connect(int peer, std::span<const std::byte> card) {
  RMA_TRY(messages_->connect(peer, card));
  // The endpoint has found the process, too.
  Status status = moves_.connect(peer, CmaTransport::card_of(*host_.find(peer)));
  // Messages, and transfers within segments, need no access to other memory of the peer.
  return status.code() == RMA_ERR_UNSUPPORTED ? Status() : std::move(status);
}

void ShmTransport::fail(int peer) {
  if (peer < 0 || peer >= peers_) return;
  messages_->fail(peer);
  moves_.fail(peer);
}

rma_status_t ShmTransport::post(int peer, std::span<const Work> work, std::size_t* posted) {
  *posted = 0;
  if (peer < 0 || peer >= peers_) return RMA_ERR_PEER_LOST;
  return moves_.post(peer, work, posted);
}

}  // namespace librma::transport
