#include "util/copying/copy_table.hpp"

#include <algorithm>

namespace librma {
namespace internal {
namespace {

constexpr std::array<BlockCopy, kCopyClasses> all_by_library() {
  std::array<BlockCopy, kCopyClasses> row = {};
  for (BlockCopy& copy : row) copy = copy_by_library;
  return row;
}

}  // namespace

constinit std::array<std::array<BlockCopy, kCopyClasses>, 2> copies_in_use = {all_by_library(),
                                                                              all_by_library()};

}  // namespace internal

namespace {

template <typename Predicate>
bool all_of_table(const CopyTable& table, Predicate&& good) {
  return std::all_of(table.methods.begin(), table.methods.end(),
                     [&](const CopyTable::Row& row) { return std::all_of(row.begin(), row.end(), good); });
}

}  // namespace

CopyTable CopyTable::of(CopyMethod method) {
  CopyTable table;
  for (Row& row : table.methods) row.fill(method);
  return table;
}

bool CopyTable::well_formed() const {
  return all_of_table(*this, [](CopyMethod method) { return method < CopyMethod::count_; });
}

bool CopyTable::usable() const {
  return all_of_table(*this, [](CopyMethod method) { return block_copy(method) != nullptr; });
}

void use_copies(const CopyTable& table) {
  for (std::size_t alike = 0; alike < table.methods.size(); ++alike) {
    for (std::size_t size_class = 0; size_class < kCopyClasses; ++size_class) {
      std::atomic_ref(internal::copies_in_use[alike][size_class])
          .store(block_copy(table.methods[alike][size_class]), std::memory_order_relaxed);
    }
  }
}

}  // namespace librma
