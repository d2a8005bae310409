/**
 * @file calls.hpp
 * Calls that move little or no data: read-modify-write, mutexes, fences, collective memory.
 */
#pragma once

#include <atomic>
#include <thread>

#include "armci/member.hpp"
#include "suites/buffers.hpp"

namespace rma::bench {

/** Loads a word of this rank's own arena, which others change by ARMCI's calls. */
inline long load_long(const ArmciMember& member, std::size_t offset) {
  return std::atomic_ref<long>(*reinterpret_cast<long*>(member.local() + offset))
      .load(std::memory_order_acquire);
}

/** Sets every rank's counter to 0. Collective. */
inline void clear_counter(ArmciMember& member) {
  member.sync();
  std::atomic_ref<long>(*reinterpret_cast<long*>(member.local() + Arena::kCounter))
      .store(0, std::memory_order_release);
  member.sync();
}

inline constexpr long kTrials = 20;  ///< how often an operation is tried to check its result

inline void fetch_add_one(const ArmciMember& member, int rank) {
  long old = 0;
  ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &old, member.at(Arena::kCounter, rank), 1, rank);
}

inline void rmw_suite(ArmciMeasure& measure) {
  ArmciMember& member = measure.backend();
  const std::string ranks = " " + ranks_text(member.size());
  // Every rank adds at one rank: `place` holds the sum there, and no other word changes.
  const auto counts = [&](int place) {
    clear_counter(member);
    for (long i = 0; i < kTrials; ++i) fetch_add_one(member, place);
    member.sync();
    return load_long(member, Arena::kCounter) == (member.rank() == place ? kTrials * member.size() : 0);
  };
  RowName apart{"rmw", "armci fetch-and-add" + ranks, "", 0};
  if (measure.agree(apart, counts(1))) {
    const int next = member.next();
    measure_acting(measure, std::move(apart), [&](std::size_t) { fetch_add_one(member, next); });
  }
  RowName contended{"rmw", "armci fetch-and-add contended" + ranks, "", 0};
  if (measure.agree(contended, counts(0))) {
    measure.together(std::move(contended), [&](std::size_t) { fetch_add_one(member, 0); });
  }
}

inline void lock_suite(ArmciMeasure& measure) {
  ArmciMember& member = measure.backend();
  const std::string ranks = " " + ranks_text(member.size());
  ARMCI_Create_mutexes(1);
  // Only the mutex keeps this sum right, because it is read and then written. There are enough rounds for all
  // ranks to run at once.
  constexpr long kTurns = 2000;
  const auto excludes = [&](int place) {
    clear_counter(member);
    for (long i = 0; i < kTurns; ++i) {
      ARMCI_Lock(0, place);
      long value = 0;
      ARMCI_Get(member.at(Arena::kCounter, place), &value, sizeof value, place);
      std::this_thread::yield();  // lets the others run
      ++value;
      ARMCI_Put(&value, member.at(Arena::kCounter, place), sizeof value, place);
      ARMCI_Fence(place);
      ARMCI_Unlock(0, place);
    }
    member.sync();
    return member.rank() != place || load_long(member, Arena::kCounter) == kTurns * member.size();
  };
  RowName apart{"lock", "armci lock and unlock" + ranks, "", 0};
  if (measure.agree(apart, excludes(1))) {
    const int next = member.next();
    measure_acting(measure, std::move(apart), [&](std::size_t) {
      ARMCI_Lock(0, next);
      ARMCI_Unlock(0, next);
    });
  }
  RowName contended{"lock", "armci lock and unlock contended" + ranks, "", 0};
  if (measure.agree(contended, excludes(0))) {
    measure.together(std::move(contended), [&](std::size_t) {
      ARMCI_Lock(0, 0);
      ARMCI_Unlock(0, 0);
    });
  }
  ARMCI_Destroy_mutexes();
}

/** Puts a word to the next rank, fences, and then notifies it by an atomic. Returns whether the word of the
 * rank before was visible here at its notification. Every rank polls by ARMCI's own calls, because some
 * libraries make no progress otherwise. */
inline bool fence_is_seen(ArmciMember& member, bool all) {
  const int next = member.next();
  *reinterpret_cast<long*>(member.local() + Arena::kData) = 0;
  clear_counter(member);
  bool right = true;
  for (long i = 1; i <= kTrials; ++i) {
    ARMCI_Put(&i, member.at(Arena::kData, next), sizeof i, next);
    if (all) {
      ARMCI_AllFence();
    } else {
      ARMCI_Fence(next);
    }
    fetch_add_one(member, next);
    long told = 0;
    while (told < i) {
      ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &told, member.at(Arena::kCounter, member.rank()), 0, member.rank());
    }
    right = right && load_long(member, Arena::kData) >= i;
  }
  member.sync();
  return right;
}

inline void fence_suite(ArmciMeasure& measure) {
  ArmciMember& member = measure.backend();
  const std::string ranks = " " + ranks_text(member.size());
  const int next = member.next();
  RowName name{"fence", "armci fence" + ranks, "", 0};
  if (measure.agree(name, fence_is_seen(member, false))) {
    measure_acting(measure, std::move(name), [&](std::size_t) { ARMCI_Fence(next); });
  }
  RowName all{"fence", "armci put to all and fence" + ranks, "", 0};
  if (measure.agree(all, fence_is_seen(member, true))) {
    const long value = 1;
    const std::size_t own = Arena::kData + static_cast<std::size_t>(member.rank()) * 64;
    measure_acting(measure, std::move(all), [&](std::size_t) {
      for (int rank = 0; rank < member.size(); ++rank) {
        if (rank != member.rank())
          ARMCI_Put(const_cast<long*>(&value), member.at(own, rank), sizeof value, rank);
      }
      ARMCI_AllFence();
    });
  }
}

/** Returns whether new memory holds the data that another rank puts there. Collective. */
inline bool memory_is_right(const ArmciMember& member, std::size_t bytes) {
  std::vector<void*> bases(static_cast<std::size_t>(member.size()));
  if (ARMCI_Malloc(bases.data(), static_cast<armci_size_t>(bytes)) != 0) return false;
  long sender = member.rank() + 1;
  const std::size_t last = bytes - sizeof sender;
  const auto next = static_cast<std::size_t>(member.next());
  char* const mine = static_cast<char*>(bases[static_cast<std::size_t>(member.rank())]);
  ARMCI_Put(&sender, static_cast<char*>(bases[next]) + last, sizeof sender, member.next());
  ARMCI_Barrier();
  const int before = (member.rank() + member.size() - 1) % member.size();
  const bool right = *reinterpret_cast<long*>(mine + last) == before + 1;
  ARMCI_Free(mine);
  return right;
}

inline void malloc_suite(ArmciMeasure& measure) {
  ArmciMember& member = measure.backend();
  const auto me = static_cast<std::size_t>(member.rank());
  std::vector<void*> bases(static_cast<std::size_t>(member.size()));
  const auto row = [&](const char* what, std::size_t bytes, bool touch) {
    RowName name{"malloc",
                 std::string("armci ") + what + " " + size_text(bytes) + " " + ranks_text(member.size()), "",
                 0};
    if (!measure.agree(name, memory_is_right(member, bytes))) return;
    measure.together(std::move(name), [&](std::size_t) {
      ARMCI_Malloc(bases.data(), static_cast<armci_size_t>(bytes));
      char* const mine = static_cast<char*>(bases[me]);
      constexpr std::size_t kPage = 4096;
      for (std::size_t i = 0; touch && i < bytes; i += kPage) static_cast<volatile char*>(mine)[i] = 1;
      ARMCI_Free(mine);
    });
  };
  row("malloc and free", 4096, false);
  row("malloc and free", std::size_t{1} << 20, false);
  // Some libraries take pages at first use only.
  row("malloc, touch and free", std::size_t{1} << 20, true);
}

}  // namespace rma::bench
