#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace librma::transport {

/// A secret of 128 bits.
using Secret = std::array<std::byte, 16>;

/// Returns SipHash-2-4 of `data` under `secret`. Nobody can compute it without the secret (J.-P. Aumasson and
/// D. J. Bernstein, SipHash: a fast short-input PRF, 2012).
[[nodiscard]] std::uint64_t siphash(const Secret& secret, std::span<const std::byte> data);

}  // namespace librma::transport
