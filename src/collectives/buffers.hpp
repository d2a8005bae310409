#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "core/job/job.hpp"
#include "messages/shared_copy.hpp"

namespace rma {

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

  /// Returns whether this process can read() and write() the memory of every member. The first call finds out.
  [[nodiscard]] virtual bool reaches_all() const = 0;
  /// Copy any memory of `member`, which this process reaches. Each costs a system call.
  [[nodiscard]] virtual rma_status_t read(int member, const void* from, std::span<std::byte> into) const = 0;
  [[nodiscard]] virtual rma_status_t write(int member, void* to, std::span<const std::byte> from) const = 0;
};

/// How a process gets at memory of the other processes of its host that is not mapped here.
struct HostMemory {
  ProcessMemory memory;
  std::function<bool(int rank)> permitted;  ///< whether it may; connects with the rank
};

/// Buffers of a team's members, all of this host: in their heaps, which are mapped here, or elsewhere.
class TeamBuffers final : public Buffers {
 public:
  /// `ranks` are the world ranks by team rank. All arguments outlive this and do not move. `host` may be null:
  /// nothing else can be reached.
  TeamBuffers(const Job& job, std::span<const int> ranks, const HostMemory* host)
      : job_(job), ranks_(ranks), host_(host) {}

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
    return host_->memory.read(rank_of(member), reinterpret_cast<std::uintptr_t>(from), into);
  }
  [[nodiscard]] rma_status_t write(int member, void* to, std::span<const std::byte> from) const override {
    return host_->memory.write(rank_of(member), reinterpret_cast<std::uintptr_t>(to), from);
  }

 private:
  enum class Reach : std::uint8_t { unknown, all, not_all };
  [[nodiscard]] int rank_of(int member) const { return ranks_[static_cast<std::size_t>(member)]; }
  [[nodiscard]] bool find_out() const {
    if (host_ == nullptr) return false;
    for (const int rank : ranks_) {
      if (rank != job_.rank() && !host_->permitted(rank)) return false;
    }
    return true;
  }

  const Job& job_;
  const std::span<const int> ranks_;
  const HostMemory* const host_;
  mutable Reach reaches_ = Reach::unknown;  ///< the thread that makes the team's call uses it
};

}  // namespace rma
