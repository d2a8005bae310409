#include "core/process_card.hpp"
#include "util/text.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

namespace rma {

static_assert(std::is_trivially_copyable_v<ProcessCard> &&
                  sizeof(ProcessCard) == 48 + 16 * kServices + 8 + (4 + 64 + 72) * kMaxRails,
              "the card is its own wire format: no padding");

void ProcessCard::name_rail(std::size_t rail, std::string_view name) {
  rail_names[rail].fill('\0');
  name.copy(rail_names[rail].data(), kRailNameBytes);
}

std::string ProcessCard::rail_name(std::size_t rail) const {
  const auto& name = rail_names[rail];
  return {name.begin(), std::find(name.begin(), name.end(), '\0')};
}

std::vector<std::byte> ProcessCard::encode() const {
  std::vector<std::byte> card(sizeof *this);
  std::memcpy(card.data(), this, sizeof *this);
  return card;
}

Result<ProcessCard> ProcessCard::decode(std::span<const std::byte> bytes, int rank) {
  ProcessCard card;
  constexpr std::size_t kHead = offsetof(ProcessCard, pid);
  if (bytes.size() < kHead) return Status(RMA_ERR_LAUNCH, text("rank {}'s card is cut short", rank));
  std::memcpy(static_cast<void*>(&card), bytes.data(), kHead);
  if (card.magic != kMagic || card.version != kVersion || bytes.size() != sizeof card) {
    return Status(
        RMA_ERR_VERSION,
        text("rank {} runs another librma (format {}, {} bytes; this is format {}, {} bytes): run all "
             "ranks with the same library",
             rank, card.version, bytes.size(), std::uint32_t{kVersion}, sizeof card));
  }
  std::memcpy(static_cast<void*>(&card), bytes.data(), sizeof card);
  bool sensible = card.rails <= kMaxRails && card.rail_card_bytes <= kRailCardBytes && card.base != 0 &&
                  card.base <= std::numeric_limits<std::uint64_t>::max() - card.bytes;
  for (const ServiceBlock& block : card.services) {
    sensible = sensible && block.offset % kBlockAlignment == 0 && block.bytes <= card.bytes &&
               block.offset <= card.bytes - block.bytes;
  }
  if (!sensible) return Status(RMA_ERR_LAUNCH, text("rank {}'s card is damaged", rank));
  return card;
}

}  // namespace rma
