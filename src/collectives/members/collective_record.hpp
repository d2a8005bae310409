#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "rma/collectives.h"
#include "util/status.hpp"

namespace librma {

/// The operation, the root, the sizes and the reduction of a member's collective call. With
/// RMA_CHECK_COLLECTIVES the members exchange records before the operation, and compare them. A record
/// travels as it is, so all members have the same build.
struct CollectiveRecord {
  enum class Form : std::uint8_t { blocking, nonblocking, persistent };

  [[nodiscard]] static CollectiveRecord of(const rma_collective_t& collective, Form form, int members);

  /// Describes the call, such as "MPI_Bcast with root 1, 40 bytes".
  [[nodiscard]] std::string description() const;
  /// Returns whether the two members' calls are parts of one operation, as far as both records tell.
  [[nodiscard]] bool agrees_with(const CollectiveRecord& other) const;

  /// A size that the members need not agree on, or that this member does not know.
  static constexpr std::uint64_t kAny = UINT64_MAX;

  std::array<char, 48> name = {};       ///< of the call; it ends at a null character, if there is one
  std::array<char, 48> reduction = {};  ///< empty if the caller gave no name
  std::int32_t kind = 0;
  std::int32_t form = 0;
  std::int32_t root = -1;  ///< -1 if the operation has no root, or if the root is in the other group
  std::int32_t first_group = 0;
  std::int32_t uneven = 0;
  std::int32_t reserved = 0;
  std::uint64_t bytes = kAny;     ///< of each block
  std::uint64_t elements = kAny;  ///< of a reduction
  std::uint64_t element_bytes = kAny;
  std::uint64_t sizes = kAny;  ///< a hash of the sizes of all blocks, if all members know these
};

/// Returns RMA_ERR_ARGUMENT if the calls of two members do not agree. The text names both. All members that
/// compare the same records get the same text.
[[nodiscard]] Status compare(std::span<const CollectiveRecord> by_member);

}  // namespace librma
