/**
 * @file memory.hpp
 * Objects that own memory that other ranks can access.
 *
 * The elements of new arrays are not initialised. Elements are trivially copyable, and their destructors do
 * not run.
 */
#ifndef RMA_MEMORY_HPP
#define RMA_MEMORY_HPP

#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "rma/error.hpp"
#include "rma/global_ptr.hpp"
#include "rma/team.hpp"

namespace rma::inline v0 {

namespace detail {

template <class T>
std::size_t array_bytes(std::size_t count) {
  static_assert(Transferable<T>, "only trivially copyable types can be reached by others");
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, sizeof(T), &bytes)) {
    throw_error(RMA_ERR_SIZE, "allocation: " + std::to_string(count) + " elements of " +
                                  std::to_string(sizeof(T)) + " bytes overflow the range of addresses");
  }
  return bytes;
}

// The alignment of an array: a cache line, unless the type requires more.
template <class T>
inline constexpr std::size_t kAlignment = alignof(T) > 64 ? alignof(T) : 64;

}  // namespace detail

/**
 * An array that consists of one part for each member of a team; each part lies in that member's memory. The
 * constructor and the destructor are collective over the team, which must outlive the array. Each member
 * chooses the length of its own part, which may be 0.
 */
template <class T>
class SharedArray {
 public:
  /** Allocates `count` elements in this member's memory. Throws NoMemoryError on all members if any has no
   *  room. */
  SharedArray(const Team& team, std::size_t count) : team_(team.handle()), count_(count) {
    const std::size_t bytes = detail::array_bytes<T>(count);
    const auto members = static_cast<std::size_t>(team.size());
    std::vector<void*> addresses(members);
    parts_.reserve(members);
    void* mine = nullptr;
    check(rma_malloc(team_, bytes, detail::kAlignment<T>, addresses.data(), &mine));
    mine_ = static_cast<T*>(mine);
    for (std::size_t i = 0; i < members; ++i) {
      parts_.emplace_back(static_cast<T*>(addresses[i]), team.world_rank(static_cast<int>(i)));
    }
  }
  ~SharedArray() { release(); }
  SharedArray(SharedArray&& other) noexcept
      : team_(std::exchange(other.team_, nullptr)),
        count_(std::exchange(other.count_, 0)),
        mine_(std::exchange(other.mine_, nullptr)),
        parts_(std::move(other.parts_)),
        scope_(other.scope_) {}
  SharedArray& operator=(SharedArray&& other) noexcept {
    if (this != &other) {
      release();
      team_ = std::exchange(other.team_, nullptr);
      count_ = std::exchange(other.count_, 0);
      mine_ = std::exchange(other.mine_, nullptr);
      parts_ = std::move(other.parts_);
      scope_ = other.scope_;
    }
    return *this;
  }
  SharedArray(const SharedArray&) = delete;
  SharedArray& operator=(const SharedArray&) = delete;

  /** Returns this member's own part. */
  [[nodiscard]] std::span<T> local() const noexcept { return {mine_, count_}; }

  /** Returns the part of member `team_rank`, which is less than the team's size. Returns null if that member
   *  asked for 0 elements. */
  [[nodiscard]] GlobalPtr<T> operator[](int team_rank) const noexcept {
    return parts_[static_cast<std::size_t>(team_rank)];
  }

  /** Frees all parts and throws the errors that the destructor ignores. Collective. */
  void free() {
    rma_team_t team = std::exchange(team_, nullptr);
    count_ = 0;
    if (team != nullptr) check(rma_free(team, std::exchange(mine_, nullptr)));
  }

 private:
  void release() noexcept {
    if (team_ != nullptr && scope_.may_call()) static_cast<void>(rma_free(team_, mine_));
  }

  rma_team_t team_;
  std::size_t count_;
  T* mine_ = nullptr;
  std::vector<GlobalPtr<T>> parts_;
  detail::CollectiveScope scope_;
};

/** An array in this process's memory that every rank can access. The constructor is local: no other rank
 *  takes part. */
template <class T>
class LocalArray {
 public:
  explicit LocalArray(std::size_t count) : count_(count) {
    void* address = nullptr;
    check(rma_malloc_local(detail::array_bytes<T>(count), detail::kAlignment<T>, &address));
    data_ = static_cast<T*>(address);
  }
  ~LocalArray() { release(); }
  LocalArray(LocalArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  LocalArray& operator=(LocalArray&& other) noexcept {
    if (this != &other) {
      release();
      data_ = std::exchange(other.data_, nullptr);
      count_ = std::exchange(other.count_, 0);
    }
    return *this;
  }
  LocalArray(const LocalArray&) = delete;
  LocalArray& operator=(const LocalArray&) = delete;

  [[nodiscard]] T* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] T& operator[](std::size_t index) const noexcept { return data_[index]; }
  [[nodiscard]] T* begin() const noexcept { return data_; }
  [[nodiscard]] T* end() const noexcept { return data_ + count_; }
  /** Returns this array's address in the global address space, for a program to send to other ranks. */
  [[nodiscard]] GlobalPtr<T> global() const noexcept { return {data_, rma_rank()}; }

 private:
  void release() noexcept {
    if (data_ != nullptr && rma_initialized() == 1) static_cast<void>(rma_free_local(data_));
  }

  T* data_ = nullptr;
  std::size_t count_;
};

/** Makes memory of this process accessible to other ranks while this object exists. The memory may be any
 *  memory of the process, and must stay mapped during that time. */
class Registration {
 public:
  template <class T>
  explicit Registration(std::span<T> memory) : address_(memory.data()) {
    static_assert(Transferable<T>);
    check(rma_register(address_, memory.size_bytes()));
  }
  ~Registration() { release(); }
  Registration(Registration&& other) noexcept : address_(std::exchange(other.address_, nullptr)) {}
  Registration& operator=(Registration&& other) noexcept {
    if (this != &other) {
      release();
      address_ = std::exchange(other.address_, nullptr);
    }
    return *this;
  }
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

 private:
  void release() noexcept {
    if (address_ != nullptr && rma_initialized() == 1) static_cast<void>(rma_unregister(address_));
  }

  void* address_;
};

/** Makes memory of the program, such as a static variable, a part of this process's heap (rma_alias):
 *  other ranks reach it as fast as the heap. Local; called before the process joins a job, while it has
 *  one thread. */
template <class T>
void alias(std::span<T> memory) {
  static_assert(Transferable<T>);
  check(rma_alias(memory.data(), memory.size_bytes()));
}

/** Asks for the same at the next rma_init of this process, whichever library makes that call first
 *  (rma_alias_at_init). */
template <class T>
void alias_at_init(std::span<T> memory) {
  static_assert(Transferable<T>);
  check(rma_alias_at_init(memory.data(), memory.size_bytes()));
}

/** Returns the address of aliased memory in the global address space, for a program to send to other
 *  ranks. Throws an ArgumentError if it was not aliased before this process joined the job. */
template <class T>
[[nodiscard]] GlobalPtr<T> find_alias(std::span<T> memory) {
  static_assert(Transferable<T>);
  void* address = nullptr;
  check(rma_find_alias(memory.data(), memory.size_bytes(), &address));
  return {static_cast<T*>(address), rma_rank()};
}

/** The memory of this process that is aliased, or would be had the alias not been refused
 * (rma_alias_range). */
struct AliasRange {
  std::span<std::byte> memory;  /**< empty if no alias was asked for */
  std::byte* in_heap = nullptr; /**< where the memory lies in the heap; null if it does not */
};

/** Returns the memory of this process's alias. */
[[nodiscard]] inline AliasRange alias_range() {
  void* address = nullptr;
  std::size_t bytes = 0;
  void* in_heap = nullptr;
  check(rma_alias_range(&address, &bytes, &in_heap));
  return {.memory = {static_cast<std::byte*>(address), bytes}, .in_heap = static_cast<std::byte*>(in_heap)};
}

}  // namespace rma::inline v0

#endif
