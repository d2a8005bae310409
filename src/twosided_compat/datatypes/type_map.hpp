#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "mpi.h"
#include "twosided_compat/datatypes/predefined_types.hpp"

namespace librma::mpi {

/// A type map (MPI 4.1, section 5.1): the basic elements of a datatype and their displacements, in the order
/// in which a message has them. A map is a value that never changes, and copies share their memory.
///
/// A map is a tree of blocks of neighbouring elements, repetitions of a map, and lists of maps. So its memory
/// grows with the arrays that made it, and not with its counts. It has a normal form: neighbours of one type
/// are one block, and a list whose parts are alike and equally far apart is a repetition.
class TypeMap {
 public:
  /// Makes a map without elements.
  TypeMap() = default;
  /// Makes a map of `count` neighbouring elements of a type that is no pair.
  [[nodiscard]] static TypeMap block(const PredefinedType& element, MPI_Count count);
  /// Makes the map of a predefined datatype. A pair has two elements.
  [[nodiscard]] static TypeMap of(const PredefinedType& type);
  /// Makes the map of all parts, one behind the other.
  [[nodiscard]] static TypeMap joined(std::vector<TypeMap> parts);
  /// Returns the map whose displacements are greater by `distance` bytes.
  [[nodiscard]] TypeMap moved(MPI_Count distance) const;
  /// Returns the map that has this one `count` times, at a distance of `stride` bytes.
  [[nodiscard]] TypeMap repeated(MPI_Count count, MPI_Count stride) const;

  [[nodiscard]] bool empty() const { return node_ == nullptr; }
  /// Returns whether a number did not fit into an MPI_Count. Then the map must not be used.
  [[nodiscard]] bool overflows() const { return overflows_; }
  /// Returns the bytes of data.
  [[nodiscard]] MPI_Count size() const { return node_ != nullptr ? node_->size : 0; }
  /// Returns the number of basic elements: those that MPI_Get_elements counts.
  [[nodiscard]] MPI_Count elements() const { return node_ != nullptr ? node_->elements : 0; }
  /// Returns the number of blocks. They may touch each other.
  [[nodiscard]] MPI_Count blocks() const { return node_ != nullptr ? node_->blocks : 0; }
  /// Return the displacements of the first byte of data and of the end of the last one; 0 if there are no
  /// data.
  [[nodiscard]] MPI_Count low() const { return node_ != nullptr ? offset_ + node_->low : 0; }
  [[nodiscard]] MPI_Count high() const { return node_ != nullptr ? offset_ + node_->high : 0; }
  /// Returns whether the data are one block, which begins at low().
  [[nodiscard]] bool is_block() const { return node_ != nullptr && node_->kind == Kind::kBlock; }

  /// Calls visit(address, bytes, element) for the contiguous parts of bytes [from, to) of the data, in order.
  /// `base` is the address that displacements count from, as a number: with MPI_BOTTOM it is 0.
  template <class Visit>
  void visit(std::uintptr_t base, MPI_Count from, MPI_Count to, const Visit& visit) const;

  /// Returns the sum of bytes_of(element) over all basic elements, for the sizes of another representation.
  template <class BytesOf>
  [[nodiscard]] MPI_Count sum(const BytesOf& bytes_of) const;

  /// Returns how many basic elements the first `bytes` bytes are; no value if they end within an element.
  [[nodiscard]] std::optional<MPI_Count> elements_in(MPI_Count bytes) const;
  /// Returns the bytes of the first `count` basic elements, of which there are not more than elements().
  [[nodiscard]] MPI_Count bytes_of(MPI_Count count) const;

  /// A repetition of contiguous memory along dimensions, the innermost first.
  struct Dimension {
    MPI_Count count;
    MPI_Count stride;
  };
  struct Grid {
    MPI_Count start = 0;  ///< the displacement of the first byte
    MPI_Count bytes = 0;  ///< of a contiguous part
    std::vector<Dimension> dimensions;
  };
  /// Returns the map as a grid, or no value if it has a list or is empty.
  [[nodiscard]] std::optional<Grid> grid() const;

 private:
  enum class Kind : std::uint8_t { kBlock, kRepetition, kList };
  struct Node {
    Kind kind = Kind::kBlock;
    const PredefinedType* element = nullptr;  ///< of a block
    MPI_Count count = 0;                      ///< of a block's elements or of repetitions
    MPI_Count stride = 0;                     ///< of repetitions
    MPI_Count size = 0;
    MPI_Count elements = 0;
    MPI_Count blocks = 1;
    MPI_Count low = 0;
    MPI_Count high = 0;
    std::vector<TypeMap> parts;   ///< of a list; the one part of a repetition, which has the offset 0
    std::vector<MPI_Count> ends;  ///< of a list's parts: the bytes of data up to each one's end
  };

  /// Does as visit() does, for a part of a repetition or a list and `from` < `to`. A block, as most parts
  /// are, costs no call: visit() calls itself, so compilers do not inline it.
  template <class Visit>
  void visit_as_part(std::uintptr_t base, MPI_Count from, MPI_Count to, const Visit& visit) const;
  /// Returns whether the maps differ by a distance only.
  [[nodiscard]] bool is_like(const TypeMap& other) const;
  /// Makes this map the one of itself and of `next` behind it, if that is a block as well.
  [[nodiscard]] bool absorb(const TypeMap& next);
  [[nodiscard]] static std::size_t part_at(const Node& list, MPI_Count byte) {
    return static_cast<std::size_t>(std::upper_bound(list.ends.begin(), list.ends.end(), byte) -
                                    list.ends.begin());
  }

  MPI_Count offset_ = 0;
  std::shared_ptr<const Node> node_;  // null: no elements
  bool overflows_ = false;
};

template <class Visit>
void TypeMap::visit(std::uintptr_t base, MPI_Count from, MPI_Count to, const Visit& visit) const {
  if (from >= to) return;
  const Node& node = *node_;
  // The arithmetic is that of addresses, which wraps: displacements may be negative.
  base += static_cast<std::uintptr_t>(offset_);
  switch (node.kind) {
    case Kind::kBlock:
      visit(reinterpret_cast<std::byte*>(base + static_cast<std::uintptr_t>(from)), to - from, *node.element);
      return;
    case Kind::kRepetition: {
      const TypeMap& part = node.parts.front();
      const MPI_Count size = part.node_->size;  // a part is never empty
      const MPI_Count first = from / size;
      base += static_cast<std::uintptr_t>(first) * static_cast<std::uintptr_t>(node.stride);
      from -= first * size;
      to -= first * size;
      for (; to > 0; to -= size, from = 0, base += static_cast<std::uintptr_t>(node.stride)) {
        part.visit_as_part(base, from, std::min(size, to), visit);
      }
      return;
    }
    case Kind::kList: {
      std::size_t i = part_at(node, from);
      for (MPI_Count begin = i == 0 ? 0 : node.ends[i - 1]; i < node.parts.size() && begin < to; ++i) {
        const MPI_Count end = node.ends[i];
        node.parts[i].visit_as_part(base, std::max<MPI_Count>(from - begin, 0), std::min(to, end) - begin,
                                    visit);
        begin = end;
      }
      return;
    }
  }
}

template <class Visit>
void TypeMap::visit_as_part(std::uintptr_t base, MPI_Count from, MPI_Count to, const Visit& visit) const {
  if (node_->kind != Kind::kBlock) return this->visit(base, from, to, visit);
  base += static_cast<std::uintptr_t>(offset_) + static_cast<std::uintptr_t>(from);
  visit(reinterpret_cast<std::byte*>(base), to - from, *node_->element);
}

template <class BytesOf>
MPI_Count TypeMap::sum(const BytesOf& bytes_of) const {
  if (node_ == nullptr) return 0;
  if (node_->kind == Kind::kBlock) return node_->count * bytes_of(*node_->element);
  MPI_Count sum = 0;
  for (const TypeMap& part : node_->parts) sum += part.sum(bytes_of);
  return node_->kind == Kind::kRepetition ? node_->count * sum : sum;
}

}  // namespace librma::mpi
