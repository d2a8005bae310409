/**
 * @file team.hpp
 * Ordered subsets of the job's ranks, and the collective operations over them.
 */
#ifndef RMA_TEAM_HPP
#define RMA_TEAM_HPP

#include <cstddef>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "rma/error.hpp"
#include "rma/global_ptr.hpp"
#include "rma/transfer.hpp"

namespace rma::inline v0 {

/** The operators of reductions. Minimum and maximum are not defined for complex types, kBit... only for
 * integers. */
enum class Reduction : int {
  kSum = RMA_SUM,
  kProduct = RMA_PROD,
  kMin = RMA_MIN,
  kMax = RMA_MAX,
  kBitAnd = RMA_BAND,
  kBitOr = RMA_BOR,
  kBitXor = RMA_BXOR,
};

/** Elements side by side in memory that may be moved between processes: a vector, an array, a span. */
template <class R>
concept TransferableRange = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
    std::is_trivially_copyable_v<std::ranges::range_value_t<R>>;

/**
 * A team. Owns its handle, except world()'s. Every member function but those marked local is collective: one
 * thread of each member calls it, all in the same order. Destroying an owned team is collective too, and must
 * happen inside the job; while an exception of this process unwinds, the handle is left alone.
 */
class Team {
 public:
  /** A team of nobody. Local. */
  Team() noexcept = default;
  ~Team() { release(); }
  Team(Team&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)),
        owned_(other.owned_),
        rank_(other.rank_),
        size_(other.size_),
        scope_(other.scope_) {}
  Team& operator=(Team&& other) noexcept {
    if (this != &other) {
      release();
      handle_ = std::exchange(other.handle_, nullptr);
      owned_ = other.owned_;
      rank_ = other.rank_;
      size_ = other.size_;
      scope_ = other.scope_;
    }
    return *this;
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  /** The team of all ranks. Local. */
  [[nodiscard]] static Team world() { return {rma_team_world(), false}; }

  /** A team of the world ranks listed, in that order. Called by exactly those, each with the same list. */
  [[nodiscard]] static Team create(std::span<const int> world_ranks) {
    rma_team_t handle = nullptr;
    check(rma_team_create(world_ranks.data(), static_cast<int>(world_ranks.size()), &handle));
    return {handle, true};
  }

  /** Members with the same `color` form a team, ordered by `key`, then by rank here. A negative color joins
   * none and gets a team of nobody. */
  [[nodiscard]] Team split(int color, int key = 0) const {
    rma_team_t handle = nullptr;
    check(rma_team_split(handle_, color, key, &handle));
    return handle == nullptr ? Team() : Team(handle, true);
  }

  /** The handle of the C interface; still this object's. Local. */
  [[nodiscard]] rma_team_t handle() const noexcept { return handle_; }
  /** Whether this is a team at all. Local. */
  [[nodiscard]] explicit operator bool() const noexcept { return handle_ != nullptr; }
  /** This process's rank in the team, -1 in a team of nobody. Local. */
  [[nodiscard]] int rank() const noexcept { return rank_; }
  /** The number of members. Local. */
  [[nodiscard]] int size() const noexcept { return size_; }
  /** The world rank of member `team_rank`. Local. */
  [[nodiscard]] int world_rank(int team_rank) const {
    int world_rank = -1;
    check(rma_team_world_rank(handle_, team_rank, &world_rank));
    return world_rank;
  }

  /** Returns when everything that this process issued is visible, and every member has arrived. */
  void barrier() const { check(rma_barrier(handle_)); }

  /** Copies the elements of the root's `range` to everyone's, which is as long. `root` is a team rank. */
  template <TransferableRange R>
  void broadcast(R&& range, int root) const {
    const std::span data(range);
    check(rma_broadcast(handle_, data.data(), data.size_bytes(), root));
  }

  /** Returns the root's `value` everywhere. */
  template <Transferable T>
  requires(!std::ranges::range<T>) [[nodiscard]] T broadcast(T value, int root) const {
    check(rma_broadcast(handle_, std::addressof(value), sizeof value, root));
    return value;
  }

  /** Reduces everyone's `range` element by element into the root's own; the other members' stay as they are.
   * The result is the same in every run with the same team. */
  template <TransferableRange R>
  requires Accumulable<std::ranges::range_value_t<R>>
  void reduce(R&& range, Reduction operation, int root) const {
    const std::span data(range);
    check(rma_reduce(handle_, data.data(), data.data(), data.size(),
                     kElementType<std::ranges::range_value_t<R>>, static_cast<rma_reduction_t>(operation),
                     root));
  }

  /** As reduce(), with the result in everyone's `range`, bit for bit the same. */
  template <TransferableRange R>
  requires Accumulable<std::ranges::range_value_t<R>>
  void allreduce(R&& range, Reduction operation) const {
    const std::span data(range);
    check(rma_allreduce(handle_, data.data(), data.data(), data.size(),
                        kElementType<std::ranges::range_value_t<R>>,
                        static_cast<rma_reduction_t>(operation)));
  }

  /** Returns the reduction of everyone's `value`. */
  template <Accumulable T>
  [[nodiscard]] T allreduce(T value, Reduction operation) const {
    allreduce(std::span<T>(&value, 1), operation);
    return value;
  }

  /** Everyone's `value`, in team-rank order. */
  template <Transferable T>
  requires(!std::ranges::range<T>) [[nodiscard]] std::vector<T> allgather(const T& value) const {
    std::vector<T> all(static_cast<std::size_t>(size_));
    check(rma_allgather(handle_, all.data(), std::addressof(value), sizeof value));
    return all;
  }

  /** Gathers everyone's `src`, equally long, in team-rank order into everyone's `dst`, size() times as long.
   */
  template <class T>
  void allgather(std::span<T> dst, std::span<const std::type_identity_t<T>> src) const {
    static_assert(Transferable<T>);
    if (dst.size() != src.size() * static_cast<std::size_t>(size_)) {
      throw_error(RMA_ERR_SIZE, "allgather: " + std::to_string(dst.size()) + " elements to hold " +
                                    std::to_string(src.size()) + " of each of " + std::to_string(size_) +
                                    " members");
    }
    check(rma_allgather(handle_, dst.data(), src.data(), src.size_bytes()));
  }

 private:
  Team(rma_team_t handle, bool owned) : handle_(handle), owned_(owned) {
    check(rma_team_info(handle, &rank_, &size_));
  }

  void release() noexcept {
    if (handle_ != nullptr && owned_ && scope_.may_call()) static_cast<void>(rma_team_free(&handle_));
    handle_ = nullptr;
  }

  rma_team_t handle_ = nullptr;
  bool owned_ = false;
  int rank_ = -1;
  int size_ = 0;
  detail::CollectiveScope scope_;
};

}  // namespace rma::inline v0

#endif
