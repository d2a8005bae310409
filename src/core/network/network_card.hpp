#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/network/remote_memory.hpp"
#include "util/status.hpp"

namespace librma {

/// The data about a rank that the network needs to connect with it.
struct NetworkCard {
  struct Rail {
    std::string name;
    std::vector<std::byte> card;  ///< the transport's card
  };
  std::vector<Rail> rails;
  DirectoryPlace directory;
};

/// Returns the card of a rank.
using NetworkCardSource = std::function<Result<NetworkCard>(int rank)>;

}  // namespace librma
