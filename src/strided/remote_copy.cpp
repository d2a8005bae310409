#include "strided/remote_copy.hpp"

#include <algorithm>
#include <utility>

#include "helper_thread/fragments.hpp"
#include "util/statistics.hpp"

namespace librma {

RemoteCopy::RemoteCopy(const Job& job, PendingOperations& pending, RpcClient& client, RpcServer& server)
    : job_(job), pending_(pending), client_(client) {
  server.serve(RequestKind::put, [this](const Served& request) { return serve_put(request); });
  server.serve(RequestKind::get, [this](const Served& request) { return serve_get(request); });
}

bool RemoteCopy::given_out(const Layout::Part& part) const {
  // One look for all segments, if they lie in one region: the look is a system call.
  std::uintptr_t low = UINTPTR_MAX;
  std::uintptr_t high = 0;
  part.layout.visit_runs(part.from, part.bytes, [&](auto address, auto bytes, auto stride, auto times) {
    const std::uintptr_t last = address + (times - 1) * stride;
    low = std::min({low, address, last});
    high = std::max({high, address + bytes, last + bytes});
    return true;
  });
  if (low < high && job_.memory().given_out(low, high - low)) return true;
  return part.visit(
      [this](std::uintptr_t address, std::size_t bytes) { return job_.memory().given_out(address, bytes); });
}

Answer RemoteCopy::serve_put(const Served& request) const {
  std::span<const std::byte> body = request.body;
  const auto part = Layout::decode(body);
  if (!part || part->bytes != body.size()) return {.status = RMA_ERR_ARGUMENT};
  if (!given_out(*part)) return {.status = RMA_ERR_ADDRESS};
  unpack(part->layout, part->from, body);
  return {};
}

Answer RemoteCopy::serve_get(const Served& request) const {
  std::span<const std::byte> body = request.body;
  const auto part = Layout::decode(body);
  if (!part || !body.empty() || part->bytes > request.room.size()) return {.status = RMA_ERR_ARGUMENT};
  if (!given_out(*part)) return {.status = RMA_ERR_ADDRESS};
  pack(part->layout, part->from, request.room.first(part->bytes));
  return {.bytes = part->bytes};
}

Status RemoteCopy::move(transport::Direction direction, int rank, std::uintptr_t remote, std::byte* local,
                        std::size_t bytes, rma_request_t operation) {
  return move(direction, rank, std::make_shared<Layout>(Layout::contiguous(remote, bytes)),
              std::make_shared<Layout>(Layout::contiguous(reinterpret_cast<std::uintptr_t>(local), bytes)),
              operation);
}

Status RemoteCopy::move(transport::Direction direction, int rank, std::shared_ptr<const Layout> remote,
                        std::shared_ptr<const Layout> local, rma_request_t operation) {
  const bool put = direction == transport::Direction::write;
  count(put ? Counter::put_copied : Counter::get_copied);
  return ask_in_fragments(client_, pending_,
                          {.kind = put ? RequestKind::put : RequestKind::get,
                           .rank = rank,
                           .remote = std::move(remote),
                           .local = std::move(local),
                           .operation = operation,
                           .most = job_.settings().packed_piece});
}

}  // namespace librma
