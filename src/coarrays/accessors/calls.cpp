#include "coarrays/accessors/calls.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "coarrays/accessors/worker.hpp"
#include "coarrays/images.hpp"
#include "coarrays/outcome.hpp"
#include "rma/active_messages.h"

namespace librma::coarrays {
namespace {

/// The words of all messages: the caller's number of the call, the size of the block, and where the piece of
/// it begins that the message carries or asks for.
struct Piece {
  std::uint64_t number;
  std::uint64_t total;
  std::uint64_t offset;

  explicit Piece(const rma_am_message_t& message)
      : number(message.words[0]), total(message.words[1]), offset(message.words[2]) {}
  Piece(std::uint64_t of, std::uint64_t bytes, std::uint64_t from) : number(of), total(bytes), offset(from) {}
  [[nodiscard]] std::array<std::uint64_t, 3> words() const { return {number, total, offset}; }
};

/// Numbers of handlers, and the size of a piece.
struct Service {
  CallService functions = {};
  int part = -1;
  int more = -1;
  int answer = -1;
  std::size_t most = 0;
};
Service service;

using Block = std::vector<std::byte>;
/// A caller's call: its rank and its number.
using CallName = std::pair<int, std::uint64_t>;

/// The calls that this image serves: those that are not complete, and results that are not fetched.
struct Served {
  /// Handlers of messages from other ranks use it, and run one at a time.
  std::map<CallName, Block> calls;
  std::mutex lock;                    // guards `results`: the worker adds to them
  std::map<CallName, Block> results;  ///< only handlers remove them
  Worker worker;                      ///< runs the calls that no handler may run
};
Served& served() {
  static auto* const all = new Served;
  return *all;
}

/// A call of this image.
struct Waiting {
  Block& result;
  int rank;
  std::uint64_t received = 0;            ///< bytes of the result
  std::atomic<std::uint64_t> total = 0;  ///< of the result, plus 1; 0: unknown
  std::atomic<bool> complete = false;
};
struct Calls {
  std::mutex lock;  // guards the rest, and the results of the calls until they are complete
  std::uint64_t last = 0;
  std::map<std::uint64_t, Waiting*> waiting;
};
Calls& calls() {
  static auto* const all = new Calls;
  return *all;
}

bool fits(const Piece& piece, std::size_t bytes) {
  return piece.offset <= piece.total && bytes <= piece.total - piece.offset;
}

void reply_with(rma_am_token_t* token, std::uint64_t number, const Block& block, std::uint64_t offset) {
  const std::size_t bytes = std::min<std::size_t>(service.most, block.size() - offset);
  const auto words = Piece(number, block.size(), offset).words();
  require(rma_am_reply_medium(token, service.answer, words.data(), static_cast<int>(words.size()),
                              block.data() + offset, bytes));
}

void keep_result(const CallName& name, Block result) {
  const std::lock_guard guard(served().lock);
  served().results[name] = std::move(result);
}

rma_status_t send_piece(int rank, int handler, const Piece& piece, std::span<const std::byte> bytes) {
  const auto words = piece.words();
  return rma_am_request_medium(rank, handler, words.data(), static_cast<int>(words.size()), bytes.data(),
                               bytes.size());
}

/// Runs a call in the worker, and sends the beginning of its result.
void run_in_worker(const CallName& name, Block& call) {
  const auto [caller, number] = name;
  Block result = service.functions.run(call, caller + 1);
  const std::size_t total = result.size();
  const Block first(result.begin(),
                    result.begin() + static_cast<std::ptrdiff_t>(std::min(service.most, total)));
  // The caller may ask for the rest as soon as it has the beginning.
  if (total > service.most) keep_result(name, std::move(result));
  const rma_status_t sent = send_piece(caller, service.answer, {number, total, 0}, first);
  if (sent != RMA_ERR_PEER_LOST) require(sent);
}

void take_part(void* /*context*/, rma_am_token_t* token, const rma_am_message_t* message) {
  const Piece piece(*message);
  const CallName name(message->source, piece.number);
  Block& parts = served().calls[name];
  if (parts.size() != piece.offset || !fits(piece, message->bytes))
    die("an image made a call that has no sense");
  const auto* const bytes = static_cast<const std::byte*>(message->payload);
  parts.insert(parts.end(), bytes, bytes + message->bytes);
  if (parts.size() != piece.total) return;
  Block call = std::move(parts);
  served().calls.erase(name);
  if (!service.functions.in_handler(call)) {
    served().worker.push([name, call = std::move(call)]() mutable { run_in_worker(name, call); });
    return;
  }
  Block result = service.functions.run(call, message->source + 1);
  reply_with(token, piece.number, result, 0);
  if (result.size() > service.most) keep_result(name, std::move(result));
}

void send_more(void* /*context*/, rma_am_token_t* token, const rma_am_message_t* message) {
  const Piece piece(*message);
  std::unique_lock guard(served().lock);
  const auto found = served().results.find({message->source, piece.number});
  if (found == served().results.end() || piece.offset >= found->second.size())
    die("an image asked for a result that is not there");
  guard.unlock();
  reply_with(token, piece.number, found->second, piece.offset);
  if (found->second.size() - piece.offset > service.most) return;
  guard.lock();
  served().results.erase(found);
}

void take_answer(void* /*context*/, rma_am_token_t* /*token*/, const rma_am_message_t* message) {
  const Piece piece(*message);
  const std::lock_guard guard(calls().lock);
  const auto found = calls().waiting.find(piece.number);
  if (found == calls().waiting.end()) return;  // its caller has given it up
  Waiting& call = *found->second;
  if (call.rank != message->source || !fits(piece, message->bytes))
    die("an image returned what has no sense");
  if (call.result.size() < piece.total) call.result.resize(piece.total);
  if (message->bytes != 0) std::memcpy(call.result.data() + piece.offset, message->payload, message->bytes);
  call.received += message->bytes;
  call.total.store(piece.total + 1, std::memory_order_release);
  if (call.received == piece.total) call.complete.store(true, std::memory_order_release);
}

/// Sends the call, asks for all of its result and waits for it.
rma_status_t carry_out(int rank, std::uint64_t number, std::span<const std::byte> call, Waiting& waiting) {
  std::size_t offset = 0;
  do {
    const std::size_t bytes = std::min(service.most, call.size() - offset);
    const Piece piece(number, call.size(), offset);
    const rma_status_t sent = send_piece(rank, service.part, piece, call.subspan(offset, bytes));
    if (sent != RMA_SUCCESS) return sent;
    offset += bytes;
  } while (offset < call.size());
  const auto answered = [](void* context) {
    return static_cast<const Waiting*>(context)->total.load(std::memory_order_acquire) != 0 ? 1 : 0;
  };
  if (const rma_status_t met = rma_am_wait(answered, &waiting, rank); met != RMA_SUCCESS) return met;
  const std::uint64_t total = waiting.total.load(std::memory_order_relaxed) - 1;
  for (offset = service.most; offset < total; offset += service.most) {
    const rma_status_t sent = send_piece(rank, service.more, {number, total, offset}, {});
    if (sent != RMA_SUCCESS) return sent;
  }
  const auto complete = [](void* context) {
    return static_cast<const Waiting*>(context)->complete.load(std::memory_order_acquire) ? 1 : 0;
  };
  return rma_am_wait(complete, &waiting, rank);
}

}  // namespace

void serve_calls(const CallService& functions) {
  service.functions = functions;
  before_leaving([] { served().worker.finish(); });
  require(rma_am_limits(&service.most, nullptr));
  // The last one is registered by all before any image makes a call.
  require(rma_am_register(take_answer, nullptr, &service.answer));
  require(rma_am_register(send_more, nullptr, &service.more));
  require(rma_am_register(take_part, nullptr, &service.part));
}

rma_status_t call_at(int rank, std::span<const std::byte> call, std::vector<std::byte>& result) {
  result.clear();
  Waiting waiting{.result = result, .rank = rank};
  Calls& all = calls();
  std::unique_lock guard(all.lock);
  const std::uint64_t number = ++all.last;
  all.waiting[number] = &waiting;
  guard.unlock();
  const rma_status_t status = carry_out(rank, number, call, waiting);
  guard.lock();
  all.waiting.erase(number);
  return status;
}

}  // namespace librma::coarrays
