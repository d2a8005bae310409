#include "rmarun/forwarder.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "rmarun/exit_codes.hpp"

namespace rmarun {
namespace {

bool same_file(int one, int other) {
  struct stat first {};
  struct stat second {};
  return ::fstat(one, &first) == 0 && ::fstat(other, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

Merger::Pace pace_of(int descriptor) { return ::isatty(descriptor) != 0 ? Merger::kTerminal : Merger::kFile; }

}  // namespace

std::optional<Verdict> OutputFailure::verdict() const {
  if (error == EPIPE && stream == Outlet::kErr) return std::nullopt;
  if (error == EPIPE) return Verdict{kExitSignal + SIGPIPE, "nobody reads stdout any more; ending the job"};
  return Verdict{kExitFailure,
                 fmt::format("cannot write to {}: {}; the rest of the output is lost, ending the job",
                             stream == Outlet::kOut ? "stdout" : "stderr", std::strerror(error))};
}

Forwarder::Forwarder(int ranks, bool label)
    : label_(label),
      one_file_(same_file(STDOUT_FILENO, STDERR_FILENO)),
      outlet_(std::array{STDOUT_FILENO, STDERR_FILENO}),
      mergers_{Merger(pace_of(STDOUT_FILENO), ranks == 1), Merger(pace_of(STDERR_FILENO), ranks == 1)} {}

void Forwarder::add_rank(int rank, Descriptor out, Descriptor err) {
  add_source(rank, std::move(out), Outlet::kOut);
  add_source(rank, std::move(err), one_file_ ? Outlet::kOut : Outlet::kErr);
}

void Forwarder::add_source(int rank, Descriptor from, Outlet::Stream to) {
  Merger& merger = mergers_[to];
  const auto stream = merger.add(rank, label_ ? fmt::format("[{}] ", rank) : "", outlet_.queue(to));
  sources_.push_back({std::move(from), &merger, stream});
}

void Forwarder::feed(int rank, Outlet::Stream from, std::string_view piece) {
  const Source& source = sources_[2 * static_cast<size_t>(rank) + (from == Outlet::kErr ? 1 : 0)];
  source.to->feed(source.stream, piece, Clock::now());
}

void Forwarder::say(std::string_view text) {
  outlet_.queue(one_file_ ? Outlet::kOut : Outlet::kErr) += fmt::format("rmarun: {}\n", text);
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

std::optional<Forwarder::Clock::time_point> Forwarder::next_look() const {
  const auto out = mergers_[Outlet::kOut].next_look();
  const auto err = mergers_[Outlet::kErr].next_look();
  return out && err ? std::min(*out, *err) : out ? out : err;
}

std::optional<OutputFailure> Forwarder::handle(const std::vector<pollfd>& polls) {
  std::optional<OutputFailure> failure;
  for (const pollfd& entry : polls) {
    if (entry.revents == 0) continue;
    for (const auto stream : {Outlet::kOut, Outlet::kErr}) {
      if (entry.fd != outlet_.descriptor(stream) || !outlet_.wants(stream)) continue;
      const int error = outlet_.write_some(stream);
      if (error != 0 && !failure) failure = {stream, error};
    }
    const auto source = std::find_if(sources_.begin(), sources_.end(), [&](const Source& s) {
      return s.from.open() && s.from.get() == entry.fd;
    });
    if (source != sources_.end()) read_some(*source);
  }
  for (Merger& merger : mergers_) merger.look(Clock::now());
  return failure;
}

bool Forwarder::read_some(Source& source) {
  std::array<char, size_t{64} << 10> piece;  // the size of a pipe
  const std::string_view bytes = read_once(source.from, piece);
  if (!bytes.empty()) source.to->feed(source.stream, bytes, Clock::now());
  if (!source.from.open()) source.to->finish(source.stream, Clock::now());
  return !bytes.empty();
}

void Forwarder::drain() {
  for (Source& source : sources_) {
    while (source.from.open() && read_some(source)) {
    }
    source.to->finish(source.stream, Clock::now());
    source.from.reset();
  }
}

}  // namespace rmarun
