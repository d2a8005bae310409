#include "rmarun/output.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace rmarun {
namespace {

/// The size of one write: a pipe that polls as writable takes PIPE_BUF bytes without blocking.
constexpr size_t kWriteSize = 4096;
/// Beyond this size the forwarder leaves the ranks' output in their pipes, and full pipes stop the ranks.
constexpr size_t kQueueLimit = size_t{4} << 20;

}  // namespace

void LineAssembler::emit(std::string_view rest, std::string& lines) {
  if (!inside_line_) lines += prefix_;
  lines += partial_;
  lines += rest;
  partial_.clear();
}

void LineAssembler::feed(std::string_view piece, std::string& lines) {
  while (!piece.empty()) {
    const size_t newline = piece.find('\n');
    if (newline == std::string_view::npos) {
      partial_ += piece;
      break;
    }
    emit(piece.substr(0, newline + 1), lines);
    inside_line_ = false;
    piece.remove_prefix(newline + 1);
  }
  if (partial_.size() > kLongestLine) {
    emit({}, lines);
    inside_line_ = true;
  }
}

void LineAssembler::finish(std::string& lines, bool complete) {
  if (partial_.empty()) return;
  emit(complete ? "\n" : "", lines);
}

bool Outlet::wants(Stream stream) const {
  return !queues_[stream].empty() && !inside_line_[stream == kOut ? kErr : kOut];
}

bool Outlet::full() const { return std::max(queues_[kOut].size(), queues_[kErr].size()) > kQueueLimit; }

void Outlet::drop(Stream stream) {
  queues_[stream].clear();
  written_[stream] = 0;
  inside_line_[stream] = false;
}

bool Outlet::write_some(Stream stream) {
  if (closed_[stream]) {
    drop(stream);
    return true;
  }
  std::string& queue = queues_[stream];
  std::string_view chunk = std::string_view(queue).substr(written_[stream], kWriteSize);
  // The other stream can go on in between only if this one stops at the end of a line.
  if (const size_t newline = chunk.rfind('\n'); newline != std::string_view::npos)
    chunk = chunk.substr(0, newline + 1);
  const ssize_t count = ::write(descriptors_[stream], chunk.data(), chunk.size());
  if (count < 0) {
    if (errno == EINTR || errno == EAGAIN) return true;
    closed_[stream] = true;
    drop(stream);
    return false;
  }
  const auto written = static_cast<size_t>(count);
  if (written > 0) inside_line_[stream] = chunk[written - 1] != '\n';
  written_[stream] += written;
  if (written_[stream] == queue.size()) {
    // A stream that ends without a newline must not hold up the other for ever.
    drop(stream);
  } else if (written_[stream] > kQueueLimit / 4) {
    queue.erase(0, written_[stream]);
    written_[stream] = 0;
  }
  return true;
}

}  // namespace rmarun
