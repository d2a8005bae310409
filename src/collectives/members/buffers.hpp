#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "core/job/job.hpp"
#include "core/one_sided/process_memory.hpp"
#include "util/exhausted.hpp"
#include "util/rank_map.hpp"
#include "util/status.hpp"
#include "util/try_assign.hpp"

namespace librma {

/// Knows which buffers of the program the members of a team can use where they lie, and how.
class Buffers {
 public:
  Buffers() = default;
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
  virtual ~Buffers() = default;

  /// Returns whether every member has this process's [address, address + bytes) mapped.
  [[nodiscard]] virtual bool shared(const void* address, std::size_t bytes) const = 0;
  /// Returns where `address`, which is shared() at team rank `member`, is mapped here.
  [[nodiscard]] virtual std::byte* at(const void* address, std::size_t bytes, int member) const = 0;

  /// Returns whether this process can read() and write() the memory of every member. The first call finds
  /// out.
  [[nodiscard]] virtual bool reaches_all() const = 0;
  /// Copy any memory of `member`, which this process reaches. Each costs a system call.
  [[nodiscard]] virtual rma_status_t read(int member, const void* from, std::span<std::byte> into) const = 0;
  [[nodiscard]] virtual rma_status_t write(int member, void* to, std::span<const std::byte> from) const = 0;

  /// Returns kScratchBytes bytes that are shared(), aligned to 64, for the work of one call; null if there is
  /// no memory.
  [[nodiscard]] virtual std::byte* take_scratch() const = 0;
  /// Takes them back, when no member uses them any more.
  virtual void give_scratch(std::byte* scratch) const = 0;
  static constexpr std::size_t kScratchBytes = std::size_t{512} << 10U;
};

/// How a process gets at memory of the other processes of its host that is not mapped here.
struct HostMemory {
  ProcessMemory memory;
  std::function<bool(int rank)> permitted;  ///< whether it may; connects with the rank
};

/// The scratch of this process's collective calls, in its heap. It keeps what it has got, for later calls.
/// Thread-safe.
class ScratchPool {
 public:
  explicit ScratchPool(Job& job) : job_(job) {}
  [[nodiscard]] std::byte* take() {
    {
      const std::lock_guard guard(lock_);
      if (!free_.empty()) {
        std::byte* const scratch = free_.back();
        free_.pop_back();
        return scratch;
      }
    }
    std::byte* taken = nullptr;
    static_cast<void>(unless_exhausted([&]() -> Status {
                        const std::lock_guard guard(lock_);
                        free_.reserve(taken_ + 1);  // so that none needs memory when it comes back
                        RMA_TRY_ASSIGN(made, job_.memory().allocator().allocate(
                                                 MemoryKind::internal, Buffers::kScratchBytes, kAlignment));
                        ++taken_;
                        taken = made;
                        return {};
                      }).ok());
    return taken;
  }
  void give(std::byte* scratch) {
    const std::lock_guard guard(lock_);
    free_.push_back(scratch);
  }

 private:
  static constexpr std::size_t kAlignment = 4096;
  Job& job_;
  std::mutex lock_;
  std::vector<std::byte*> free_;  ///< the lock guards it, and the next
  std::size_t taken_ = 0;
};

/// Buffers of a team's members, all of this host: in their heaps, which are mapped here, or elsewhere.
class TeamBuffers final : public Buffers {
 public:
  /// `ranks` are the world ranks by team rank. All arguments outlive this and do not move.
  TeamBuffers(const Job& job, RankView ranks, const HostMemory& host, ScratchPool& scratch)
      : job_(job), ranks_(ranks), host_(host), scratch_(scratch) {}

  [[nodiscard]] bool shared(const void* address, std::size_t bytes) const override {
    return job_.direct(address, bytes, job_.rank()) != nullptr;
  }
  [[nodiscard]] std::byte* at(const void* address, std::size_t bytes, int member) const override {
    return job_.direct(address, bytes, rank_of(member));
  }
  [[nodiscard]] bool reaches_all() const override {
    if (reaches_ == Reach::unknown) reaches_ = find_out() ? Reach::all : Reach::not_all;
    return reaches_ == Reach::all;
  }
  [[nodiscard]] rma_status_t read(int member, const void* from, std::span<std::byte> into) const override {
    return host_.memory.read(rank_of(member), reinterpret_cast<std::uintptr_t>(from), into);
  }
  [[nodiscard]] rma_status_t write(int member, void* to, std::span<const std::byte> from) const override {
    return host_.memory.write(rank_of(member), reinterpret_cast<std::uintptr_t>(to), from);
  }
  [[nodiscard]] std::byte* take_scratch() const override { return scratch_.take(); }
  void give_scratch(std::byte* scratch) const override { scratch_.give(scratch); }

 private:
  enum class Reach : std::uint8_t { unknown, all, not_all };
  [[nodiscard]] int rank_of(int member) const { return ranks_[member]; }
  [[nodiscard]] bool find_out() const {
    for (const int rank : ranks_) {
      if (rank != job_.rank() && !host_.permitted(rank)) return false;
    }
    return true;
  }

  const Job& job_;
  const RankView ranks_;
  const HostMemory& host_;
  ScratchPool& scratch_;
  mutable Reach reaches_ = Reach::unknown;  ///< the thread that makes the team's call uses it
};

}  // namespace librma
