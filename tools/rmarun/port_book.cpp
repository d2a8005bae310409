#include "rmarun/port_book.hpp"

#include <algorithm>
#include <iterator>

namespace rmarun {

std::uint32_t PortBook::open() {
  ports_.emplace(++last_, Port());
  return last_;
}

std::optional<std::vector<PortBook::Waiting>> PortBook::close(std::uint32_t port) {
  const auto found = ports_.find(port);
  if (found == ports_.end()) return std::nullopt;
  std::vector<Waiting> waiting = std::move(found->second.waiting);
  ports_.erase(found);
  return waiting;
}

std::optional<PortBook::Waiting> PortBook::meet(std::uint32_t number, Side side, Waiting mine) {
  Port& port = ports_.at(number);
  if (port.waiting.empty() || port.side == side) {
    port.side = side;
    port.waiting.push_back(std::move(mine));
    return std::nullopt;
  }
  Waiting other = std::move(port.waiting.front());
  port.waiting.erase(port.waiting.begin());
  return other;
}

Deadline PortBook::next_deadline() const {
  Deadline next;
  for (const auto& [number, port] : ports_) {
    for (const Waiting& each : port.waiting) next = earliest({next, each.until});
  }
  return next;
}

std::vector<PortBook::Waiting> PortBook::take_overdue(std::chrono::steady_clock::time_point now) {
  std::vector<Waiting> overdue;
  for (auto& [number, port] : ports_) {
    const auto taken =
        std::stable_partition(port.waiting.begin(), port.waiting.end(),
                              [&](const Waiting& each) { return !each.until || *each.until > now; });
    std::move(taken, port.waiting.end(), std::back_inserter(overdue));
    port.waiting.erase(taken, port.waiting.end());
  }
  return overdue;
}

void PortBook::forget(const librma::Descriptor& socket) {
  for (auto& [number, port] : ports_)
    std::erase_if(port.waiting, [&](const Waiting& each) { return each.socket.get() == &socket; });
}

std::optional<std::string> PortBook::look_up(const std::string& name) const {
  const auto found = names_.find(name);
  if (found == names_.end()) return std::nullopt;
  return found->second;
}

}  // namespace rmarun
