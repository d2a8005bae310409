#include "rmarun/forwarder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include "util/interruptions.hpp"

namespace rmarun {

void Forwarder::add_rank(int rank, Descriptor out, Descriptor err) {
  const std::string prefix = label_ ? fmt::format("[{}] ", rank) : "";
  sources_.push_back({std::move(out), Outlet::kOut, LineAssembler(prefix)});
  sources_.push_back({std::move(err), Outlet::kErr, LineAssembler(prefix)});
}

void Forwarder::say(std::string_view text) {
  outlet_.queue(Outlet::kErr) += fmt::format("rmarun: {}\n", text);
}

void Forwarder::add_polls(std::vector<pollfd>& polls) const {
  for (const auto stream : {Outlet::kOut, Outlet::kErr}) {
    if (outlet_.wants(stream)) polls.push_back({outlet_.descriptor(stream), POLLOUT, 0});
  }
  if (outlet_.full()) return;
  for (const Source& source : sources_) {
    if (source.from.open()) polls.push_back({source.from.get(), POLLIN, 0});
  }
}

bool Forwarder::handle(const std::vector<pollfd>& polls) {
  bool has_reader = true;
  for (const pollfd& entry : polls) {
    if (entry.revents == 0) continue;
    for (const auto stream : {Outlet::kOut, Outlet::kErr}) {
      if (entry.fd != outlet_.descriptor(stream) || !outlet_.wants(stream)) continue;
      const bool written = outlet_.write_some(stream);
      if (stream == Outlet::kOut) has_reader = has_reader && written;
    }
    const auto source = std::find_if(sources_.begin(), sources_.end(), [&](const Source& s) {
      return s.from.open() && s.from.get() == entry.fd;
    });
    if (source != sources_.end()) read_some(*source);
  }
  return has_reader;
}

bool Forwarder::read_some(Source& source) {
  std::array<char, size_t{64} << 10> piece;  // the size of a pipe
  const ssize_t count =
      rma::uninterrupted([&] { return ::read(source.from.get(), piece.data(), piece.size()); });
  if (count > 0) {
    source.lines.feed({piece.data(), static_cast<size_t>(count)}, outlet_.queue(source.to));
    return true;
  }
  if (count < 0 && errno == EAGAIN) return false;
  source.lines.finish(outlet_.queue(source.to), ranks_ > 1);
  source.from.reset();
  return false;
}

void Forwarder::drain() {
  for (Source& source : sources_) {
    while (source.from.open() && read_some(source)) {
    }
    source.lines.finish(outlet_.queue(source.to), ranks_ > 1);
    source.from.reset();
  }
}

}  // namespace rmarun
