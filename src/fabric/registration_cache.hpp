#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "fabric/private_pages.hpp"
#include "fabric/registrar.hpp"
#include "fabric/unmap_watch.hpp"
#include "util/status.hpp"

namespace librma {

struct RegistrationCacheOptions {
  std::size_t max_bytes = 0;    ///< the maximum number of bytes that stay registered for later use
  std::size_t max_entries = 0;  ///< the maximum number of registrations that stay
  bool enabled = true;          ///< false: each use makes its own registration
};

/// Registrations of the program's own memory, kept for their next use. Thread-safe.
///
/// A registration is kept only while its address range certainly holds the same pages as when it was
/// registered. That is known for private memory that an UnmapWatch watches. Other memory is registered for
/// one use. So is memory for which the limits leave no room, and all memory if the watch does not work.
///
/// Uses end in any order on any thread, and the cache never waits for a use to end. If memory cannot be
/// registered while others are in use, get() returns RMA_ERR_NO_MEMORY and the caller copies. Lookups do not
/// find a registration whose memory is gone. It is deregistered when its last use ends; if it has no use, by
/// the next get() or reclaim() of any thread.
///
/// `mutex_` comes last in the order of locks. A thread that holds it does not allocate, free, register,
/// deregister or wait. So a thread that holds an allocator's or a device's lock may call the cache.
class RegistrationCache {
  struct Entry;
  using Entries = std::list<Entry>;

 public:
  /// Keeps memory registered as long as it lives. It may end on another thread than it began on. It must end
  /// before the cache does.
  class Use {
   public:
    Use() noexcept = default;
    Use(Use&& other) noexcept : cache_(std::exchange(other.cache_, nullptr)), entry_(other.entry_) {}
    Use& operator=(Use&& other) noexcept {
      std::swap(cache_, other.cache_);
      std::swap(entry_, other.entry_);
      return *this;
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use() { release(); }

    /// Ends the use now. The object is empty afterwards.
    void release() noexcept {
      if (RegistrationCache* cache = std::exchange(cache_, nullptr)) cache->release(entry_);
    }
    [[nodiscard]] bool empty() const noexcept { return cache_ == nullptr; }
    /// Returns the registered range: all that was asked for, and often more. The use must not be empty.
    [[nodiscard]] const Registered& registered() const noexcept;

   private:
    friend class RegistrationCache;
    Use(RegistrationCache& cache, Entries::iterator entry) noexcept : cache_(&cache), entry_(entry) {}

    RegistrationCache* cache_ = nullptr;
    Entries::iterator entry_;
  };

  /// Makes a cache. `registrar` must outlive it.
  static std::unique_ptr<RegistrationCache> create(Registrar& registrar,
                                                   const RegistrationCacheOptions& options);

  /// Deregisters everything.
  ~RegistrationCache();
  RegistrationCache(const RegistrationCache&) = delete;
  RegistrationCache& operator=(const RegistrationCache&) = delete;

  /// Returns a registration of [address, address + bytes). `bytes` is above 0, and the memory stays mapped
  /// during the call. A hit costs one short system call and one lock. Returns the registrar's errors. Before
  /// it returns RMA_ERR_NO_MEMORY, the cache gives up registrations that are not in use and tries again.
  Result<Use> get(std::byte* address, std::size_t bytes);
  /// Registers [address, address + bytes) for one use, and deregisters it afterwards. The conditions and
  /// errors are those of get().
  Result<Use> get_once(std::byte* address, std::size_t bytes) { return add(pages_of(address, bytes), false); }

  /// Deregisters memory that was unmapped and is not in use. get() does this too. A thread that is about to
  /// sleep calls reclaim(), so that memory that the program gave back does not stay pinned until the next
  /// get().
  void reclaim();

  /// Empties the cache: deregisters each registration that is not in use now, and each other one when its
  /// last use ends.
  void flush();

  /// Returns why the cache keeps nothing: the watch does not work, or the cache was not asked for. Returns an
  /// empty text if the cache works.
  [[nodiscard]] const std::string& why_off() const noexcept { return why_off_; }

 private:
  /// Registrations by their first address. No span contains another, so the ends are in the order of the
  /// beginnings. Of the spans that begin at or before an address, the last one therefore reaches furthest.
  using Kept = std::map<std::uintptr_t, Entries::iterator>;

  /// An entry is always in one of three lists: in busy_ while it is being registered or has uses, in unused_
  /// while it is only kept, and in a Farewell afterwards.
  struct Entry {
    AddressSpan span;
    Registered registered;
    std::size_t uses = 1;
    bool counted = false;  // counts against the limits: it is in kept_, or on its way there
    Kept::node_type node;  // holds the map node while the entry is not in kept_, so that no move allocates
  };

  /// Entries that left the cache under the lock. They are deregistered and counted after it is released.
  struct Farewell {
    Entries entries;
    std::uint64_t evicted = 0;
    std::uint64_t invalidated = 0;
  };

  RegistrationCache(Registrar& registrar, const RegistrationCacheOptions& options);
  /// Returns the pages that hold the range.
  [[nodiscard]] AddressSpan pages_of(const std::byte* address, std::size_t bytes) const;
  Result<Use> add(const AddressSpan& wanted, bool keep);
  [[nodiscard]] Status add_entry(Entries::iterator entry, const AddressSpan& wanted, bool& watched);
  [[nodiscard]] bool evict_for(std::size_t bytes);
  void release(Entries::iterator entry) noexcept;
  void part_with(Farewell& farewell);

  // These are called with mutex_ held.
  [[nodiscard]] std::optional<Entries::iterator> find_locked(const AddressSpan& span);
  void use_locked(Entries::iterator entry);
  void begin_locked(Entries::iterator entry, const AddressSpan& wanted, Farewell& farewell);
  void keep_locked(Entries::iterator entry, Farewell& farewell);
  void drop_locked(Entries::iterator entry, Farewell& farewell);
  void drop_overlapping_locked(const AddressSpan& span, Farewell& farewell);
  [[nodiscard]] bool evict_locked(Farewell& farewell);
  void invalidate_locked(std::uint64_t position, Farewell& farewell);

  Registrar& registrar_;
  const RegistrationCacheOptions options_;
  const std::size_t page_;
  std::string why_off_;
  std::unique_ptr<UnmapWatch> watch_;  // null when off
  std::unique_ptr<PrivatePages> pages_;

  std::mutex mutex_;  // guards the members below
  Kept kept_;
  std::optional<Entries::iterator> last_;  // the entry of kept_ that the last lookup found
  Entries busy_;
  Entries unused_;  // the least recently used first
  std::size_t counted_entries_ = 0;
  std::size_t counted_bytes_ = 0;
  std::uint64_t seen_ = 0;  // notes were taken up to this position of watch_
};

inline const Registered& RegistrationCache::Use::registered() const noexcept { return entry_->registered; }

}  // namespace librma
