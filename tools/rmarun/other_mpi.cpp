#include "rmarun/other_mpi.hpp"

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "rmarun/needed_libraries.hpp"

namespace rmarun {

void OtherMpi::watch(const Environment& environment) {
  if (events_.open()) return;
  const std::string path = find_library("libmpi.so.40", environment).string();
  if (path.empty()) return;
  librma::Descriptor events(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!events.open() || ::inotify_add_watch(events.get(), path.c_str(), IN_OPEN) < 0) return;
  events_ = std::move(events);
  path_ = path;
}

std::string OtherMpi::opened() const {
  std::array<char, 4096> events{};
  const bool any = events_.open() && ::read(events_.get(), events.data(), events.size()) > 0;
  return any ? path_ : std::string();
}

}  // namespace rmarun
