#pragma once

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <mutex>

#include "fabric/registrar.hpp"

namespace librma {

/// A Registrar with a limit on the registered bytes. Fails the test if a registration is removed that
/// does not exist.
class LimitedRegistrar final : public Registrar {
 public:
  explicit LimitedRegistrar(std::size_t limit = std::numeric_limits<std::size_t>::max()) : left_(limit) {}

  [[nodiscard]] Result<Registered> add(std::byte* address, std::size_t bytes) override {
    const std::lock_guard guard(lock_);
    ++adds_;
    if (bytes > left_) return Status(RMA_ERR_NO_MEMORY, "the limit of locked memory");
    left_ -= bytes;
    const transport::Key key = ++last_key_;
    live_[key] = bytes;
    return Registered{.address = address, .bytes = bytes, .local = {key}, .remote = {key, key + 1000}};
  }
  void remove(const Registered& registered) override {
    const std::lock_guard guard(lock_);
    const auto found = live_.find(registered.local[0]);
    ASSERT_TRUE(found != live_.end());
    left_ += found->second;
    live_.erase(found);
  }

  [[nodiscard]] std::size_t live() const { return live_.size(); }
  [[nodiscard]] std::size_t adds() const { return adds_; }
  void set_limit(std::size_t left) { left_ = left; }

 private:
  std::mutex lock_;
  std::size_t left_;
  std::size_t adds_ = 0;
  transport::Key last_key_ = 0;
  std::map<transport::Key, std::size_t> live_;
};

}  // namespace librma
