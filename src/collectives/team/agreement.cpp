#include "collectives/team/agreement.hpp"

#include <array>
#include <bit>

namespace librma {
namespace {

/// Returns the failure that says more about one team. A member that cannot take part (any code but
/// RMA_ERR_PEER_LOST) fails the agreement for all members, so that failure takes precedence over
/// RMA_ERR_PEER_LOST.
FailureWord worse(const FailureWord& one, const FailureWord& other) {
  if (one.ok() || (one.code == RMA_ERR_PEER_LOST && !other.ok())) return other;
  return one;
}

}  // namespace

Agreement::Outcome Agreement::reach(const TeamKey& key, std::span<const int> ranks, int member,
                                    const AgreementCard& mine) {
  const int members = static_cast<int>(ranks.size());
  const auto distances = static_cast<int>(std::bit_width(ranks.size() - 1));
  const auto tag = static_cast<int>(key.low & INT32_MAX);
  Outcome outcome = {.failure = FailureWord::of(mine.failure),
                     .id = mine.id,
                     .context = static_cast<std::uint32_t>(mine.context)};
  const auto note = [&](const Status& status) {
    if (!status.ok()) outcome.failure = worse(outcome.failure, {.code = status.code(), .rank = rank_});
  };
  // Step k: each member tells the members at a distance of 2^k, in both directions, what it knows so far.
  // After all steps every member knows of every other, as in a dissemination barrier. A member that fails
  // goes on, so that the others learn of it.
  for (int k = 0; k < distances; ++k) {
    const int distance = 1 << k;
    const std::array partners = {(member + distance) % members, (member - distance + members) % members};
    const auto rank_of = [&](int partner) { return ranks[static_cast<std::size_t>(partner)]; };
    const Message known = {
        .key = key,
        .card = {.failure = outcome.failure.word(), .id = outcome.id, .context = outcome.context}};
    std::array<TeamCarrier::Sending, 2> sendings;
    for (std::size_t i = 0; i < partners.size(); ++i) {
      note(transport_.start(rank_of(partners[i]), tag, &known, sizeof known, sendings[i]));
    }
    for (const int partner : partners) {
      Message theirs = {.key = key, .card = {}};
      int from_tag = tag;
      note(transport_.receive(rank_of(partner), from_tag, &theirs, sizeof theirs));
      if (theirs.key != key) note({RMA_ERR_STATE, "the keys of two teams have the same tag"});
      outcome.failure = worse(outcome.failure, FailureWord::of(theirs.card.failure));
      if (theirs.card.id != 0) {
        outcome.id = theirs.card.id;
        outcome.context = static_cast<std::uint32_t>(theirs.card.context);
      }
    }
    for (TeamCarrier::Sending& sending : sendings) note(transport_.finish(sending));
  }
  return outcome;
}

}  // namespace librma
