// The common part of all collective calls.

#include "twosided_compat/communicators/collective_transfers.hpp"

#include <cstring>

#include "rma/messages.h"
#include "rma/rma.h"
#include "twosided_compat/objects/library_failure.hpp"
#include "util/try.hpp"

namespace librma::mpi {

int CollectiveTransfers::send(const Buffer& data, int to) {
  return checked(send_and_wait(Mode::kStandard, data, peer(to)));
}

int CollectiveTransfers::receive(const Buffer& data, int from) {
  return checked(receive_and_wait(data, peer(from), nullptr));
}

int CollectiveTransfers::exchange(const Buffer& out, int to, const Buffer& in, int from) {
  rma_request_t request = RMA_REQUEST_NULL;
  rma_message_info_t info = {};
  PackMemory memory;
  const MessagePeer source = peer(from);
  const rma_status_t started = in.is_contiguous() ? rma_recv_nb(in.data, in.bytes, source.rank, source.tag,
                                                                source.context, &info, &request)
                                                  : receive_noncontiguous(in, source, &info, memory, request);
  if (started != RMA_SUCCESS) return checked(started);
  const int sent = send(out, to);
  if (sent != MPI_SUCCESS) static_cast<void>(rma_cancel(request));
  const int received = checked(rma_wait(&request));
  if (received == MPI_SUCCESS) unpack_received(in, info, memory);
  return sent != MPI_SUCCESS ? sent : received;
}

// A ring: after step k each member has the blocks of k + 1 members before it.
int CollectiveTransfers::allgather(const void* mine, std::size_t bytes, void* all) {
  auto* const blocks = static_cast<std::byte*>(all);
  const int size = comm_.size();
  const int rank = comm_.rank();
  const auto block = [&](int member) { return blocks + static_cast<std::size_t>(member) * bytes; };
  if (bytes != 0 && mine != block(rank)) std::memcpy(block(rank), mine, bytes);
  for (int step = 1; step < size; ++step) {
    RMA_TRY(exchange(block((rank - step + 1 + size) % size), bytes, (rank + 1) % size,
                     block((rank - step + size) % size), bytes, (rank - 1 + size) % size));
  }
  return MPI_SUCCESS;
}

// A binomial tree. Member v, counted from the root, receives from v with its lowest bit cleared.
int CollectiveTransfers::broadcast(const Buffer& data, int root) {
  const int size = comm_.size();
  const int place = (comm_.rank() - root + size) % size;
  const auto member = [&](int at) { return (at + root) % size; };
  int mask = 1;
  for (; mask < size; mask <<= 1) {
    if ((place & mask) == 0) continue;
    RMA_TRY(receive(data, member(place - mask)));
    break;
  }
  for (mask >>= 1; mask > 0; mask >>= 1) {
    if (place + mask >= size) continue;
    RMA_TRY(send(data, member(place + mask)));
  }
  return MPI_SUCCESS;
}

}  // namespace librma::mpi
