#include "rmarun/output.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

namespace rmarun {
namespace {

/// The size of one write: a pipe that polls as writable takes PIPE_BUF bytes without blocking.
constexpr size_t kWriteSize = 4096;
/// Beyond this size the forwarder leaves the ranks' output in their pipes, and full pipes stop the ranks.
constexpr size_t kQueueLimit = size_t{4} << 20;

}  // namespace

bool Outlet::wants(Stream stream) const {
  return !queues_[stream].empty() && !inside_line_[stream == kOut ? kErr : kOut];
}

bool Outlet::full() const { return std::max(queues_[kOut].size(), queues_[kErr].size()) > kQueueLimit; }

void Outlet::drop(Stream stream) {
  queues_[stream].clear();
  written_[stream] = 0;
  inside_line_[stream] = false;
}

int Outlet::write_some(Stream stream) {
  if (closed_[stream]) {
    drop(stream);
    return 0;
  }
  std::string& queue = queues_[stream];
  std::string_view chunk = std::string_view(queue).substr(written_[stream], kWriteSize);
  // The other stream can go on in between only if this one stops at the end of a line.
  if (const size_t newline = chunk.rfind('\n'); newline != std::string_view::npos)
    chunk = chunk.substr(0, newline + 1);
  const ssize_t count = ::write(descriptors_[stream], chunk.data(), chunk.size());
  if (count < 0) {
    const int error = errno;
    if (error == EINTR || error == EAGAIN) return 0;
    closed_[stream] = true;
    drop(stream);
    return error;
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
  return 0;
}

}  // namespace rmarun
