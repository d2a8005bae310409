#include "twosided_compat/life/wait_places.hpp"

#include <fmt/format.h>

#include <new>
#include <string>
#include <vector>

#include "rma/waits.h"
#include "twosided_compat/communicators/communicator.hpp"
#include "twosided_compat/windows/window.hpp"

extern "C" {
RMA_WAIT_LIBRARY_SYMBOLS
}

namespace librma::mpi {
namespace {

void name(const Communicator& comm, bool for_program, const Members& members, const rma_place_sink_t& sink) {
  const std::string text = comm.name.empty()      ? fmt::format("a communicator of {} ranks", members.size())
                           : comm.is_predefined() ? comm.name
                                                  : fmt::format("communicator '{}'", comm.name);
  const std::vector<int> ranks = members.list();
  sink.take(sink.data, text.c_str(), for_program ? 1 : 0, ranks.data(), ranks.size());
}

void name(const Window& win, const rma_place_sink_t& sink) {
  const std::string text = win.name.empty() ? fmt::format("a window of {} ranks", win.size())
                                            : fmt::format("window '{}'", win.name);
  const std::vector<int> ranks = win.members()->list();
  sink.take(sink.data, text.c_str(), 0, ranks.data(), ranks.size());
}

void find_team(rma_team_t team, const rma_place_sink_t& sink) {
  ListedPlace<Communicator>::for_each([&](const Communicator& comm) {
    if (comm.made_team() == team) name(comm, false, *comm.members(), sink);
  });
  ListedPlace<Window>::for_each([&](const Window& win) {
    if (win.team() == team) name(win, sink);
  });
}

void find_context(std::uint32_t context, const rma_place_sink_t& sink) {
  const Communicator* found = nullptr;
  ListedPlace<Communicator>::for_each([&](const Communicator& comm) {
    const bool is_meant = !comm.is_carrier() && context - comm.context() < kTraffics;
    // The group of an intercommunicator has the same contexts.
    if (is_meant && (found == nullptr || comm.is_inter())) found = &comm;
  });
  if (found != nullptr) name(*found, context == found->context(), found->peers(), sink);
}

void find_place(std::uint32_t context, rma_team_t team, const rma_place_sink_t* sink) {
  const std::unique_lock guard(places_lock(), std::try_to_lock);
  if (!guard.owns_lock()) return;
  try {
    if (team != nullptr) {
      find_team(team, *sink);
    } else {
      find_context(context, *sink);
    }
  } catch (const std::bad_alloc&) {  // a place without a name
  }
}

}  // namespace

void explain_waits() {
  static const rma_wait_library_t kLibrary = {.header = __ehdr_start,
                                              .dynamic = rma_library_dynamic,
                                              .find_place = find_place,
                                              .find_writer = nullptr};
  rma_waits_know(&kLibrary);
}

}  // namespace librma::mpi
