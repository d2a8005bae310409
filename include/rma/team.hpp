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

/** The operators of reductions. Minimum and maximum are not defined for complex types. kBitAnd, kBitOr and
 *  kBitXor are defined for integers only. */
enum class Reduction : int {
  kSum = RMA_SUM,
  kProduct = RMA_PROD,
  kMin = RMA_MIN,
  kMax = RMA_MAX,
  kBitAnd = RMA_BAND,
  kBitOr = RMA_BOR,
  kBitXor = RMA_BXOR,
};

/** A contiguous range whose elements can be transferred between processes: a vector, an array, a span. */
template <class R>
concept TransferableRange = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
    std::is_trivially_copyable_v<std::ranges::range_value_t<R>>;

/**
 * A team. The object owns its handle, except the one that world() returns. Every member function is
 * collective unless it is marked local: one thread of each member calls it, and all members make their
 * collective calls in the same order. Destroying an owned team is collective too, and must happen inside the
 * job. If an exception of this process destroys the object, the destructor does not free the team.
 */
class Team {
 public:
  /** Makes a null team, which has no members. Local. */
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

  /** Returns the team of all ranks. Local. */
  [[nodiscard]] static Team world() { return {rma_team_world(), false}; }

  /** Creates a team of the listed world ranks, in that order. Exactly the listed ranks call it, each with the
   *  same list. */
  [[nodiscard]] static Team create(std::span<const int> world_ranks) {
    rma_team_t handle = nullptr;
    check(rma_team_create(world_ranks.data(), static_cast<int>(world_ranks.size()), &handle));
    return {handle, true};
  }

  /** Splits this team. Members with the same `color` form one team, ordered by `key` and then by their rank
   *  in this team. A member with a negative color joins no team and gets a null team. */
  [[nodiscard]] Team split(int color, int key = 0) const {
    rma_team_t handle = nullptr;
    check(rma_team_split(handle_, color, key, &handle));
    return handle == nullptr ? Team() : Team(handle, true);
  }

  /** Returns the handle of the C interface. This object still owns it. Local. */
  [[nodiscard]] rma_team_t handle() const noexcept { return handle_; }
  /** Returns whether this is not a null team. Local. */
  [[nodiscard]] explicit operator bool() const noexcept { return handle_ != nullptr; }
  /** Returns this process's rank in the team, or -1 for a null team. Local. */
  [[nodiscard]] int rank() const noexcept { return rank_; }
  /** Returns the number of members. Local. */
  [[nodiscard]] int size() const noexcept { return size_; }
  /** Returns the world rank of member `team_rank`. Local. */
  [[nodiscard]] int world_rank(int team_rank) const {
    int world_rank = -1;
    check(rma_team_world_rank(handle_, team_rank, &world_rank));
    return world_rank;
  }

  /** Performs fence_all() and then waits until every member has called barrier(). */
  void barrier() const { check(rma_barrier(handle_)); }

  /** Copies the elements of the root's `range` to every member's `range`. The ranges are equally long. `root`
   *  is a team rank. */
  template <TransferableRange R>
  void broadcast(R&& range, int root) const {
    const std::span data(range);
    check(rma_broadcast(handle_, data.data(), data.size_bytes(), root));
  }

  /** Returns the root's `value` on every member. */
  template <Transferable T>
  requires(!std::ranges::range<T>) [[nodiscard]] T broadcast(T value, int root) const {
    check(rma_broadcast(handle_, std::addressof(value), sizeof value, root));
    return value;
  }

  /** Reduces all members' ranges, element by element, into the root's `range`. The ranges of the other
   *  members do not change. The result is the same in every run with the same team, as long as its members
   *  are distributed over hosts alike (see rma_reduce). */
  template <TransferableRange R>
  requires Accumulable<std::ranges::range_value_t<R>>
  void reduce(R&& range, Reduction operation, int root) const {
    const std::span data(range);
    check(rma_reduce(handle_, data.data(), data.data(), data.size(),
                     kElementType<std::ranges::range_value_t<R>>, static_cast<rma_reduction_t>(operation),
                     root));
  }

  /** Reduces as reduce() does, and stores the result into every member's `range`, bit for bit the same. */
  template <TransferableRange R>
  requires Accumulable<std::ranges::range_value_t<R>>
  void allreduce(R&& range, Reduction operation) const {
    const std::span data(range);
    check(rma_allreduce(handle_, data.data(), data.data(), data.size(),
                        kElementType<std::ranges::range_value_t<R>>,
                        static_cast<rma_reduction_t>(operation)));
  }

  /** Returns the reduction of all members' `value`. */
  template <Accumulable T>
  [[nodiscard]] T allreduce(T value, Reduction operation) const {
    allreduce(std::span<T>(&value, 1), operation);
    return value;
  }

  /** Returns all members' `value`, in the order of team ranks. */
  template <Transferable T>
  requires(!std::ranges::range<T>) [[nodiscard]] std::vector<T> allgather(const T& value) const {
    std::vector<T> all(static_cast<std::size_t>(size_));
    check(rma_allgather(handle_, all.data(), std::addressof(value), sizeof value));
    return all;
  }

  /** Gathers all members' `src` into every member's `dst`, in the order of team ranks. All `src` are equally
   *  long, and each `dst` is size() times as long. */
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
