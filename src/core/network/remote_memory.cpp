#include "core/network/remote_memory.hpp"

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "malloc/directory_search.hpp"
#include "util/statistics.hpp"
#include "util/text.hpp"
#include "util/try.hpp"

namespace librma {
namespace {

/// The most times that a directory is read again because it has changed meanwhile. A directory of a
/// RegionTable does not change so often.
constexpr int kMaxTries = 1000;

template <typename Leaf>
Region region_of(const Leaf& leaf, std::size_t at, const RailMatch& rails) {
  Region region;
  region.base = leaf.word(at, directory::kBase);
  region.bytes = leaf.word(at, directory::kBytes);
  region.generation = directory::generation_of(leaf.word(at, directory::kGenerationAndFlags));
  region.flags = directory::flags_of(leaf.word(at, directory::kGenerationAndFlags));
  for (std::size_t i = 0; i < kMaxRails; ++i) region.keys[i] = leaf.word(at, directory::kKeys + i);
  region.keys = rails.by_mine(region.keys);
  return region;
}

bool has_keys(const Region& region) {
  return std::any_of(region.keys.begin(), region.keys.end(), [](transport::Key key) { return key != 0; });
}

}  // namespace

// Regions overlap. The window's own entry, which has no key, contains all extents, and the user's regions may
// lie anywhere. A region with keys is better than any without. An extent with keys is best, because its entry
// stays valid.
std::optional<Region> RemoteMemory::known(std::uintptr_t address) const {
  std::optional<Region> found;
  directory::visit_covering(tree_, address, 1, [&](std::size_t /*number*/, const Leaf& leaf, std::size_t at) {
    const Region region = region_of(leaf, at, rails_);
    if (region.bytes > UINTPTR_MAX - region.base) return false;
    const bool is_better = has_keys(region);
    const bool is_best = is_better && (region.flags & kRegionExtent) != 0;
    if (is_best || !found || (is_better && !has_keys(*found))) found = region;
    return is_best;
  });
  return found;
}

bool RemoteMemory::covers(std::uintptr_t address, std::size_t bytes) const {
  const std::shared_lock guard(lock_);
  while (bytes > 0) {
    const std::optional<Region> region = known(address);
    if (!region) return false;
    const std::size_t inside = std::min<std::size_t>(bytes, region->base + region->bytes - address);
    address += inside;
    bytes -= inside;
  }
  return true;
}

Status RemoteMemory::read_words(Reader& reader, std::size_t at, std::span<std::uint64_t> words,
                                const RailKeys& keys) const {
  return reader.read(reinterpret_cast<std::byte*>(words.data()), place_.address + at * directory::kWord,
                     words.size_bytes(), keys);
}

Status RemoteMemory::read_root(Reader& reader, Tree& tree) const {
  const std::size_t root = geometry_.root_at(tree.version);
  // One read is enough for a list of the usual length.
  constexpr std::size_t kFirst = 32;
  std::vector<std::uint64_t> words(directory::kRootHeaderWords +
                                   std::min(kFirst, geometry_.leaves) * directory::kLeafWords);
  RMA_TRY(read_words(reader, root, words, place_.keys));
  const std::size_t count = std::min<std::uint64_t>(words.front(), geometry_.leaves);
  if (const std::size_t first = words.size(),
      all = directory::kRootHeaderWords + count * directory::kLeafWords;
      all > first) {
    words.resize(all);
    RMA_TRY(read_words(reader, root + first, std::span(words).subspan(first), place_.keys));
  }
  tree.chunks[0] = place_.keys;
  for (std::size_t chunk = 1; chunk < directory::kChunks; ++chunk) {
    RailKeys keys = {};
    std::copy_n(&words[directory::Geometry::chunk_keys_at(0, chunk)], kMaxRails, keys.begin());
    tree.chunks[chunk] = rails_.by_mine(keys);
  }
  const std::shared_lock guard(lock_);
  std::unordered_map<std::size_t, const Leaf*> by_block;
  for (const Leaf& leaf : tree_.list) by_block.emplace(leaf.block, &leaf);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t* const of_leaf = &words[directory::Geometry::leaf_at(0, i)];
    const auto place = directory::LeafPlace::of(of_leaf[directory::kLeafPlace]);
    if (place.block >= geometry_.blocks()) continue;
    Leaf leaf = {.base = of_leaf[directory::kLeafBase],
                 .end = of_leaf[directory::kLeafEnd],
                 .written = of_leaf[directory::kLeafWritten],
                 .block = place.block,
                 .entries = std::min(place.entries, directory::kLeafEntries),
                 .outer = place.outer,
                 .words = nullptr};
    if (const auto old = by_block.find(leaf.block); old != by_block.end()) {
      const Leaf& known = *old->second;
      if (known.written == leaf.written && known.entries == leaf.entries) leaf.words = known.words;
    }
    tree.list.push_back(std::move(leaf));
  }
  return {};
}

Status RemoteMemory::read_leaves(Reader& reader, Tree& tree) const {
  std::vector<std::uint64_t> words;
  for (std::size_t i = 0; i < tree.list.size();) {
    if (tree.list[i].words != nullptr) {
      ++i;
      continue;
    }
    // Leaves in neighbouring blocks of one chunk are read together.
    const std::size_t block = tree.list[i].block;
    const std::size_t chunk = directory::chunk_of(block);
    std::size_t end = i + 1;
    while (end < tree.list.size() && tree.list[end].words == nullptr &&
           tree.list[end].block == block + (end - i) && directory::chunk_of(tree.list[end].block) == chunk) {
      ++end;
    }
    if (tree.chunks[chunk] == RailKeys{}) return unregistered();
    words.resize((end - i - 1) * directory::kBlockWords +
                 tree.list[end - 1].entries * directory::kEntryWords);
    RMA_TRY(read_words(reader, geometry_.block_at(block), words, tree.chunks[chunk]));
    for (std::size_t leaf = i; leaf < end; ++leaf) {
      const auto* const first = words.data() + (leaf - i) * directory::kBlockWords;
      tree.list[leaf].words = std::make_shared<const std::vector<std::uint64_t>>(
          first, first + tree.list[leaf].entries * directory::kEntryWords);
    }
    i = end;
  }
  return {};
}

Status RemoteMemory::unregistered() const {
  return {RMA_ERR_UNSUPPORTED,
          text("rank {} could not register the list of its memory with the network: raise its "
               "limit of locked memory (ulimit -l)",
               rank_)};
}

Status RemoteMemory::refresh(Reader& reader) {
  librma::count(Counter::directory_read);
  for (int i = 0; i < kMaxTries; ++i) {
    Tree tree;
    std::uint64_t after = 0;
    RMA_TRY(read_words(reader, 0, {&tree.version, 1}, place_.keys));
    RMA_TRY(read_root(reader, tree));
    // A root that changes while it is read may name memory whose key was not there yet.
    Status leaves = read_leaves(reader, tree);
    if (!leaves.ok() && leaves.code() != RMA_ERR_UNSUPPORTED) return leaves;
    RMA_TRY(read_words(reader, 0, {&after, 1}, place_.keys));
    if (tree.version != after) continue;
    if (!leaves.ok()) return leaves;
    const std::unique_lock guard(lock_);
    tree_ = std::move(tree);
    return {};
  }
  return {RMA_ERR_STATE, text("the list of rank {}'s memory changes all the time", rank_)};
}

Result<RemoteRange> RemoteMemory::find(std::uintptr_t address, std::size_t bytes, Reader& reader) {
  std::optional<Region> region;
  std::uint64_t version = 0;
  {
    const std::shared_lock guard(lock_);
    region = known(address);
    version = tree_.version;
  }
  bool current = region && (region->flags & kRegionExtent) != 0;
  if (!current) {
    if (geometry_.leaves == 0 || place_.keys == RailKeys{}) return unregistered();
    std::uint64_t now = 0;
    if (region && has_keys(*region)) {
      RMA_TRY(read_words(reader, 0, {&now, 1}, place_.keys));
      current = now == version;
    }
  }
  if (!current) {
    RMA_TRY(refresh(reader));
    const std::shared_lock guard(lock_);
    region = known(address);
  }
  // A region without a key is the window or the user's. The owner can copy, if all of the memory is listed.
  if (!region || (!has_keys(*region) && !covers(address, bytes))) {
    return Status(RMA_ERR_ADDRESS,
                  text("{} bytes at {:#x} of rank {} are neither in its heap nor registered there "
                       "(rma_malloc, rma_malloc_local, rma_register)",
                       bytes, address, rank_));
  }
  if (!has_keys(*region)) {
    return Status(RMA_ERR_UNSUPPORTED,
                  text("{} bytes at {:#x} of rank {} are out of the network's reach: that memory is not "
                       "allocated, or could not be registered there; raise its limit of locked memory "
                       "(ulimit -l)",
                       bytes, address, rank_));
  }
  return RemoteRange{.bytes = region->bytes - (address - region->base),
                     .keys = region->keys,
                     .lasts = (region->flags & kRegionExtent) != 0};
}

}  // namespace librma
