#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "check.hpp"

// A model of datatypes: the whole type map, element by element (MPI 4.1, section 5.1).

namespace mpi_test {

/// A basic element and its displacement.
struct Element {
  MPI_Aint offset;
  MPI_Datatype type;
  int bytes;
};

/// A datatype and the map that it should have. The datatype is committed.
struct TypeModel {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  std::vector<Element> map;
  struct Markers {
    MPI_Aint lower;
    MPI_Aint upper;
  };
  std::optional<Markers> markers;

  [[nodiscard]] MPI_Aint true_lower() const {
    MPI_Aint low = map.empty() ? 0 : map.front().offset;
    for (const Element& one : map) low = std::min(low, one.offset);
    return low;
  }
  [[nodiscard]] MPI_Aint true_upper() const {
    MPI_Aint high = map.empty() ? 0 : map.front().offset;
    for (const Element& one : map) high = std::max(high, one.offset + one.bytes);
    return high;
  }
  [[nodiscard]] MPI_Aint lower() const { return markers ? markers->lower : true_lower(); }
  [[nodiscard]] MPI_Aint extent() const {
    if (markers) return markers->upper - markers->lower;
    MPI_Aint alignment = 1;
    for (const Element& one : map) alignment = std::max<MPI_Aint>(alignment, one.bytes);
    const MPI_Aint length = true_upper() - true_lower();
    return (length + alignment - 1) / alignment * alignment;
  }
  [[nodiscard]] std::size_t bytes() const {
    return std::accumulate(map.begin(), map.end(), std::size_t{0}, [](std::size_t sum, const Element& one) {
      return sum + static_cast<std::size_t>(one.bytes);
    });
  }

  /// Puts a copy of `part` behind the elements that are there, moved by `distance`.
  void append(const TypeModel& part, MPI_Aint distance) {
    for (Element one : part.map) {
      one.offset += distance;
      map.push_back(one);
    }
    if (!part.markers) return;
    const Markers moved = {part.markers->lower + distance, part.markers->upper + distance};
    markers = markers ? Markers{std::min(markers->lower, moved.lower), std::max(markers->upper, moved.upper)}
                      : moved;
  }
  /// Does so `count` times at the distance of the part's extent.
  void append_block(const TypeModel& part, int count, MPI_Aint distance) {
    for (int i = 0; i < count; ++i) append(part, distance + i * part.extent());
  }

  /// Checks what the library says about the type's size and bounds.
  void check_bounds() const {
    MPI_Count size = -1;
    MPI_Count lower_bound = -1;
    MPI_Count distance = -1;
    SUCCEEDS(MPI_Type_size_c(type, &size));
    CHECK(static_cast<std::size_t>(size) == bytes());
    SUCCEEDS(MPI_Type_get_extent_c(type, &lower_bound, &distance));
    CHECK(lower_bound == lower() && distance == extent());
    SUCCEEDS(MPI_Type_get_true_extent_c(type, &lower_bound, &distance));
    CHECK(lower_bound == true_lower() && distance == true_upper() - true_lower());
  }
};

/// Memory that an array of `count` elements of a type lies in. Its address is a multiple of 16.
class TypeMemory {
 public:
  TypeMemory(const TypeModel& model, int count) {
    const MPI_Aint reach = (count > 0 ? count - 1 : 0) * model.extent();
    const MPI_Aint low = model.true_lower() + std::min<MPI_Aint>(reach, 0);
    const MPI_Aint high = model.true_upper() + std::max<MPI_Aint>(reach, 0);
    before_ = static_cast<std::size_t>((std::max<MPI_Aint>(-low, 0) + 15) / 16 * 16);
    bytes_.resize(before_ + static_cast<std::size_t>(std::max<MPI_Aint>(high, 0)) + 1, 0xEE);
  }
  /// Gives every byte a value that depends on its place and on `salt`.
  void fill(unsigned salt) {
    for (std::size_t i = 0; i < bytes_.size(); ++i)
      bytes_[i] = static_cast<unsigned char>((i * 2654435761U + salt * 97U) >> 7U);
  }
  [[nodiscard]] unsigned char* address() { return bytes_.data() + before_; }
  [[nodiscard]] const std::vector<unsigned char>& all() const { return bytes_; }

  /// Returns the data of `count` elements, as a message has them.
  [[nodiscard]] std::vector<unsigned char> data(const TypeModel& model, int count) {
    std::vector<unsigned char> bytes;
    for (int i = 0; i < count; ++i) {
      for (const Element& one : model.map) {
        const unsigned char* const at = address() + i * model.extent() + one.offset;
        bytes.insert(bytes.end(), at, at + one.bytes);
      }
    }
    return bytes;
  }
  /// Puts the first bytes of a message to the places that they have in an array of `count` elements.
  void place(const TypeModel& model, int count, const std::vector<unsigned char>& bytes) {
    std::size_t next = 0;
    for (int i = 0; i < count; ++i) {
      for (const Element& one : model.map) {
        unsigned char* const at = address() + i * model.extent() + one.offset;
        for (int k = 0; k < one.bytes && next < bytes.size(); ++k) at[k] = bytes[next++];
      }
    }
  }

 private:
  std::size_t before_ = 0;
  std::vector<unsigned char> bytes_;
};

}  // namespace mpi_test
