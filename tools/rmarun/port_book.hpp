#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rmarun/deadlines.hpp"
#include "util/system/descriptor.hpp"

namespace rmarun {

/// The ports at which ranks of the job wait for each other, and the names that they have published. One rank
/// that accepts and one that connects are a pair, oldest first.
class PortBook {
 public:
  enum class Side : std::uint8_t { accepts, connects };
  /// A rank that waits at a port.
  struct Waiting {
    std::shared_ptr<librma::Descriptor> socket;
    std::vector<std::byte> sent;  ///< for the rank on the other side
    Deadline until = {};          ///< it waits no longer than that
  };

  /// Opens a port. Returns its number, which no port had before.
  std::uint32_t open();
  /// Closes a port. Returns those that wait there, or no value if no such port is open.
  std::optional<std::vector<Waiting>> close(std::uint32_t port);
  [[nodiscard]] bool is_open(std::uint32_t port) const { return ports_.contains(port); }
  /// Lets a rank wait at an open port. Returns the rank of the other side that has waited for it, if there is
  /// one: neither waits any more.
  std::optional<Waiting> meet(std::uint32_t port, Side side, Waiting mine);
  /// Returns when the next rank has waited long enough.
  [[nodiscard]] Deadline next_deadline() const;
  /// Takes out the ranks that have waited long enough at `now`.
  std::vector<Waiting> take_overdue(std::chrono::steady_clock::time_point now);
  /// Forgets a rank that waits no more.
  void forget(const librma::Descriptor& socket);

  /// Publishes a name. Returns false if it is published already.
  bool publish(const std::string& name, const std::string& value) {
    return names_.emplace(name, value).second;
  }
  [[nodiscard]] std::optional<std::string> look_up(const std::string& name) const;
  /// Returns false if the name is not published.
  bool unpublish(const std::string& name) { return names_.erase(name) != 0; }

 private:
  struct Port {
    Side side = Side::accepts;  ///< of those that wait
    std::vector<Waiting> waiting;
  };

  std::uint32_t last_ = 0;
  std::map<std::uint32_t, Port> ports_;
  std::map<std::string, std::string> names_;
};

}  // namespace rmarun
