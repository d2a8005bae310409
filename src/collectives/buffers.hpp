#pragma once

#include <cstddef>
#include <span>

#include "core/job/job.hpp"

namespace rma {

/// Knows which buffers of the program the members of a team can use in place.
class Buffers {
 public:
  Buffers() = default;
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
  virtual ~Buffers() = default;

  /// Returns whether every member can use this process's [address, address + bytes).
  [[nodiscard]] virtual bool shared(const void* address, std::size_t bytes) const = 0;
  /// Returns where `address`, which is shared() at team rank `member`, is mapped here.
  [[nodiscard]] virtual std::byte* at(const void* address, std::size_t bytes, int member) const = 0;
};

/// Buffers in the heaps of a team's members, all mapped here.
class TeamBuffers final : public Buffers {
 public:
  /// `ranks` are the world ranks by team rank. They outlive this and do not move.
  TeamBuffers(const Job& job, std::span<const int> ranks) : job_(job), ranks_(ranks) {}

  [[nodiscard]] bool shared(const void* address, std::size_t bytes) const override {
    return job_.direct(address, bytes, job_.rank()) != nullptr;
  }
  [[nodiscard]] std::byte* at(const void* address, std::size_t bytes, int member) const override {
    return job_.direct(address, bytes, ranks_[static_cast<std::size_t>(member)]);
  }

 private:
  const Job& job_;
  const std::span<const int> ranks_;
};

}  // namespace rma
