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

namespace rma {

struct RegistrationCacheOptions {
  std::size_t max_bytes = 0;    ///< most bytes that stay registered for a next use
  std::size_t max_entries = 0;  ///< most registrations that do
  bool enabled = true;          ///< false: each use registers for itself
};

/// Registrations of memory the program brings, kept for its next use. Thread-safe.
///
/// A registration is kept only while its memory is certainly what it was when registered: private memory,
/// watched by an UnmapWatch. Anything else, what the limits leave no room for, and everything where the
/// watch is unusable, is registered for its one use.
///
/// Uses end in any order on any thread, and nothing here waits for one to end: what cannot be had while
/// others are in use is an error (RMA_ERR_NO_MEMORY) and the caller copies. A registration whose memory is
/// gone is found by no lookup any more; it ends with its last use, or when it has none, with the next get()
/// or reclaim() of any thread.
///
/// `mutex_` is the last lock of any order: with it held, nothing is allocated, freed, registered,
/// deregistered or waited for, so that whoever holds an allocator's or a device's lock may come here.
class RegistrationCache {
  struct Entry;
  using Entries = std::list<Entry>;

 public:
  /// Keeps memory registered as long as it lives. It may end on another thread than it began on, and must
  /// end before the cache does.
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

    /// Ends the use now; it is empty then.
    void release() noexcept {
      if (RegistrationCache* cache = std::exchange(cache_, nullptr)) cache->release(entry_);
    }
    [[nodiscard]] bool empty() const noexcept { return cache_ == nullptr; }
    /// What is registered: all that was asked for, and often more. Not to be asked of an empty use.
    [[nodiscard]] const Registered& registered() const noexcept;

   private:
    friend class RegistrationCache;
    Use(RegistrationCache& cache, Entries::iterator entry) noexcept : cache_(&cache), entry_(entry) {}

    RegistrationCache* cache_ = nullptr;
    Entries::iterator entry_;
  };

  /// `registrar` must outlive the cache.
  static std::unique_ptr<RegistrationCache> create(Registrar& registrar,
                                                   const RegistrationCacheOptions& options);

  /// Deregisters everything.
  ~RegistrationCache();
  RegistrationCache(const RegistrationCache&) = delete;
  RegistrationCache& operator=(const RegistrationCache&) = delete;

  /// A registration of [address, address + bytes), `bytes` above 0, all of it mapped during the call. A hit
  /// costs one short system call and one lock. The registrar's errors; RMA_ERR_NO_MEMORY after everything
  /// that nobody uses was given up for it.
  Result<Use> get(std::byte* address, std::size_t bytes);

  /// Deregisters what was unmapped and has no use any more. get() does it by itself; this is for a thread
  /// that has nothing else to do, so that memory a program gave back does not stay until its next get().
  void reclaim();

  /// Keeps nothing of what there is: deregisters what has no use, and the rest when its last use ends.
  void flush();

  /// Why nothing is kept: the watch's reason, or that it was not wanted. Empty when it works.
  [[nodiscard]] const std::string& why_off() const noexcept { return why_off_; }

 private:
  /// By the first address. No span in it contains another, so ends are in the order of beginnings: of the
  /// spans that begin at or before an address, the last one reaches furthest.
  using Kept = std::map<std::uintptr_t, Entries::iterator>;

  /// An entry is always in one of the lists: busy_ while it is being registered or has uses, unused_ while
  /// it is only kept, and a Farewell afterwards.
  struct Entry {
    AddressSpan span;
    Registered registered;
    std::size_t uses = 1;
    bool counted = false;  // against the limits: in kept_, or on its way there
    Kept::node_type node;  // in here when not in kept_, so that neither way allocates
  };

  /// What left the cache under the lock, to be deregistered and counted without it.
  struct Farewell {
    Entries entries;
    std::uint64_t evicted = 0;
    std::uint64_t invalidated = 0;
  };

  RegistrationCache(Registrar& registrar, const RegistrationCacheOptions& options);
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

  std::mutex mutex_;  // of all below
  Kept kept_;
  std::optional<Entries::iterator> last_;  // of kept_, found by the last lookup
  Entries busy_;
  Entries unused_;  // the least recently used first
  std::size_t counted_entries_ = 0;
  std::size_t counted_bytes_ = 0;
  std::uint64_t seen_ = 0;  // watch_'s position up to which notes were taken
};

inline const Registered& RegistrationCache::Use::registered() const noexcept { return entry_->registered; }

}  // namespace rma
