#include "api/runtime/wait_places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "api/runtime/runtime.hpp"
#include "collectives/team/team.hpp"
#include "rma/waits.h"
#include "util/public_call.hpp"
#include "util/waiting/long_wait.hpp"

namespace librma {
namespace {

constinit std::array<std::atomic<const rma_wait_library_t*>, kMostLibraries> libraries = {};

/// A place, as a library has described it.
struct Place {
  std::string name;
  bool for_program = true;
  std::vector<int> ranks;
};

std::optional<Place> find_place(std::uint32_t context, rma_team_t team) {
  std::optional<Place> place;
  const auto take = [](void* data, const char* name, int for_program, const int* ranks, std::size_t count) {
    auto& found = *static_cast<std::optional<Place>*>(data);
    found = Place{.name = name, .for_program = for_program != 0, .ranks = {ranks, ranks + count}};
  };
  const rma_place_sink_t sink = {.data = &place, .take = take};
  for (const auto& known : libraries) {
    const rma_wait_library_t* const library = known.load(std::memory_order_acquire);
    if (library != nullptr && library->find_place != nullptr && !place) {
      library->find_place(context, team, &sink);
    }
  }
  return place;
}

/// Asks the libraries for the rank that writes the word of a wait.
void find_writer(WaitNote& note) {
  for (const auto& known : libraries) {
    const rma_wait_library_t* const library = known.load(std::memory_order_acquire);
    const int rank = library != nullptr && library->find_writer != nullptr ? library->find_writer() : -1;
    if (rank < 0) continue;
    note.ranks = {rank};
    note.about = fmt::format("behind rank {}", rank);
  }
}

/// Returns the number of `rank` among the ranks of a place.
std::optional<std::size_t> number_in(const Place& place, int rank) {
  const auto at = std::ranges::find(place.ranks, rank);
  if (at == place.ranks.end()) return std::nullopt;
  return static_cast<std::size_t>(at - place.ranks.begin());
}

/// Adds every rank of `all` to the awaited ranks, except for `self`.
template <typename Ranks>
void await_others(WaitNote& note, const Ranks& all, int self) {
  for (const int rank : all) {
    if (rank != self) note.ranks.push_back(rank);
  }
}

}  // namespace

JobPlaces::JobPlaces(const Runtime& runtime) : runtime_(runtime) { name_waits_by(this); }
JobPlaces::~JobPlaces() { name_waits_by(nullptr); }

void JobPlaces::complete(WaitNote& note) {
  if (!note.team && !note.message && note.ranks.empty()) find_writer(note);
  complete_team(note);
  if (note.message) complete_message(note);
}

void JobPlaces::complete_team(WaitNote& note) const {
  const auto context = note.message ? std::optional(note.message->context) : std::nullopt;
  const int self = runtime_.job->rank();
  runtime_.teams->with_team(note.team, context, [&](const Team& team) {
    if (note.meeting == 0) note.meeting = team.id() + 1;
    if (note.message) {  // one of a collective call
      if (note.message->peer >= 0) note.ranks.push_back(note.message->peer);
      if (note.message->peer == WaitNote::kAnybody) await_others(note, team.ranks(), self);
      note.message.reset();
      note.call = "a collective";
    }
    const bool is_world = team.id() == runtime_.teams->world()->id();
    const auto place = find_place(0, team.handle());
    if (place && !place->name.empty()) {
      note.about = place->name;
    } else {
      note.about = is_world ? "all ranks" : fmt::format("a team of {} ranks", team.size());
    }
  });
}

void JobPlaces::complete_message(WaitNote& note) const {
  const WaitNote::Message message = *note.message;
  const auto place = find_place(message.context, nullptr);
  std::string text = message.sent ? "to " : "from ";
  if (message.peer == WaitNote::kAnybody) {
    text += "any rank";
    note.any = true;
    if (place) {
      await_others(note, place->ranks, runtime_.job->rank());
    } else {
      for (int rank = 0; rank < runtime_.job->size(); ++rank) {
        if (rank != runtime_.job->rank()) note.ranks.push_back(rank);
      }
    }
  } else {
    note.ranks.push_back(message.peer);
    const auto number = place ? number_in(*place, message.peer) : std::nullopt;
    text += fmt::format("rank {}", number ? static_cast<int>(*number) : message.peer);
    if (number && static_cast<int>(*number) != message.peer)
      text += fmt::format(" (rank {} of the job)", message.peer);
  }
  const std::string name = place && place->name.empty()
                               ? fmt::format("a communicator of {} ranks", place->ranks.size())
                               : (place ? place->name : "");
  if (place && !place->for_program) {
    // The library's own message in a call of all members: which one has not come says more than the message.
    note.about = name;
    note.meeting = std::uint64_t{1} << 63U | message.context;
    return;
  }
  if (message.tag >= 0) text += fmt::format(", tag {}", message.tag);
  if (message.tag < 0 && !message.sent) text += ", any tag";
  if (place) text += ", " + name;
  if (!place && message.context != 0) text += fmt::format(", context {}", message.context);
  note.about = std::move(text);
}

}  // namespace librma

struct rma_shown_wait {
  rma_shown_wait(std::int64_t since, librma::WaitNote note)
      : subject(std::move(note)), wait(&subject, since) {
    wait.publish();
  }

  /// A wait that is described already.
  class Subject final : public librma::WaitSubject {
   public:
    explicit Subject(librma::WaitNote note) : note_(std::move(note)) {}
    void describe(librma::WaitNote& note) const override { note = note_; }

   private:
    const librma::WaitNote note_;
  };

  Subject subject;
  librma::LongWait wait;
};

extern "C" {

void rma_waits_know(const rma_wait_library_t* library) {
  if (library == nullptr) return;
  librma::know_library({.header = library->header, .dynamic = library->dynamic});
  for (auto& known : librma::libraries) {
    const rma_wait_library_t* before = nullptr;
    // The release pairs with the load in find_place().
    if (known.compare_exchange_strong(before, library, std::memory_order_acq_rel) || before == library)
      return;
  }
}

rma_shown_wait_t* rma_wait_show(int64_t since, const char* about, const int* ranks, size_t count,
                                int any) try {
  librma::WaitNote note;
  note.about = about != nullptr ? about : "";
  if (ranks != nullptr) note.ranks.assign(ranks, ranks + count);
  note.any = any != 0;
  return new rma_shown_wait(since, std::move(note));
} catch (const std::exception&) {
  return nullptr;  // without memory the wait is not shown
}

void rma_wait_hide(rma_shown_wait_t* wait) { delete wait; }

}  // extern "C"
