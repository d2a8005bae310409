#include "rmarun/other_mpi.hpp"

#include <fmt/format.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "rmarun/needed_libraries.hpp"

namespace rmarun {

void OtherMpi::watch(const Environment& environment) {
  if (events_.open()) return;
  events_ = librma::Descriptor(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!events_.open()) return;
  for (const Personality& instead : personalities())
    watch(std::string(instead.library), instead, environment);
  // Debian's MPICH has another name than MPICH itself.
  watch("libmpich.so.12", personalities().back(), environment);
}

void OtherMpi::watch(const std::string& library, const Personality& instead, const Environment& environment) {
  const std::string path = find_library(library, environment).string();
  const int number = path.empty() ? -1 : ::inotify_add_watch(events_.get(), path.c_str(), IN_OPEN);
  if (number >= 0) watched_.push_back({number, path, &instead});
}

std::string OtherMpi::advice() const {
  alignas(inotify_event) std::array<char, 4096> events{};
  if (!events_.open() || ::read(events_.get(), events.data(), events.size()) <= 0) return {};
  const int number = reinterpret_cast<const inotify_event*>(events.data())->wd;
  const auto opened = std::ranges::find(watched_, number, &Watched::number);
  if (opened == watched_.end()) return {};  // too many events
  return fmt::format(
      "the program has loaded {}, and no rank has joined the job; with --mpi {} it gets librma's {}",
      opened->path, opened->instead->name, opened->instead->library);
}

}  // namespace rmarun
