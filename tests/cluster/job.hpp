#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>
#include <vector>

#include "rma/direct.h"

// Helpers of the cases of rma-cluster-job. Every rank of the job runs the same case.

namespace cluster_job {

inline int failures = 0;
inline long argument = 0;
inline bool may_lose = false;  ///< a lost rank ends the case, and is not a failure
inline bool lost = false;

/// Prints `what` if `good` is false. Returns `good`.
bool expect(bool good, const char* what);
bool expect_ok(rma_status_t status, const char* what);
bool error_names(std::string_view word);
void barrier();

/// Zeroed memory of `bytes` bytes at every rank: of the heap, or registered.
struct Shared {
  enum class Kind { heap, registered };

  explicit Shared(std::size_t bytes, Kind memory = Kind::heap)
      : kind(memory), addresses(static_cast<std::size_t>(rma_size())) {
    if (kind == Kind::heap) {
      void* address = nullptr;
      expect_ok(rma_malloc(rma_team_world(), bytes, 0, addresses.data(), &address), "malloc");
      mine = static_cast<char*>(address);
      std::memset(mine, 0, bytes);
    } else {
      own.resize(bytes);
      mine = own.data();
      expect_ok(rma_register(mine, bytes), "register");
      expect_ok(rma_allgather(rma_team_world(), addresses.data(), &mine, sizeof mine), "allgather");
    }
    barrier();
  }
  ~Shared() {
    if (kind == Kind::heap) {
      expect_ok(rma_free(rma_team_world(), mine), "free");
    } else {
      barrier();
      expect_ok(rma_unregister(mine), "unregister");
    }
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  [[nodiscard]] char* at(int rank) const {
    return static_cast<char*>(addresses[static_cast<std::size_t>(rank)]);
  }

  Kind kind;
  std::vector<void*> addresses;
  std::vector<char> own;
  char* mine = nullptr;
};

int first_of_another_host();
inline std::size_t ranks() { return static_cast<std::size_t>(rma_size()); }

/// The expected contents of this rank's slices of all ranks' memory, by rank.
using Models = std::vector<std::vector<char>>;
char* slice(const Shared& shared, int rank, std::size_t bytes);

/// Makes random puts and gets of all sizes to and from slices of every rank. The local memory is one of
/// `buffers`, which have the size of a slice.
void exchange(const Shared& shared, Models& models, const std::vector<char*>& buffers, long rounds);

/// Checks every operation on a word of `rank`, which holds 7 at first: the value that it returns, and the
/// value that it stores. The word behind it must not change.
template <typename Word>
void operations_on(char* there, int rank);

// The cases. job_transfers.cpp:
void traffic();
void lossy();
void reuse_address();
void memory_limit();
// job_updates.cpp:
template <typename Word>
void hammer();
template <typename Word>
void operations();
// job_faults.cpp:
void idle();
void killed();
void collectives_lost();
void mutexes_lost();
void allgather_lost();
void vanished();
// job_messages.cpp:
void choose_rendezvous();  ///< of this rank, before rma_init
void messages_lost();

}  // namespace cluster_job
