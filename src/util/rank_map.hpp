#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

namespace librma {

/// The ranks of a group's members, in the members' order, which lie elsewhere: in a list, or nowhere because
/// they are a first one and every `stride`-th one behind it.
class RankView {
 public:
  RankView() = default;
  RankView(std::span<const int> ranks)  // NOLINT(google-explicit-constructor): as a span of a list
      : size_(static_cast<int>(ranks.size())),
        first_(ranks.empty() ? 0 : ranks.front()),
        table_(ranks.data()) {}
  RankView(const std::vector<int>& ranks)  // NOLINT(google-explicit-constructor)
      : RankView(std::span<const int>(ranks)) {}
  /// `size` members from the rank `first` on, each `stride` behind the one before.
  RankView(int first, int stride, int size) : size_(size), first_(first), stride_(stride) {}

  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] int operator[](int member) const {
    if (table_ != nullptr) [[unlikely]]  // most groups have none (RankMap)
      return table_[member];
    return first_ + member * stride_;
  }
  /// Returns the rank of member 0. There is one.
  [[nodiscard]] int front() const { return first_; }
  [[nodiscard]] std::vector<int> list() const { return {begin(), end()}; }

  class Iterator {
   public:
    using value_type = int;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;
    using pointer = const int*;
    using reference = int;

    Iterator() = default;
    Iterator(const RankView& ranks, int member) : ranks_(&ranks), member_(member) {}
    int operator*() const { return (*ranks_)[member_]; }
    Iterator& operator++() {
      ++member_;
      return *this;
    }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++member_;
      return before;
    }
    bool operator==(const Iterator&) const = default;

   private:
    const RankView* ranks_ = nullptr;
    int member_ = 0;
  };
  [[nodiscard]] Iterator begin() const { return {*this, 0}; }
  [[nodiscard]] Iterator end() const { return {*this, size_}; }

 private:
  int size_ = 0;
  int first_ = 0;
  int stride_ = 1;
  const int* table_ = nullptr;
};

/// The ranks of a group's members, in the members' order. It never changes.
///
/// Most groups have the whole job, or every n-th rank from one on. Then the map takes no memory. All others
/// have a table.
class RankMap {
 public:
  /// Makes a map of these ranks, which are all different.
  explicit RankMap(std::vector<int> ranks) {
    if (ranks.empty()) return;
    const auto size = static_cast<int>(ranks.size());
    const int stride = size < 2 ? 1 : ranks[1] - ranks[0];
    const auto apart = [stride](int one, int next) { return next - one != stride; };
    if (std::adjacent_find(ranks.begin(), ranks.end(), apart) == ranks.end()) {
      stride_ = stride;
      view_ = RankView(ranks.front(), stride, size);
    } else {
      table_ = std::move(ranks);
      view_ = RankView(table_);
    }
  }
  /// `size` members from the rank `first` on, each `stride` (not 0) behind the one before.
  RankMap(int first, int stride, int size) : stride_(stride), view_(first, stride, size) {}
  RankMap(const RankMap&) = delete;
  RankMap& operator=(const RankMap&) = delete;
  ~RankMap() = default;

  [[nodiscard]] const RankView& view() const { return view_; }
  [[nodiscard]] int size() const { return view_.size(); }
  [[nodiscard]] int operator[](int member) const { return view_[member]; }
  /// Returns the distance of the ranks, or 0 if there is a table.
  [[nodiscard]] int stride() const { return stride_; }

  [[nodiscard]] bool operator==(const RankMap& other) const {
    if (size() != other.size()) return false;
    if (stride_ == 0 || other.stride_ == 0) return table_ == other.table_;
    // A single member has no stride of its own.
    return size() == 0 ||
           (view_.front() == other.view_.front() && view_[size() - 1] == other.view_[size() - 1]);
  }

 private:
  int stride_ = 0;
  std::vector<int> table_;
  RankView view_;
};

}  // namespace librma
