#include "core/job/process_card.hpp"

#include <cstring>
#include <limits>
#include <type_traits>

#include "util/range_check.hpp"
#include "util/text.hpp"

namespace librma {
namespace {

static_assert(std::is_trivially_copyable_v<ProcessCard::Head> &&
                  sizeof(ProcessCard::Head) == 64 + sizeof(transport::HostCard) + 16 * kServices + 32,
              "the head is its own wire format: no padding");
static_assert(sizeof(ProcessCard::Head) == 344);

/// The header of each rail. The name and the transport's card follow it.
struct RailHeader {
  std::uint64_t directory_key = 0;
  std::uint32_t name_bytes = 0;
  std::uint32_t card_bytes = 0;
};
static_assert(sizeof(RailHeader) == 16);

void append(std::vector<std::byte>& to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  const std::size_t end = to.size();
  to.resize(end + bytes);
  std::memcpy(to.data() + end, from, bytes);
}

/// Takes the first `bytes` off `from`. Returns whether there were so many.
bool take(std::span<const std::byte>& from, std::size_t bytes, std::span<const std::byte>* taken) {
  if (from.size() < bytes) return false;
  *taken = from.first(bytes);
  from = from.subspan(bytes);
  return true;
}

bool decode_rail(std::span<const std::byte>& from, ProcessCard::Rail* rail) {
  std::span<const std::byte> taken;
  if (!take(from, sizeof(RailHeader), &taken)) return false;
  RailHeader header;
  std::memcpy(&header, taken.data(), sizeof header);
  rail->directory_key = header.directory_key;
  if (!take(from, header.name_bytes, &taken)) return false;
  rail->name.assign(reinterpret_cast<const char*>(taken.data()), taken.size());
  if (!take(from, header.card_bytes, &taken)) return false;
  rail->card.assign(taken.begin(), taken.end());
  return !rail->name.empty();
}

bool decode_settings(std::span<const std::byte>& from, JobSettings* settings) {
  std::span<const std::byte> taken;
  std::uint64_t bytes = 0;
  if (!take(from, sizeof bytes, &taken)) return false;
  std::memcpy(&bytes, taken.data(), sizeof bytes);
  return take(from, bytes, &taken) && settings->take(taken);
}

bool sensible(const ProcessCard::Head& head) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  bool good = head.base != 0 && head.base <= kMost - head.bytes && head.alias_bytes <= head.bytes &&
              head.base + head.bytes <= kMost - head.process_heap_bytes;
  for (const ServiceBlock& block : head.services) {
    good = good && block.offset % ProcessCard::kBlockAlignment == 0 &&
           range_contains(head.bytes, block.offset, block.bytes);
  }
  return good && head.copies.well_formed() && static_cast<std::size_t>(head.network) < kNetworkNames.size();
}

}  // namespace

Status ProcessCard::check_network(const ProcessCard& theirs, int self, int other) const {
  const NetworkSetting mine = head.network;
  const NetworkSetting their = theirs.head.network;
  if (mine == their || mine == NetworkSetting::off || their == NetworkSetting::off) return {};
  return {RMA_ERR_SETTING,
          text("the network of rank {} is {}, and that of rank {} is {}, because only one of their hosts has "
               "a usable RDMA device (rma-info --devices): set RMA_NETWORK=ofi on all ranks",
               self, network_name(mine), other, network_name(their))};
}

std::vector<std::byte> ProcessCard::encode() const {
  std::vector<std::byte> card;
  Head front = head;
  front.local_bytes = local.size();
  append(card, &front, sizeof front);
  const std::span<const std::byte> agreed = settings.bytes();
  const std::uint64_t agreed_bytes = agreed.size();
  append(card, &agreed_bytes, sizeof agreed_bytes);
  append(card, agreed.data(), agreed.size());
  append(card, local.data(), local.size());
  for (const Rail& rail : rails) {
    const RailHeader header = {.directory_key = rail.directory_key,
                               .name_bytes = static_cast<std::uint32_t>(rail.name.size()),
                               .card_bytes = static_cast<std::uint32_t>(rail.card.size())};
    append(card, &header, sizeof header);
    append(card, rail.name.data(), rail.name.size());
    append(card, rail.card.data(), rail.card.size());
  }
  return card;
}

Result<ProcessCard> ProcessCard::decode(std::span<const std::byte> bytes, int rank) {
  ProcessCard card;
  constexpr std::size_t kFirst = offsetof(Head, pid);
  if (bytes.size() < kFirst) return Status(RMA_ERR_LAUNCH, text("rank {}'s card is cut short", rank));
  std::memcpy(static_cast<void*>(&card.head), bytes.data(), kFirst);
  if (card.head.magic != kMagic || card.head.version != kVersion) {
    return Status(RMA_ERR_VERSION, text("rank {} runs another librma (format {}; this is format {}): run all "
                                        "ranks with the same library",
                                        rank, card.head.version, std::uint32_t{kVersion}));
  }
  std::span<const std::byte> taken;
  bool good = take(bytes, sizeof card.head, &taken);
  if (good) std::memcpy(static_cast<void*>(&card.head), taken.data(), sizeof card.head);
  good = good && sensible(card.head) && decode_settings(bytes, &card.settings) &&
         take(bytes, card.head.local_bytes, &taken);
  if (good) card.local.assign(taken.begin(), taken.end());
  while (good && !bytes.empty()) {
    good = card.rails.size() < kMaxRails && decode_rail(bytes, &card.rails.emplace_back());
  }
  if (!good) return Status(RMA_ERR_LAUNCH, text("rank {}'s card is damaged", rank));
  return card;
}

}  // namespace librma
