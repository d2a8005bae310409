// The rounds of a collective access in two phases.

#include "twosided_compat/files/exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/files/file.hpp"
#include "util/try.hpp"

namespace librma::mpi {
namespace {

// Messages between two members are received in the order in which they are sent, so each kind needs one tag.
constexpr int kListTag = 1;
constexpr int kDataTag = 2;
constexpr int kReplyTag = 3;

/// Merges neighbouring ranges of pieces that are in order: those between the `ends`.
void merge_runs(std::vector<FilePiece>& pieces, std::vector<std::size_t> ends) {
  const auto at = [&](std::size_t place) { return pieces.begin() + static_cast<std::ptrdiff_t>(place); };
  while (ends.size() > 2) {
    std::vector<std::size_t> merged = {0};
    for (std::size_t i = 2; i < ends.size(); i += 2) {
      std::inplace_merge(at(ends[i - 2]), at(ends[i - 1]), at(ends[i]),
                         [](const FilePiece& a, const FilePiece& b) { return a.offset < b.offset; });
      merged.push_back(ends[i]);
    }
    if (ends.size() % 2 == 0) merged.push_back(ends.back());
    ends = std::move(merged);
  }
}

}  // namespace

FileExchange::FileExchange(File& file, const FileAccess& access, const Division& division)
    : file_(file),
      access_(access),
      division_(division),
      own_(static_cast<std::size_t>(std::ranges::find(division.aggregators, file.comm().rank()) -
                                    division.aggregators.begin())),
      out_(division.aggregators.size()),
      lists_(file.comm(),
             {.sends = 2 * out_.size(),
              .receives = is_aggregator() ? 2 * static_cast<std::size_t>(file.comm().size()) : 0}),
      replies_(file.comm(), {.sends = is_aggregator() ? static_cast<std::size_t>(file.comm().size()) : 0,
                             .receives = out_.size()}),
      amounts_(out_.size()),
      all_amounts_(out_.size() * static_cast<std::size_t>(file.comm().size())),
      mover_(file.storage(), [&] {
        PiecePolicy policy = file.policy(access.direction());
        policy.buffer_bytes = file.hints.cb_buffer_size;
        return policy;
      }()) {
  positions_.reserve(out_.size());
  awaited_.reserve(out_.size());
  for (std::size_t i = 0; i < out_.size(); ++i) {
    const bool is_empty = access.bytes() == 0 || !access.view().has_data();
    const MPI_Offset first = is_empty ? access.end() : access.view().position_of(division.window_begin(i, 0));
    positions_.push_back(std::clamp(first, access.position, access.end()));
  }
  if (is_aggregator()) in_.resize(static_cast<std::size_t>(file.comm().size()));
}

Outcome FileExchange::run() {
  for (MPI_Offset round = 0; round < division_.rounds; ++round) {
    if (const int code = run_round(round); code != MPI_SUCCESS) return {.code = code};
  }
  const int code = agree(file_.comm(), code_);
  return {.code = code, .bytes = code == MPI_SUCCESS ? bytes_ : 0};
}

int FileExchange::run_round(MPI_Offset round) {
  for (std::size_t i = 0; i < out_.size(); ++i) {
    const bool found = succeeds([&] {
      find_share(i, round);
      return MPI_SUCCESS;
    });
    if (found) continue;
    out_[i].pieces.clear();
    out_[i].amount = {};
  }
  RMA_TRY(exchange_amounts());
  if (is_aggregator()) RMA_TRY(start_aggregator());
  RMA_TRY(start_member());
  if (const int code = wait_for_lists(); code != MPI_SUCCESS) {
    // Some members may wait for their data. An empty reply ends that wait, and their next collective call
    // fails.
    if (is_aggregator() && !writes()) static_cast<void>(send_replies(0, 0));
    return code;
  }
  if (is_aggregator()) RMA_TRY(access_window(round));
  if (!writes()) return finish_read();
  for (const Share& share : out_) bytes_ += static_cast<std::size_t>(share.amount.bytes);
  return MPI_SUCCESS;
}

void FileExchange::find_share(std::size_t aggregator, MPI_Offset round) {
  Share& share = out_[aggregator];
  share.pieces.clear();
  const MPI_Offset begin = division_.window_begin(aggregator, round);
  const MPI_Offset from = positions_[aggregator];
  MPI_Offset to = from;
  if (from < access_.end()) {
    to = std::clamp(access_.view().position_of(division_.window_end(aggregator, round)), from, access_.end());
  }
  positions_[aggregator] = to;
  share.position = from;
  access_.view().visit(from, to, [&](MPI_Offset offset, std::size_t bytes) {
    share.pieces.push_back({static_cast<std::uint32_t>(offset - begin), static_cast<std::uint32_t>(bytes)});
  });
  share.amount = {static_cast<MPI_Count>(share.pieces.size()), to - from};
  if (from != to) collect(share);
}

void FileExchange::collect(Share& share) {
  const MPI_Count from = share.position - access_.position;
  if (access_.data().is_contiguous()) {
    share.data = access_.data().data + from;
    return;
  }
  share.memory.resize(static_cast<std::size_t>(share.amount.bytes));
  share.data = share.memory.data();
  if (!writes()) return;
  std::byte* next = share.data;
  access_.visit_data(from, from + share.amount.bytes, [&](const std::byte* at, std::size_t bytes) {
    std::memcpy(next, at, bytes);
    next += bytes;
  });
}

int FileExchange::exchange_amounts() {
  for (std::size_t i = 0; i < out_.size(); ++i) amounts_[i] = out_[i].amount;
  // Between hosts an exchange of all with all would need memory, and a member without it would end the
  // communicator. An allgather needs none, and there are few aggregators.
  const auto bytes = static_cast<MPI_Count>(amounts_.size() * sizeof(Amount));
  RMA_TRY(
      allgather(amounts_.data(), bytes, MPI_BYTE, all_amounts_.data(), bytes, MPI_BYTE, file_.comm_handle()));
  for (std::size_t rank = 0; rank < in_.size(); ++rank)
    in_[rank].amount = all_amounts_[rank * out_.size() + own_];
  return MPI_SUCCESS;
}

int FileExchange::start_aggregator() {
  for (std::size_t rank = 0; rank < in_.size(); ++rank) {
    Share& share = in_[rank];
    share.pieces.clear();
    share.refused = false;
    if (share.amount.pieces == 0 && share.amount.bytes == 0) continue;
    share.refused = !succeeds([&] { return make_room(rank); });
    if (static_cast<int>(rank) != file_.comm().rank()) RMA_TRY(receive_share(share, static_cast<int>(rank)));
    if (share.refused) share.pieces.clear();
  }
  return MPI_SUCCESS;
}

int FileExchange::make_room(std::size_t rank) {
  Share& share = in_[rank];
  const auto [pieces, bytes] = share.amount;
  if (pieces <= 0 || bytes < pieces || bytes > division_.window)
    return failure(MPI_ERR_INTERN,
                   fmt::format("rank {} announces {} pieces of {} bytes", rank, pieces, bytes));
  if (static_cast<int>(rank) == file_.comm().rank()) {
    share.pieces = out_[own_].pieces;
    share.data = out_[own_].data;
    return MPI_SUCCESS;
  }
  share.pieces.resize(static_cast<std::size_t>(pieces));
  share.memory.resize(static_cast<std::size_t>(bytes));
  share.data = share.memory.data();
  return MPI_SUCCESS;
}

int FileExchange::receive_share(Share& share, int source) {
  if (share.refused) {
    RMA_TRY(lists_.discard(source, kListTag));
    return writes() ? lists_.discard(source, kDataTag) : MPI_SUCCESS;
  }
  RMA_TRY(lists_.receive(share.pieces.data(), share.pieces.size() * sizeof(WindowPiece), source, kListTag));
  return writes() ? lists_.receive(share.data, share.memory.size(), source, kDataTag) : MPI_SUCCESS;
}

int FileExchange::start_member() {
  awaited_.clear();
  for (std::size_t i = 0; i < out_.size(); ++i) {
    const Share& share = out_[i];
    if (share.pieces.empty() || i == own_) continue;
    const int aggregator = division_.aggregators[i];
    const auto bytes = static_cast<std::size_t>(share.amount.bytes);
    RMA_TRY(
        lists_.send(share.pieces.data(), share.pieces.size() * sizeof(WindowPiece), aggregator, kListTag));
    if (writes()) {
      RMA_TRY(lists_.send(share.data, bytes, aggregator, kDataTag));
    } else {
      awaited_.push_back(i);
      RMA_TRY(replies_.receive(share.data, bytes, aggregator, kReplyTag));
    }
  }
  return MPI_SUCCESS;
}

int FileExchange::wait_for_lists() {
  const int code = lists_.wait();
  lists_.clear();
  return code;
}

int FileExchange::merge(MPI_Offset round, std::vector<FilePiece>& merged) const {
  const MPI_Offset begin = division_.window_begin(own_, round);
  const MPI_Offset window = division_.window_end(own_, round) - begin;
  std::vector<std::size_t> ends = {0};
  std::size_t count = 0;
  for (const Share& share : in_) count += share.pieces.size();
  merged.reserve(count);
  for (std::size_t rank = 0; rank < in_.size(); ++rank) {
    const Share& share = in_[rank];
    if (share.pieces.empty()) continue;
    MPI_Count at = 0;
    MPI_Offset before = 0;
    for (const WindowPiece& piece : share.pieces) {
      const MPI_Offset end = MPI_Offset{piece.offset} + piece.bytes;
      if (end > window || piece.offset < before || piece.bytes > share.amount.bytes - at)
        return failure(MPI_ERR_INTERN,
                       fmt::format("rank {} sends a piece that is not within its window", rank));
      merged.push_back({begin + piece.offset, piece.bytes, share.data + at});
      at += piece.bytes;
      before = end;
    }
    ends.push_back(merged.size());
  }
  merge_runs(merged, std::move(ends));
  return MPI_SUCCESS;
}

int FileExchange::access_window(MPI_Offset round) {
  MPI_Offset end = 0;
  // The members hear of a failure at the end. They need the other rounds.
  static_cast<void>(succeeds([&] {
    std::vector<FilePiece> merged;
    RMA_TRY(merge(round, merged));
    if (writes()) return code_ == MPI_SUCCESS ? mover_.write(merged).code : MPI_SUCCESS;
    end = read(merged);
    return MPI_SUCCESS;
  }));
  return writes() ? MPI_SUCCESS : send_replies(division_.window_begin(own_, round), end);
}

MPI_Offset FileExchange::read(std::span<FilePiece> pieces) {
  MPI_Offset end = std::numeric_limits<MPI_Offset>::max();
  while (!pieces.empty() && pieces.front().offset < end) {
    std::size_t wanted = 0;
    // Pieces of several members may overlap, so some of those that are left may end before the file does.
    for (FilePiece& piece : pieces) {
      piece.bytes =
          std::min(piece.bytes, static_cast<std::size_t>(std::max<MPI_Offset>(end - piece.offset, 0)));
      wanted += piece.bytes;
    }
    const Outcome outcome = mover_.read(pieces);
    if (outcome.code != MPI_SUCCESS && code_ == MPI_SUCCESS) code_ = outcome.code;
    if (outcome.bytes == wanted) break;
    std::size_t left = outcome.bytes;
    while (left >= pieces.front().bytes) {
      left -= pieces.front().bytes;
      pieces = pieces.subspan(1);
    }
    end = pieces.front().offset + static_cast<MPI_Offset>(left);
    pieces = pieces.subspan(1);
  }
  return end;
}

int FileExchange::send_replies(MPI_Offset begin, MPI_Offset end) {
  for (std::size_t rank = 0; rank < in_.size(); ++rank) {
    const Share& share = in_[rank];
    if (share.pieces.empty() && !share.refused) continue;
    std::size_t bytes = 0;
    for (const WindowPiece& piece : share.pieces) {
      const MPI_Offset there = end - (begin + piece.offset);
      if (there <= 0) break;
      bytes += std::min<std::size_t>(piece.bytes, static_cast<std::size_t>(there));
    }
    if (static_cast<int>(rank) == file_.comm().rank()) {
      own_bytes_ = bytes;
      continue;
    }
    RMA_TRY(replies_.send(share.data, bytes, static_cast<int>(rank), kReplyTag));
  }
  return MPI_SUCCESS;
}

int FileExchange::finish_read() {
  RMA_TRY(replies_.wait());
  for (std::size_t i = 0; i < awaited_.size(); ++i) store(out_[awaited_[i]], replies_.received(i));
  replies_.clear();
  if (is_aggregator() && !out_[own_].pieces.empty()) store(out_[own_], own_bytes_);
  return MPI_SUCCESS;
}

void FileExchange::store(const Share& share, std::size_t bytes) {
  bytes_ += bytes;
  if (access_.data().is_contiguous()) return;
  const std::byte* next = share.data;
  const MPI_Count from = share.position - access_.position;
  access_.visit_data(from, from + static_cast<MPI_Count>(bytes), [&](std::byte* at, std::size_t part) {
    std::memcpy(at, next, part);
    next += part;
  });
}

}  // namespace librma::mpi
