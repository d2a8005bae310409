// Sends arbitrary two-sided messages of one process to another one, which has sends and receives of every
// kind under way. MessageWorld says what must hold afterwards.
//
// The first byte of an input chooses how the messages go and the protocol for long ones.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "hostile/message_world.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  constexpr std::array<std::string_view, 4> kRendezvous = {"copy", "read", "pipeline", "caching_pipeline"};
  using librma::hostile::MessagePath;
  const std::span<const std::uint8_t> input(data, size);
  const unsigned way = input[0] % (kRendezvous.size() + 1);
  librma::hostile::MessageWorld world(way == kRendezvous.size() ? MessagePath::rings : MessagePath::channel,
                                      kRendezvous[way % kRendezvous.size()]);
  world.run(input.subspan(1));
  world.check();
  return 0;
}
