#pragma once

#include "util/waiting/wait_note.hpp"

namespace librma {

struct Runtime;

/// Turns the contexts and teams of notes about waits into names and ranks, with the help of the libraries
/// over this one (rma/waits.h).
class JobPlaces final : public WaitPlaces {
 public:
  explicit JobPlaces(const Runtime& runtime);
  ~JobPlaces() override;
  void complete(WaitNote& note) override;

 private:
  void complete_team(WaitNote& note) const;
  void complete_message(WaitNote& note) const;

  const Runtime& runtime_;
};

}  // namespace librma
