#pragma once

#include <array>
#include <cstddef>
#include <numeric>
#include <vector>

#include "check.hpp"

// A window of each flavor, which tests address in bytes.

namespace mpi_test {

/// Returns whether all ranks share their host.
[[nodiscard]] inline bool on_one_host() {
  MPI_Comm host = MPI_COMM_NULL;
  SUCCEEDS(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host));
  const bool one = size_of(host) == size_of(MPI_COMM_WORLD);
  SUCCEEDS(MPI_Comm_free(&host));
  return one;
}

/// Returns the flavors that windows of all ranks can have. The test of a cluster runs on several hosts.
[[nodiscard]] inline std::vector<int> flavors() {
  std::vector<int> all = {MPI_WIN_FLAVOR_CREATE, MPI_WIN_FLAVOR_ALLOCATE, MPI_WIN_FLAVOR_DYNAMIC};
  if (on_one_host()) all.push_back(MPI_WIN_FLAVOR_SHARED);
  return all;
}

/// A window of MPI_COMM_WORLD in which each rank has `bytes` bytes, which are 0. The displacement unit of
/// rank r is 1, 2, 4, 8 or 16.
class TestWindow {
 public:
  TestWindow(int flavor, std::size_t bytes) : flavor_(flavor), bytes_(bytes) {
    const int rank = rank_in(MPI_COMM_WORLD);
    const auto size = static_cast<MPI_Aint>(bytes);
    void* base = nullptr;
    switch (flavor) {
      case MPI_WIN_FLAVOR_CREATE:
        own_.resize(bytes + 16);
        base = own_.data() + (16 - reinterpret_cast<std::uintptr_t>(own_.data()) % 16) % 16;
        SUCCEEDS(MPI_Win_create(base, size, unit(rank), MPI_INFO_NULL, MPI_COMM_WORLD, &win_));
        break;
      case MPI_WIN_FLAVOR_ALLOCATE:
        SUCCEEDS(MPI_Win_allocate(size, unit(rank), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win_));
        break;
      case MPI_WIN_FLAVOR_SHARED:
        SUCCEEDS(MPI_Win_allocate_shared(size, unit(rank), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win_));
        break;
      default:
        own_.resize(bytes + 16);
        base = own_.data() + (16 - reinterpret_cast<std::uintptr_t>(own_.data()) % 16) % 16;
        SUCCEEDS(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win_));
        SUCCEEDS(MPI_Win_attach(win_, base, size));
    }
    memory_ = static_cast<unsigned char*>(base);
    std::fill_n(memory_, bytes, static_cast<unsigned char>(0));
    addresses_.resize(static_cast<std::size_t>(size_of(MPI_COMM_WORLD)));
    MPI_Aint mine = 0;
    SUCCEEDS(MPI_Get_address(base, &mine));
    SUCCEEDS(MPI_Allgather(&mine, 1, MPI_AINT, addresses_.data(), 1, MPI_AINT, MPI_COMM_WORLD));
  }
  TestWindow(const TestWindow&) = delete;
  TestWindow& operator=(const TestWindow&) = delete;
  ~TestWindow() {
    if (flavor_ == MPI_WIN_FLAVOR_DYNAMIC) {
      SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
      SUCCEEDS(MPI_Win_detach(win_, memory_));
    }
    SUCCEEDS(MPI_Win_free(&win_));
    CHECK(win_ == MPI_WIN_NULL);
  }

  [[nodiscard]] MPI_Win get() const { return win_; }
  [[nodiscard]] unsigned char* memory() const { return memory_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// Returns the displacement of a byte of a rank. `offset` is a multiple of 16.
  [[nodiscard]] MPI_Aint at(int rank, std::size_t offset) const {
    const auto bytes = static_cast<MPI_Aint>(offset);
    return flavor_ == MPI_WIN_FLAVOR_DYNAMIC ? addresses_[static_cast<std::size_t>(rank)] + bytes
                                             : bytes / unit(rank);
  }
  static int unit(int rank) { return 1 << rank % 5; }

 private:
  const int flavor_;
  const std::size_t bytes_;
  MPI_Win win_ = MPI_WIN_NULL;
  unsigned char* memory_ = nullptr;
  std::vector<unsigned char> own_;
  std::vector<MPI_Aint> addresses_;
};

/// The ways to complete accesses.
enum class Mode { kFence, kLock, kLockAll, kGroups };
inline constexpr std::array kModes = {Mode::kFence, Mode::kLock, Mode::kLockAll, Mode::kGroups};

/// An epoch in which every rank may access every rank.
class TestEpoch {
 public:
  TestEpoch(MPI_Win win, Mode mode, int lock_type = MPI_LOCK_SHARED) : win_(win), mode_(mode) {
    const int size = size_of(MPI_COMM_WORLD);
    switch (mode) {
      case Mode::kFence:
        SUCCEEDS(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
        break;
      case Mode::kLock:
        SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
        for (int rank = 0; rank < size; ++rank) SUCCEEDS(MPI_Win_lock(lock_type, rank, 0, win));
        break;
      case Mode::kLockAll:
        SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
        SUCCEEDS(MPI_Win_lock_all(0, win));
        break;
      case Mode::kGroups:
        SUCCEEDS(MPI_Win_get_group(win, &group_));
        SUCCEEDS(MPI_Win_post(group_, 0, win));
        SUCCEEDS(MPI_Win_start(group_, 0, win));
    }
  }
  TestEpoch(const TestEpoch&) = delete;
  TestEpoch& operator=(const TestEpoch&) = delete;
  /// Waits until all ranks have accessed all.
  ~TestEpoch() {
    switch (mode_) {
      case Mode::kFence:
        SUCCEEDS(MPI_Win_fence(MPI_MODE_NOSUCCEED, win_));
        break;
      case Mode::kLock:
        for (int rank = size_of(MPI_COMM_WORLD) - 1; rank >= 0; --rank) SUCCEEDS(MPI_Win_unlock(rank, win_));
        SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
        break;
      case Mode::kLockAll:
        SUCCEEDS(MPI_Win_unlock_all(win_));
        SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
        break;
      case Mode::kGroups:
        SUCCEEDS(MPI_Win_complete(win_));
        SUCCEEDS(MPI_Win_wait(win_));
        SUCCEEDS(MPI_Group_free(&group_));
    }
  }
  /// Completes the operations to a rank, if that is possible in the middle of the epoch.
  void complete(int rank) const {
    if (mode_ == Mode::kLock) SUCCEEDS(MPI_Win_flush(rank, win_));
    if (mode_ == Mode::kLockAll) SUCCEEDS(MPI_Win_flush_all(win_));
  }
  [[nodiscard]] bool is_passive() const { return mode_ == Mode::kLock || mode_ == Mode::kLockAll; }

 private:
  const MPI_Win win_;
  const Mode mode_;
  MPI_Group group_ = MPI_GROUP_NULL;
};

}  // namespace mpi_test
