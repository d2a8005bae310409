// How the network's transfers are handed to the devices, and what happens when they end.

#include <algorithm>
#include <cstring>

#include "core/network/network.hpp"
#include "core/network/peer.hpp"
#include "util/log.hpp"
#include "util/statistics.hpp"
#include "util/text.hpp"

namespace rma {
namespace {

constexpr std::uint32_t kAllRails = (1U << kMaxRails) - 1;

Counter bytes_of_rail(std::size_t rail) {
  return static_cast<Counter>(static_cast<std::size_t>(Counter::rdma_bytes_rail0) + rail);
}

}  // namespace

Status Network::add(Batch& batch, std::size_t rail, const transport::Work& work,
                    const transport::Local& local) {
  if (!batch.has_room(rail)) {
    if (Status status = flush(batch); !status.ok()) {
      if (work.cookie != 0) close(Fragment::of(work.cookie), status.code());
      return status;
    }
  }
  batch.add(rail, work, local);
  return {};
}

rma_status_t Network::post(int rank, std::size_t rail, std::span<const transport::Work> work,
                           std::size_t* posted) {
  transport::Transport& transport = rails_[rail];
  rma_status_t status = transport.post(rank, work, posted);
  if (status != RMA_ERR_STATE) return status;
  flights_.wait_until(rank, [&] {  // for room in the device's queue
    std::size_t more = 0;
    status = transport.post(rank, work.subspan(*posted), &more);
    *posted += more;
    return status != RMA_ERR_STATE;
  });
  return status;
}

Status Network::flush(Batch& batch) {
  const std::span<const transport::Work> work = batch.take();
  if (work.empty()) return {};
  std::size_t posted = 0;
  rma_status_t status = post(batch.rank(), batch.rail(), work, &posted);
  std::size_t bytes = 0;
  bool unreported = false;
  for (const transport::Work& one : work.first(posted)) {
    bytes += one.pieces[0].bytes;
    unreported = unreported || one.flags.unsignaled;
  }
  count(bytes_of_rail(batch.rail()), bytes);
  if (unreported) {
    peer(batch.rank()).trailing.store(true, std::memory_order_release);
    flights_.issued(batch.rank());
  }
  if (status == RMA_SUCCESS) return {};
  rail_failed(batch.rank(), batch.rail());
  bool unsent = false;
  for (const transport::Work& one : work.subspan(posted)) {
    if (one.cookie == 0) {
      unsent = true;
    } else if (Fragment& fragment = Fragment::of(one.cookie); !fragment.movable || !take_over(fragment)) {
      close(fragment, status);
    }
  }
  // A fragment's failure is its operation's, or the fence's. Only what has none is to be told here.
  if (!unsent) return {};
  return {status, explain(status, batch.rank())};
}

void Network::flush(int rank) {
  Peer& its = peer(rank);
  std::size_t rail = 0;
  if (!primary(its, rank, &rail).ok()) return;  // what was lost with it has been reported as it ended
  // Counted before `trailing` is cleared: another thread's drain() sees one or the other.
  its.loose.fetch_add(1, std::memory_order_acq_rel);
  its.trailing.store(false, std::memory_order_release);
  post_nothing(its, rank, rail, RMA_REQUEST_NULL);
  its.loose.fetch_sub(1, std::memory_order_release);
}

Status Network::probe(int rank) {
  Peer* its = nullptr;
  if (Status status = connect(rank, &its); !status.ok()) return status;
  std::size_t rail = 0;
  if (Status status = primary(*its, rank, &rail); !status.ok()) return status;
  const rma_request_t operation = flights_.open(rank);
  if (operation == RMA_REQUEST_NULL) return {};  // so many are open that the rank will be heard of
  post_nothing(*its, rank, rail, operation);
  return flights_.finish(operation);
}

void Network::post_nothing(Peer& its, int rank, std::size_t rail, rma_request_t operation) {
  Fragment& fragment = new_fragment(its, rank, {.direction = Direction::write}, operation);
  // Behind all others on its queue pair, and nobody's data: when it is over, so are they.
  const transport::Work nothing = fragment.work(rail);
  std::size_t posted = 0;
  if (const rma_status_t status = post(rank, rail, {&nothing, 1}, &posted); posted == 0) {
    rail_failed(rank, rail);
    close(fragment, status);
  }
}

bool Network::progress() {
  std::array<transport::Completion, 32> completions;
  bool found = false;
  for (std::size_t rail = 0; rail < rails_.count(); ++rail) {
    const std::size_t filled = rails_[rail].poll(completions);
    for (std::size_t i = 0; i < filled; ++i) ended(rail, completions[i]);
    found = found || filled != 0;
  }
  return retry() || found;
}

void Network::ended(std::size_t rail, const transport::Completion& completion) {
  const auto [cookie, rank, status, bytes] = completion;
  if (status != RMA_SUCCESS) rail_failed(rank, rail);
  if (cookie == 0) {
    flights_.failed(rank, status);
    flights_.heard_of(rank);
    return;
  }
  Fragment& fragment = Fragment::of(cookie);
  if (status == RMA_ERR_PEER_LOST && fragment.movable && take_over(fragment)) return;
  close(fragment, status);
}

void Network::close(Fragment& fragment, rma_status_t status) {
  if (status == RMA_SUCCESS && fragment.copy_to != nullptr) {
    std::memcpy(fragment.copy_to, fragment.buffer, fragment.span.bytes);
  }
  if (fragment.buffer != nullptr) fragment.pool->give(fragment.buffer);
  const int rank = fragment.rank;
  const rma_request_t operation = fragment.operation;
  fragments_.give(fragment);  // and with it the registration: the memory is the program's again from here on
  if (operation == RMA_REQUEST_NULL) peer(rank).loose.fetch_sub(1, std::memory_order_release);
  flights_.end(rank, operation, status);
}

bool Network::take_over(Fragment& fragment) {
  Peer& its = peer(fragment.rank);
  bool any = false;
  for (std::size_t rail = 0; rail < its.cards.size(); ++rail) any = any || its.alive(rail);
  if (!any) return false;
  count(Counter::rail_failover);
  flights_.heard_of(fragment.rank);
  const std::lock_guard guard(retry_lock_);
  retries_.push_back(&fragment);
  return true;
}

bool Network::retry() {
  std::vector<Fragment*> waiting;
  {
    const std::lock_guard guard(retry_lock_);
    if (retries_.empty()) return false;
    waiting.swap(retries_);
  }
  bool moved = false;
  for (Fragment* const fragment : waiting) {
    const std::size_t rail = next_rail(peer(fragment->rank));
    const transport::Local local = fragment->local(rail);
    transport::Work work = fragment->work(rail);
    work.pieces = {&local, 1};
    std::size_t posted = 0;
    const rma_status_t status = rails_[rail].post(fragment->rank, {&work, 1}, &posted);
    if (posted != 0) {
      count(bytes_of_rail(rail), fragment->span.bytes);
      moved = true;
      continue;
    }
    if (status != RMA_ERR_STATE) rail_failed(fragment->rank, rail);
    if (status != RMA_ERR_STATE && !take_over(*fragment)) {
      close(*fragment, status);
      moved = true;
    } else if (status == RMA_ERR_STATE) {
      const std::lock_guard guard(retry_lock_);
      retries_.push_back(fragment);
    }
  }
  return moved;
}

void Network::give_up(int rank) {
  Peer& its = peer(rank);
  if (its.dead.fetch_or(kAllRails, std::memory_order_acq_rel) == kAllRails) return;
  count(Counter::peer_lost);
  log(LogLevel::warn, explain(RMA_ERR_PEER_LOST, rank));
  for (std::size_t rail = 0; rail < rails_.count(); ++rail) rails_[rail].fail(rank);
}

void Network::arm() {
  for (std::size_t rail = 0; rail < rails_.count(); ++rail) static_cast<void>(rails_[rail].arm());
}

std::string Network::explain(rma_status_t code, int rank) const {
  switch (code) {
    case RMA_ERR_PEER_LOST:
      return text("rank {} is gone, or nothing was heard of it for up to {} s (RMA_PEER_TIMEOUT)", rank,
                  settings_.peer_timeout);
    case RMA_ERR_ADDRESS:
      return text(
          "rank {} refused access to part of its memory: it is neither in its heap nor registered there "
          "(rma_malloc, rma_malloc_local, rma_register), or was freed or unregistered while it was in use",
          rank);
    default:
      return text("a transfer with rank {} over the network failed (status {})", rank,
                  static_cast<int>(code));
  }
}

}  // namespace rma
