// Coarrays and the memory of their allocatable components: register and deregister.

#include "coarrays/memory.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include "coarrays/entry_points.hpp"
#include "coarrays/sync.hpp"

namespace librma::coarrays {
namespace {

/// Coarrays and components of this image by their addresses. The helper thread allocates components, too, if
/// it runs an accessor of another image.
struct Blocks {
  std::mutex lock;  // guards `all`
  std::map<const std::byte*, std::unique_ptr<Coarray>> all;
};
Blocks& blocks() {
  static Blocks all;  // constructors of the program use it
  return all;
}
/// Static coarrays that other images do not know of yet, in the order of the program's constructors.
std::vector<Coarray*>& unshared() {
  static std::vector<Coarray*> all;
  return all;
}

bool holds_locks_or_events(int type) {
  return type == kStaticLock || type == kAllocatableLock || type == kCriticalSection ||
         type == kStaticEvent || type == kAllocatableEvent;
}
bool is_static(int type) {
  return type == kStaticCoarray || type == kStaticLock || type == kCriticalSection || type == kStaticEvent;
}

/// Returns whether the object lies in a coarray of this image.
bool in_coarray(const void* object) {
  const auto* const at = static_cast<const std::byte*>(object);
  Blocks& known = blocks();
  const std::lock_guard guard(known.lock);
  auto behind = known.all.upper_bound(at);
  if (behind == known.all.begin()) return false;
  --behind;
  return static_cast<std::size_t>(at - behind->first) < behind->second->bytes;
}

Place place_of(std::byte* there, std::size_t bytes, int rank) {
  void* here = nullptr;
  if (there == nullptr || rma_map(there, bytes, rank, &here) != RMA_SUCCESS) here = nullptr;
  return {.there = there, .here = static_cast<std::byte*>(here)};
}

/// Meets the other images before memory of the current team is allocated or freed. An image of the initial
/// team that has stopped takes part in barriers only (leave()), so it must be known first.
bool all_are_here(const Outcome& outcome) { return current.team->parent != nullptr || meet_all(outcome); }

/// Allocates a coarray of the current team. Collective.
rma_status_t allocate(Coarray& coarray) {
  const Team& team = *current.team;
  std::vector<void*> addresses(team.ranks.size());
  void* mine = nullptr;
  const rma_status_t status = rma_malloc(team.handle, coarray.bytes, 0, addresses.data(), &mine);
  if (status != RMA_SUCCESS) return status;
  coarray.mine = static_cast<std::byte*>(mine);
  coarray.team = team.handle;
  static std::uint64_t allocated = 0;
  coarray.number = allocated++;
  coarray.places.resize(static_cast<std::size_t>(rma_size()));
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const int rank = team.ranks[i];
    coarray.places[static_cast<std::size_t>(rank)] =
        place_of(static_cast<std::byte*>(addresses[i]), coarray.bytes, rank);
  }
  return status;
}

/// Allocates memory of this image that others reach by its address.
rma_status_t allocate_alone(Coarray& coarray) {
  void* mine = nullptr;
  const rma_status_t status = rma_malloc_local(coarray.bytes, 0, &mine);
  coarray.mine = static_cast<std::byte*>(mine);
  return status;
}

/// Frees the memory. A team that has lost an image keeps its own, which is no failure.
void release(const Coarray& coarray, const Outcome& outcome) {
  if (coarray.team == nullptr) {
    outcome.report(rma_free_local(coarray.mine));
    return;
  }
  int why = 0;
  if (!all_are_here({.stat = &why})) {
    if (why == kFailedImage) return outcome.succeed();
    return outcome.fail(why, "an image of the team has stopped, so the team keeps the coarray");
  }
  const rma_status_t status = rma_free(coarray.team, coarray.mine);
  if (status == RMA_ERR_PEER_LOST) return outcome.succeed();
  outcome.report(status);
}

}  // namespace

void share_static_coarrays() {
  const auto images = static_cast<std::size_t>(rma_size());
  const std::size_t count = unshared().size();
  std::vector<std::byte*> mine(count);
  std::ranges::transform(unshared(), mine.begin(), [](const Coarray* coarray) { return coarray->mine; });
  std::vector<std::byte*> all(count * images);
  require(rma_allgather(rma_team_world(), all.data(), mine.data(), count * sizeof mine[0]));
  for (std::size_t i = 0; i < count; ++i) {
    Coarray& coarray = *unshared()[i];
    coarray.places.resize(images);
    for (std::size_t rank = 0; rank < images; ++rank)
      coarray.places[rank] = place_of(all[rank * count + i], coarray.bytes, static_cast<int>(rank));
  }
  unshared().clear();
  require(rma_barrier(rma_team_world()));
}

void caf_register(std::size_t size, int type, Coarray** token, Descriptor* shape, int* stat, char* message,
                  std::size_t length) {
  const Outcome outcome{.stat = stat, .message = message, .length = length};
  start();
  if (type == kComponentToken) {
    *token = nullptr;
    return outcome.succeed();
  }
  auto made = std::make_unique<Coarray>();
  // For locks and events, the size is their number.
  made->bytes = std::max<std::size_t>(holds_locks_or_events(type) ? size * sizeof(std::uint64_t) : size, 1);
  // An assignment to an object in a coarray registers the copy's components as if they were coarrays.
  const bool alone = is_static(type) || type == kComponentMemory || in_coarray(token);
  if (!alone && !all_are_here(outcome)) return;
  if (!outcome.report(alone ? allocate_alone(*made) : allocate(*made))) return;
  if (holds_locks_or_events(type)) std::memset(made->mine, 0, made->bytes);
  if (is_static(type)) {
    unshared().push_back(made.get());
  } else {
    made->shape = shape;
    made->token = token;
  }
  shape->data = made->mine;
  *token = made.get();
  Blocks& known = blocks();
  const std::lock_guard guard(known.lock);
  known.all[made->mine] = std::move(made);
}

void caf_deregister(Coarray** token, int /*type*/, int* stat, char* message, std::size_t length) {
  const Outcome outcome{.stat = stat, .message = message, .length = length};
  Coarray* const coarray = *token;
  *token = nullptr;
  // The token of a component that was never allocated, or whose memory was freed before.
  if (coarray == nullptr) return outcome.succeed();
  // The entry goes first: after the memory has been freed, another thread may get the same address.
  Blocks& known = blocks();
  std::unique_lock guard(known.lock);
  const auto entry = known.all.extract(coarray->mine);
  guard.unlock();
  release(*coarray, outcome);
}

void deallocate_coarrays_of_team() {
  std::vector<Coarray*> of_team;
  {
    Blocks& known = blocks();
    const std::lock_guard guard(known.lock);
    for (const auto& [address, coarray] : known.all)
      if (coarray->team == current.team->handle) of_team.push_back(coarray.get());
  }
  // All images free in the same order. Addresses differ between them.
  std::ranges::sort(of_team, {}, &Coarray::number);
  for (Coarray* const coarray : of_team) {
    // move_alloc has given the memory to a variable that is not known here, which keeps it.
    if (*coarray->token != coarray || coarray->shape->data != coarray->mine) continue;
    coarray->shape->data = nullptr;
    caf_deregister(coarray->token, 0, nullptr, nullptr, 0);
  }
}

}  // namespace librma::coarrays
