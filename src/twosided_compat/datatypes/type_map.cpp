#include "twosided_compat/datatypes/type_map.hpp"

#include <utility>

#include "twosided_compat/binding/checked_arithmetic.hpp"

namespace librma::mpi {
namespace {

const PredefinedType& predefined_type(std::uintptr_t handle) {
  return *std::find_if(kPredefinedTypes.begin(), kPredefinedTypes.end(),
                       [&](const PredefinedType& type) { return type.handle == handle; });
}

/// Returns the types of the value and the index of a pair.
std::pair<std::uintptr_t, std::uintptr_t> parts_of_pair(std::uintptr_t handle) {
  switch (handle) {
    case number::kFloatInt:
      return {number::kFloat, number::kInt};
    case number::kDoubleInt:
      return {number::kDouble, number::kInt};
    case number::kLongInt:
      return {number::kLong, number::kInt};
    case number::kShortInt:
      return {number::kShort, number::kInt};
    case number::kLongDoubleInt:
      return {number::kLongDouble, number::kInt};
    case number::kTwoReal:
      return {number::kReal, number::kReal};
    case number::kTwoDoublePrecision:
      return {number::kDoublePrecision, number::kDoublePrecision};
    case number::kTwoInteger:
      return {number::kInteger, number::kInteger};
    default:
      return {number::kInt, number::kInt};
  }
}

}  // namespace

TypeMap TypeMap::block(const PredefinedType& element, MPI_Count count) {
  TypeMap map;
  if (count == 0 || element.size == 0) return map;
  auto node = std::make_shared<Node>();
  node->element = &element;
  node->count = count;
  node->elements = count;
  node->size = times(count, element.size, map.overflows_);
  node->high = node->size;
  map.node_ = std::move(node);
  return map;
}

TypeMap TypeMap::of(const PredefinedType& type) {
  if (type.type_class != TypeClass::kPair) return block(type, 1);
  const auto [value, index] = parts_of_pair(type.handle);
  const MPI_Count size = predefined_type(index).size;
  const MPI_Count distance = std::max<MPI_Count>(predefined_type(value).size, size);  // the index is aligned
  return joined({block(predefined_type(value), 1), block(predefined_type(index), 1).moved(distance)});
}

TypeMap TypeMap::moved(MPI_Count distance) const {
  TypeMap map = *this;
  if (empty()) return map;
  map.offset_ = plus(offset_, distance, map.overflows_);
  static_cast<void>(plus(map.offset_, node_->low, map.overflows_));
  static_cast<void>(plus(map.offset_, node_->high, map.overflows_));
  return map;
}

TypeMap TypeMap::repeated(MPI_Count count, MPI_Count stride) const {
  if (count == 0 || empty()) return {};
  if (count == 1) return *this;
  TypeMap map;
  map.offset_ = offset_;
  map.overflows_ = overflows_;
  auto node = std::make_shared<Node>();
  TypeMap part = *this;
  part.offset_ = 0;
  bool differs = false;  // whether the numbers of the joined repetitions do not fit: then they stay apart
  if (node_->kind == Kind::kBlock && stride == node_->size) {
    node->element = node_->element;
    node->count = times(node_->count, count, map.overflows_);
  } else if (node_->kind == Kind::kRepetition && times(node_->stride, node_->count, differs) == stride &&
             !differs) {
    node->kind = Kind::kRepetition;
    node->count = times(node_->count, count, map.overflows_);
    node->stride = node_->stride;
    node->parts = node_->parts;
  } else {
    node->kind = Kind::kRepetition;
    node->count = count;
    node->stride = stride;
    node->parts.push_back(std::move(part));
  }
  node->size = times(size(), count, map.overflows_);
  node->elements = times(elements(), count, map.overflows_);
  if (node->kind == Kind::kRepetition) node->blocks = times(blocks(), count, map.overflows_);
  const MPI_Count reach = times(stride, count - 1, map.overflows_);
  node->low = plus(node_->low, std::min<MPI_Count>(reach, 0), map.overflows_);
  node->high = plus(node_->high, std::max<MPI_Count>(reach, 0), map.overflows_);
  map.node_ = std::move(node);
  return map.moved(0);
}

bool TypeMap::is_like(const TypeMap& other) const {
  if (node_ == other.node_) return true;
  return is_block() && other.is_block() && node_->element == other.node_->element &&
         node_->count == other.node_->count;
}

bool TypeMap::absorb(const TypeMap& next) {
  if (!is_block() || !next.is_block() || node_->element != next.node_->element || high() != next.low() ||
      overflows_ || next.overflows_) {
    return false;
  }
  const MPI_Count offset = offset_;
  *this = block(*node_->element, node_->count + next.node_->count);
  offset_ = offset;
  return true;
}

TypeMap TypeMap::joined(std::vector<TypeMap> parts) {
  std::size_t kept = 0;
  for (TypeMap& part : parts) {
    if (part.empty() || (kept > 0 && parts[kept - 1].absorb(part))) continue;
    if (&parts[kept] != &part) parts[kept] = std::move(part);
    ++kept;
  }
  parts.resize(kept);
  if (parts.empty()) return {};
  if (parts.size() == 1) return parts.front();

  TypeMap map;
  for (const TypeMap& part : parts) map.overflows_ |= part.overflows_;
  if (map.overflows_) return map;
  bool too_far = false;
  const MPI_Count stride = minus(parts[1].offset_, parts[0].offset_, too_far);
  bool regular = !too_far;
  for (std::size_t i = 1; regular && i < parts.size(); ++i) {
    bool far = false;
    regular =
        parts[i].is_like(parts[0]) && minus(parts[i].offset_, parts[i - 1].offset_, far) == stride && !far;
  }
  if (regular) return parts[0].repeated(static_cast<MPI_Count>(parts.size()), stride);

  auto node = std::make_shared<Node>();
  node->kind = Kind::kList;
  node->blocks = 0;
  node->low = parts.front().low();
  node->high = parts.front().high();
  node->ends.reserve(parts.size());
  for (const TypeMap& part : parts) {
    node->size = plus(node->size, part.size(), map.overflows_);
    node->elements = plus(node->elements, part.elements(), map.overflows_);
    node->blocks = plus(node->blocks, part.blocks(), map.overflows_);
    node->low = std::min(node->low, part.low());
    node->high = std::max(node->high, part.high());
    node->ends.push_back(node->size);
  }
  node->parts = std::move(parts);
  map.node_ = std::move(node);
  return map;
}

std::optional<MPI_Count> TypeMap::elements_in(MPI_Count bytes) const {
  if (bytes == 0) return 0;
  if (bytes >= size()) return bytes == size() ? std::optional(elements()) : std::nullopt;
  switch (node_->kind) {
    case Kind::kBlock:
      if (bytes % node_->element->size != 0) return std::nullopt;
      return bytes / node_->element->size;
    case Kind::kRepetition: {
      const TypeMap& part = node_->parts.front();  // never empty
      const MPI_Count size = part.node_->size;
      const auto rest = part.elements_in(bytes % size);
      if (!rest) return std::nullopt;
      return bytes / size * part.elements() + *rest;
    }
    default: {
      MPI_Count whole = 0;
      const std::size_t last = part_at(*node_, bytes);
      for (std::size_t i = 0; i < last; ++i) whole += node_->parts[i].elements();
      const auto rest = node_->parts[last].elements_in(bytes - (last == 0 ? 0 : node_->ends[last - 1]));
      if (!rest) return std::nullopt;
      return whole + *rest;
    }
  }
}

MPI_Count TypeMap::bytes_of(MPI_Count count) const {
  if (count == 0) return 0;
  switch (node_->kind) {
    case Kind::kBlock:
      return count * node_->element->size;
    case Kind::kRepetition: {
      const TypeMap& part = node_->parts.front();  // never empty
      const MPI_Count elements = part.node_->elements;
      return count / elements * part.size() + part.bytes_of(count % elements);
    }
    default: {
      MPI_Count bytes = 0;
      for (const TypeMap& part : node_->parts) {
        if (count < part.elements()) return bytes + part.bytes_of(count);
        bytes += part.size();
        count -= part.elements();
      }
      return bytes;
    }
  }
}

std::optional<TypeMap::Grid> TypeMap::grid() const {
  if (empty()) return std::nullopt;
  Grid grid = {.start = offset_, .bytes = 0, .dimensions = {}};
  const Node* node = node_.get();
  for (; node->kind == Kind::kRepetition; node = node->parts.front().node_.get()) {
    grid.dimensions.push_back({.count = node->count, .stride = node->stride});
  }
  if (node->kind != Kind::kBlock) return std::nullopt;
  grid.bytes = node->size;
  std::ranges::reverse(grid.dimensions);
  return grid;
}

}  // namespace librma::mpi
