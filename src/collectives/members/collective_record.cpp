#include "collectives/members/collective_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace librma {
namespace {

constexpr std::array kKinds = {"a barrier",   "a broadcast",       "a gather",
                               "a scatter",   "an allgather",      "an all-to-all",
                               "a reduction", "an allreduction",   "a reduce-scatter",
                               "a scan",      "an exclusive scan", "an exchange with neighbors"};

void store(std::array<char, 48>& field, std::string_view text) {
  std::copy_n(text.begin(), std::min(text.size(), field.size() - 1), field.begin());
}
std::string_view text_of(const std::array<char, 48>& field) {
  return {field.begin(), std::find(field.begin(), field.end(), '\0')};
}

bool is_rooted(rma_collective_kind_t kind) {
  return kind == RMA_COLLECTIVE_BROADCAST || kind == RMA_COLLECTIVE_GATHER ||
         kind == RMA_COLLECTIVE_SCATTER || kind == RMA_COLLECTIVE_REDUCE;
}
bool is_reduction(rma_collective_kind_t kind) {
  return kind >= RMA_COLLECTIVE_REDUCE && kind <= RMA_COLLECTIVE_EXSCAN;
}

/// Mixes a size into a hash (FNV-1a).
void mix_size(std::uint64_t& hash, std::uint64_t value) {
  constexpr std::uint64_t kPrime = 0x100000001b3;
  hash = (hash ^ value) * kPrime;
}
constexpr std::uint64_t kHashBegin = 0xcbf29ce484222325;

/// The sizes that the operation's members agree on.
void store_sizes(CollectiveRecord& record, const rma_collective_t& collective, int members) {
  const bool two_groups = collective.first_group != 0;
  if (is_reduction(collective.kind)) {
    record.element_bytes = collective.reducer.element_bytes;
    if (collective.reduction != nullptr) store(record.reduction, collective.reduction);
    const bool divided = collective.kind == RMA_COLLECTIVE_REDUCE_SCATTER;
    if (!divided || (collective.counts == nullptr && !two_groups)) record.elements = collective.count;
    if (!divided || collective.counts == nullptr || two_groups) return;
    record.sizes = kHashBegin;
    for (int member = 0; member < members; ++member) mix_size(record.sizes, collective.counts[member]);
    return;
  }
  if (collective.kind == RMA_COLLECTIVE_BROADCAST || collective.uneven == 0) {
    record.bytes = collective.bytes;
  } else if (collective.kind == RMA_COLLECTIVE_ALLGATHER && !two_groups) {
    record.sizes = kHashBegin;
    for (int member = 0; member < members; ++member)
      mix_size(record.sizes, collective.dst_blocks[member].bytes);
  }
}

bool both_know(std::uint64_t one, std::uint64_t other) {
  return one != CollectiveRecord::kAny && other != CollectiveRecord::kAny;
}

}  // namespace

CollectiveRecord CollectiveRecord::of(const rma_collective_t& collective, Form form, int members) {
  constexpr std::string_view kNonblocking = "_nb";
  CollectiveRecord record;
  std::string_view name =
      collective.name != nullptr ? collective.name : kKinds[static_cast<std::size_t>(collective.kind)];
  if (name.ends_with(kNonblocking)) name.remove_suffix(kNonblocking.size());
  store(record.name, name);
  record.kind = collective.kind;
  record.form = static_cast<std::int32_t>(form);
  record.first_group = collective.first_group;
  record.uneven = collective.uneven != 0 ? 1 : 0;
  // Other members of the root's group know neither the root nor any size.
  const bool knows = !is_rooted(collective.kind) || collective.root >= 0;
  if (is_rooted(collective.kind)) record.root = collective.root;
  const bool sized = collective.kind != RMA_COLLECTIVE_BARRIER && collective.kind != RMA_COLLECTIVE_NEIGHBORS;
  if (knows && sized) store_sizes(record, collective, members);
  return record;
}

std::string CollectiveRecord::description() const {
  std::string text(text_of(name));
  if (form == static_cast<std::int32_t>(Form::nonblocking)) text += " (nonblocking)";
  if (form == static_cast<std::int32_t>(Form::persistent)) text += " (persistent)";
  const char* separator = " with ";
  const auto add = [&](const std::string& part) {
    text += separator;
    text += part;
    separator = ", ";
  };
  if (root >= 0) add(fmt::format("root {}", root));
  if (first_group != 0) add(fmt::format("{} members in the first group", first_group));
  if (bytes != kAny) add(fmt::format("{} bytes", bytes));
  if (elements != kAny) add(fmt::format("{} elements", elements));
  if (element_bytes != kAny) add(fmt::format("{} bytes in an element", element_bytes));
  if (reduction[0] != '\0') add(fmt::format("the operation {}", text_of(reduction)));
  if (sizes != kAny) add(fmt::format("block sizes {:016x}", sizes));
  return text;
}

bool CollectiveRecord::agrees_with(const CollectiveRecord& other) const {
  if (name != other.name || kind != other.kind || form != other.form || first_group != other.first_group ||
      uneven != other.uneven) {
    return false;
  }
  if (root >= 0 && other.root >= 0 && root != other.root) return false;
  if (both_know(bytes, other.bytes) && bytes != other.bytes) return false;
  if (both_know(elements, other.elements) && elements != other.elements) return false;
  if (both_know(element_bytes, other.element_bytes) && element_bytes != other.element_bytes) return false;
  if (both_know(sizes, other.sizes) && sizes != other.sizes) return false;
  return reduction[0] == '\0' || other.reduction[0] == '\0' || reduction == other.reduction;
}

Status compare(std::span<const CollectiveRecord> by_member) {
  // In the root's group of an operation between two groups only the root knows what the others have to agree
  // on.
  const auto informed =
      std::ranges::find_if(by_member, [](const CollectiveRecord& record) { return record.root >= 0; });
  const std::size_t second =
      informed == by_member.end() ? 0 : static_cast<std::size_t>(informed - by_member.begin());
  for (std::size_t member = 0; member < by_member.size(); ++member) {
    for (const std::size_t reference : {std::size_t{0}, second}) {
      if (by_member[member].agrees_with(by_member[reference])) continue;
      return {
          RMA_ERR_ARGUMENT,
          fmt::format(
              "the members of the team make different collective calls: rank {} of the team calls {}, rank "
              "{} calls {}",
              member, by_member[member].description(), reference, by_member[reference].description())};
    }
  }
  return {};
}

}  // namespace librma
