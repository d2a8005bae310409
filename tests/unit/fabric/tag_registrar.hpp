#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "fabric/registrar.hpp"
#include "fabric/registration_cache.hpp"
#include "util/statistics.hpp"

namespace librma {

inline std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

/// Stores a unique number into the first 8 bytes of each page. It distinguishes memory from other memory that
/// was at the same address before.
inline void stamp(std::byte* address, std::size_t bytes) {
  static std::atomic<std::uint64_t> next{1};
  for (std::size_t at = 0; at < bytes; at += page_bytes()) {
    *reinterpret_cast<volatile std::uint64_t*>(address + at) = next.fetch_add(1, std::memory_order_relaxed);
  }
}

/// Maps new private memory and stamps it. If `where` is given, maps it there, in place of the present memory.
inline std::byte* map_pages(std::size_t pages, std::byte* where = nullptr) {
  const int fixed = where != nullptr ? MAP_FIXED : 0;
  const std::size_t bytes = pages * page_bytes();
  void* memory = ::mmap(where, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  stamp(static_cast<std::byte*>(memory), bytes);
  return static_cast<std::byte*>(memory);
}

inline void unmap_pages(std::byte* address, std::size_t pages) {
  ASSERT_EQ(::munmap(address, pages * page_bytes()), 0);
}

/// A Registrar that holds pages as a device does. It remembers the stamps of registered pages, and so knows
/// whether the same pages are still at their addresses. Fails the test if a registration is removed that
/// does not exist.
class TagRegistrar final : public Registrar {
 public:
  ~TagRegistrar() override { ::close(memory_); }

  Result<Registered> add(std::byte* address, std::size_t bytes) override {
    adds_.fetch_add(1, std::memory_order_relaxed);
    {
      const std::lock_guard lock(mutex_);
      if (used_ + bytes > limit_) return Status(RMA_ERR_NO_MEMORY, "the device's limit");
    }
    // Touches all pages for writing, as a device does, and so finds pages that are not mapped.
    if (::madvise(address, bytes, MADV_POPULATE_WRITE) != 0) return not_mapped();
    std::vector<std::uint64_t> tags;
    for (std::size_t at = 0; at < bytes; at += page_bytes()) {
      std::uint64_t tag = 0;  // read through the file, because another thread may unmap pages outside
                              // of the request
      const auto offset = reinterpret_cast<std::uintptr_t>(address + at);
      if (::pread(memory_, &tag, sizeof(tag), static_cast<off_t>(offset)) != sizeof(tag)) return not_mapped();
      tags.push_back(tag);
    }
    Registered registered{.address = address, .bytes = bytes, .local = {}, .remote = {}};
    std::function<void()> now;
    {
      const std::lock_guard lock(mutex_);
      registered.local[0] = registered.remote[0] = ++last_key_;
      used_ += bytes;
      live_.emplace(last_key_, std::move(tags));
      now = std::exchange(after_next_add_, nullptr);
    }
    if (now) now();
    return registered;
  }

  void remove(const Registered& registered) override {
    const std::lock_guard lock(mutex_);
    const auto found = live_.find(registered.local[0]);
    ASSERT_NE(found, live_.end()) << "registration " << registered.local[0] << " removed twice";
    ASSERT_EQ(found->second.size() * page_bytes(), registered.bytes);
    live_.erase(found);
    used_ -= registered.bytes;
  }

  /// Returns whether `registered` is registered, covers the range, and has the pages that are at
  /// the range's addresses.
  bool is_current(const Registered& registered, const std::byte* address, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto found = live_.find(registered.local[0]);
    if (found == live_.end()) return false;
    if (address < registered.address || address + bytes > registered.address + registered.bytes) return false;
    const auto first = static_cast<std::size_t>(address - registered.address) / page_bytes();
    const auto last = static_cast<std::size_t>(address + bytes - 1 - registered.address) / page_bytes();
    for (std::size_t page = first; page <= last; ++page) {
      const auto* at = registered.address + page * page_bytes();
      if (*reinterpret_cast<const volatile std::uint64_t*>(at) != found->second[page]) return false;
    }
    return true;
  }

  bool is_live(const Registered& registered) {
    const std::lock_guard lock(mutex_);
    return live_.contains(registered.local[0]);
  }
  std::size_t live() {
    const std::lock_guard lock(mutex_);
    return live_.size();
  }
  std::size_t used() {
    const std::lock_guard lock(mutex_);
    return used_;
  }
  /// Runs at the end of the next add(), before it returns, in place of other threads.
  void set_after_next_add(std::function<void()> what) { after_next_add_ = std::move(what); }
  void set_limit(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    limit_ = bytes;
  }
  std::uint64_t adds() const { return adds_.load(std::memory_order_relaxed); }
  std::uint64_t adds_not_mapped() const { return adds_not_mapped_.load(std::memory_order_relaxed); }

 private:
  Status not_mapped() {
    adds_not_mapped_.fetch_add(1, std::memory_order_relaxed);
    return {RMA_ERR_ADDRESS, "not all of it is mapped"};
  }

  const int memory_ = ::open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  std::mutex mutex_;
  std::map<transport::Key, std::vector<std::uint64_t>> live_;
  transport::Key last_key_ = 0;
  std::function<void()> after_next_add_;
  std::size_t used_ = 0;
  std::size_t limit_ = SIZE_MAX;
  std::atomic<std::uint64_t> adds_{0};
  std::atomic<std::uint64_t> adds_not_mapped_{0};
};

/// A cache over a TagRegistrar, and the counters since the test began.
class RegistrationCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    make({.max_bytes = std::size_t{1} << 30U, .max_entries = 1000});
    if (!cache_->why_off().empty()) GTEST_SKIP() << cache_->why_off();
    before_ = total_counts();
  }
  void TearDown() override {
    cache_.reset();
    EXPECT_EQ(registrar_.live(), 0U);
    EXPECT_EQ(registrar_.used(), 0U);
  }

  void make(const RegistrationCacheOptions& options) {
    cache_ = RegistrationCache::create(registrar_, options);
  }
  RegistrationCache::Use get(std::byte* address, std::size_t bytes) {
    auto use = cache_->get(address, bytes);
    if (!use.ok()) {
      ADD_FAILURE() << use.status().text();
      return {};
    }
    EXPECT_TRUE(registrar_.is_current(use->registered(), address, bytes)) << "stale";
    return std::move(use).value();
  }
  RegistrationCache::Use get_pages(std::byte* address, std::size_t pages) {
    return get(address, pages * page_bytes());
  }
  std::uint64_t counted(Counter counter) const {
    const auto index = static_cast<std::size_t>(counter);
    return total_counts()[index] - before_[index];
  }
  std::uint64_t hits() const { return counted(Counter::registration_hits); }
  std::uint64_t misses() const { return counted(Counter::registration_misses); }
  std::uint64_t evictions() const { return counted(Counter::registration_evictions); }
  std::uint64_t invalidations() const { return counted(Counter::registration_invalidations); }

  TagRegistrar registrar_;
  std::unique_ptr<RegistrationCache> cache_;
  std::array<std::uint64_t, kCounters> before_ = {};
};

}  // namespace librma
