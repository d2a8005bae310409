#include "collectives/members/host_map.hpp"

namespace librma {

HostMap::HostMap(int members)
    : leaders_(static_cast<std::size_t>(members)),
      host_(leaders_.size()),
      place_(leaders_.size()),
      order_(leaders_.size()),
      before_(leaders_.size() + 1) {}

bool HostMap::order_members() {
  const auto index = [](int number) { return static_cast<std::size_t>(number); };
  hosts_ = 0;
  // before_[h] first counts the members of host h.
  for (int member = 0; member < members(); ++member) {
    const int leader = leaders_[index(member)];
    const bool leads = leader == member;
    if (!leads && (leader < 0 || leader > member || leaders_[index(leader)] != leader)) return false;
    if (leads) before_[index(hosts_)] = 0;
    const int host = leads ? hosts_++ : host_[index(leader)];
    host_[index(member)] = host;
    place_[index(member)] = before_[index(host)]++;
  }
  even_ = true;
  int count = 0;
  for (int host = 0; host < hosts_; ++host) {
    const int size = before_[index(host)];
    even_ = even_ && size * hosts_ == members();
    before_[index(host)] = count;
    count += size;
  }
  before_[index(hosts_)] = count;
  consecutive_ = true;
  for (int member = 0; member < members(); ++member) {
    const int position = before(host_of(member)) + place_of(member);
    order_[index(position)] = member;
    consecutive_ = consecutive_ && position == member;
  }
  return true;
}

}  // namespace librma
