// What all collective calls have in common.

#include "twosided_compat/collective.hpp"

#include <cstring>

#include "rma/messages.h"
#include "rma/rma.h"
#include "twosided_compat/library_failure.hpp"

namespace rma::mpi {

int CollectiveTransfers::send(const void* data, std::size_t bytes, int to) {
  return checked(rma_send(data, bytes, comm_.world_rank(to), tag_, context_));
}

int CollectiveTransfers::receive(void* data, std::size_t bytes, int from) {
  return checked(rma_recv(data, bytes, comm_.world_rank(from), tag_, context_, nullptr));
}

int CollectiveTransfers::exchange(const void* out, std::size_t out_bytes, int to, void* in,
                                  std::size_t in_bytes, int from) {
  rma_request_t request = RMA_REQUEST_NULL;
  if (const int code =
          checked(rma_recv_nb(in, in_bytes, comm_.world_rank(from), tag_, context_, nullptr, &request));
      code != MPI_SUCCESS) {
    return code;
  }
  const int sent = send(out, out_bytes, to);
  if (sent != MPI_SUCCESS) static_cast<void>(rma_cancel(request));
  const int received = checked(rma_wait(&request));
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
    const int code = exchange(block((rank - step + 1 + size) % size), bytes, (rank + 1) % size,
                              block((rank - step + size) % size), bytes, (rank - 1 + size) % size);
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

// A binomial tree. Member v, counted from the root, receives from v with its lowest bit cleared.
int CollectiveTransfers::broadcast(void* data, std::size_t bytes, int root) {
  const int size = comm_.size();
  const int place = (comm_.rank() - root + size) % size;
  const auto member = [&](int at) { return (at + root) % size; };
  int mask = 1;
  for (; mask < size; mask <<= 1) {
    if ((place & mask) == 0) continue;
    if (const int code = receive(data, bytes, member(place - mask)); code != MPI_SUCCESS) return code;
    break;
  }
  for (mask >>= 1; mask > 0; mask >>= 1) {
    if (place + mask >= size) continue;
    if (const int code = send(data, bytes, member(place + mask)); code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

}  // namespace rma::mpi
