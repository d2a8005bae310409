#include "transport/wireup/siphash.hpp"

#include <bit>
#include <cstring>

namespace librma::transport {
namespace {

static_assert(std::endian::native == std::endian::little, "words are hashed as they lie in memory");

struct State {
  std::uint64_t v0;
  std::uint64_t v1;
  std::uint64_t v2;
  std::uint64_t v3;

  void round() {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }

  void absorb(std::uint64_t word) {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  }
};

}  // namespace

std::uint64_t siphash(const Secret& secret, std::span<const std::byte> data) {
  std::array<std::uint64_t, 2> key = {};
  std::memcpy(key.data(), secret.data(), secret.size());
  State state = {.v0 = key[0] ^ 0x736f6d6570736575,
                 .v1 = key[1] ^ 0x646f72616e646f6d,
                 .v2 = key[0] ^ 0x6c7967656e657261,
                 .v3 = key[1] ^ 0x7465646279746573};
  const std::uint64_t length = data.size();
  while (data.size() >= sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, data.data(), sizeof word);
    state.absorb(word);
    data = data.subspan(sizeof word);
  }
  // The last word holds the remaining bytes, and the length in its highest byte.
  std::uint64_t last = 0;
  if (!data.empty()) std::memcpy(&last, data.data(), data.size());
  state.absorb(last | length << 56U);
  state.v2 ^= 0xff;
  for (int i = 0; i < 4; ++i) state.round();
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

}  // namespace librma::transport
