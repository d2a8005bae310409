#pragma once

#include <cstddef>

#include "util/statistics.hpp"

namespace rma {

/// Counts bytes that were posted to `rail`.
inline void count_rail_bytes(std::size_t rail, std::size_t bytes) {
  count(static_cast<Counter>(static_cast<std::size_t>(Counter::rdma_bytes_rail0) + rail), bytes);
}

}  // namespace rma
