#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace librma {

/// Says which members of a team are on which host. Hosts are numbered in the order of their *leaders*, the
/// first member of each. The members of a host have places there, from 0, in the order of the team.
class HostMap {
 public:
  /// All members of a team of `members`. Throws std::bad_alloc; no other call needs memory.
  explicit HostMap(int members);

  /// Sets the hosts: `leader(member)` returns the leader of the member's host. Returns false if these are no
  /// leaders.
  template <typename Leader>
  [[nodiscard]] bool fill(const Leader& leader) {
    for (std::size_t member = 0; member < leaders_.size(); ++member) {
      leaders_[member] = leader(static_cast<int>(member));
    }
    return order_members();
  }

  [[nodiscard]] int members() const { return static_cast<int>(leaders_.size()); }
  [[nodiscard]] int hosts() const { return hosts_; }
  [[nodiscard]] int host_of(int member) const { return host_[static_cast<std::size_t>(member)]; }
  [[nodiscard]] int place_of(int member) const { return place_[static_cast<std::size_t>(member)]; }
  /// Returns the members of all hosts, one host after the other.
  [[nodiscard]] std::span<const int> order() const { return order_; }
  /// Returns how many of these come before those of `host`, which may be hosts().
  [[nodiscard]] int before(int host) const { return before_[static_cast<std::size_t>(host)]; }
  [[nodiscard]] int size_of(int host) const { return before(host + 1) - before(host); }
  [[nodiscard]] int leader_of(int host) const { return order_[static_cast<std::size_t>(before(host))]; }

  /// Returns whether the members of each host follow each other in the team.
  [[nodiscard]] bool consecutive() const { return consecutive_; }
  /// Returns whether all hosts have the same number of members.
  [[nodiscard]] bool even() const { return even_; }

 private:
  [[nodiscard]] bool order_members();

  std::vector<int> leaders_;  ///< by member, as host_ and place_
  std::vector<int> host_;
  std::vector<int> place_;
  std::vector<int> order_;
  std::vector<int> before_;  ///< by host
  int hosts_ = 0;
  bool consecutive_ = true;
  bool even_ = true;
};

}  // namespace librma
