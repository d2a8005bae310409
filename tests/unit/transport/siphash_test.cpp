#include "transport/wireup/siphash.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace librma::transport {
namespace {

/// The bytes 0, 1, 2...
std::vector<std::byte> counted(std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i);
  return bytes;
}

Secret counted_secret() {
  Secret secret = {};
  for (std::size_t i = 0; i < secret.size(); ++i) secret[i] = static_cast<std::byte>(i);
  return secret;
}

struct Vector {
  std::size_t bytes;
  std::uint64_t hash;
};

TEST(SipHash, GivesThePublishedValues) {
  // From the paper (15 bytes), and from the authors' reference program.
  constexpr std::array kVectors = {Vector{0, 0x726fdb47dd0e0e31},  Vector{1, 0x74f839c593dc67fd},
                                   Vector{7, 0xab0200f58b01d137},  Vector{8, 0x93f5f5799a932462},
                                   Vector{15, 0xa129ca6149be45e5}, Vector{63, 0x958a324ceb064572}};
  for (const auto& [bytes, hash] : kVectors) {
    EXPECT_EQ(siphash(counted_secret(), counted(bytes)), hash) << bytes << " bytes";
  }
}

TEST(SipHash, DependsOnEveryBitOfItsSecret) {
  const auto data = counted(20);
  const std::uint64_t hash = siphash(counted_secret(), data);
  for (std::size_t bit = 0; bit < 8 * sizeof(Secret); ++bit) {
    Secret other = counted_secret();
    other[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_NE(siphash(other, data), hash) << "bit " << bit;
  }
}

}  // namespace
}  // namespace librma::transport
