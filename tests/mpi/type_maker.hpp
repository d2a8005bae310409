#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>
#include <vector>

#include "type_model.hpp"

namespace mpi_test {

/// Makes random types whose elements do not overlap, in arrays as well.
class TypeMaker {
 public:
  explicit TypeMaker(unsigned seed) : random_(seed) {}
  ~TypeMaker() {
    for (MPI_Datatype& type : made_) MPI_Type_free(&type);
  }
  TypeMaker(const TypeMaker&) = delete;
  TypeMaker& operator=(const TypeMaker&) = delete;

  [[nodiscard]] int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }

  /// Returns a type that is nested at most `depth` deep.
  [[nodiscard]] TypeModel make(int depth) {
    if (depth == 0 || below(8) == 0) return basic();
    TypeModel model = combine(depth);
    SUCCEEDS(MPI_Type_commit(&model.type));
    made_.push_back(model.type);
    model.check_bounds();
    // Elements of an array would overlap if the bounds that the program has set are too near.
    if (model.extent() < model.true_upper() - model.true_lower()) return resized(model);
    return model;
  }

  /// Returns another type with the same basic elements in the same order, at other places.
  [[nodiscard]] TypeModel relaid(const std::vector<Element>& elements) {
    TypeModel model;
    std::vector<int> lengths;
    std::vector<MPI_Aint> places;
    std::vector<MPI_Datatype> types;
    std::vector<std::size_t> order(elements.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (below(2) == 0) std::ranges::shuffle(order, random_);
    places.resize(elements.size());
    MPI_Aint at = -below(100);
    for (const std::size_t i : order) {
      places[i] = at;
      at += elements[i].bytes + (below(3) == 0 ? below(20) : 0);
    }
    for (std::size_t i = 0; i < elements.size(); ++i) {
      lengths.push_back(1);
      types.push_back(elements[i].type);
      model.map.push_back({places[i], elements[i].type, elements[i].bytes});
    }
    SUCCEEDS(MPI_Type_create_struct(static_cast<int>(elements.size()), lengths.data(), places.data(),
                                    types.data(), &model.type));
    SUCCEEDS(MPI_Type_commit(&model.type));
    made_.push_back(model.type);
    return model;
  }

 private:
  [[nodiscard]] TypeModel basic() {
    struct Basic {
      MPI_Datatype type;
      int bytes;
    };
    static const Basic kTypes[] = {
        {MPI_INT, 4}, {MPI_DOUBLE, 8}, {MPI_CHAR, 1}, {MPI_SHORT, 2}, {MPI_FLOAT, 4}};
    const Basic one = kTypes[below(5)];
    TypeModel model;
    model.type = one.type;
    model.map = {{0, one.type, one.bytes}};
    return model;
  }

  /// Returns `model` with an extent that its data fit into.
  [[nodiscard]] TypeModel resized(const TypeModel& model) {
    TypeModel wide = model;
    const MPI_Aint lower = model.true_lower() - below(10);
    wide.markers = {lower, model.true_upper() + below(10)};
    SUCCEEDS(MPI_Type_create_resized(model.type, lower, wide.extent(), &wide.type));
    SUCCEEDS(MPI_Type_commit(&wide.type));
    made_.push_back(wide.type);
    return wide;
  }

  [[nodiscard]] TypeModel combine(int depth) {
    TypeModel part = make(depth - 1);
    while (part.map.size() > 60) part = make(depth - 1);
    switch (below(9)) {
      case 0:
        return contiguous(part);
      case 1:
        return vector(part);
      case 2:
        return hvector(part);
      case 3:
        return indexed(part, true);
      case 4:
        return indexed(part, false);
      case 5:
        return structure(part, depth);
      case 6:
        return subarray(part);
      case 7:
        return darray(part);
      default:
        return below(2) == 0 ? resized_once(part) : duplicate(part);
    }
  }

  [[nodiscard]] TypeModel contiguous(const TypeModel& part) {
    TypeModel model;
    const int count = below(5);
    model.append_block(part, count, 0);
    SUCCEEDS(MPI_Type_contiguous(count, part.type, &model.type));
    return model;
  }

  [[nodiscard]] TypeModel vector(const TypeModel& part) {
    TypeModel model;
    const int count = below(5);
    const int length = below(4);
    const int stride = (length + below(3)) * (below(4) == 0 ? -1 : 1);
    for (int i = 0; i < count; ++i) model.append_block(part, length, i * stride * part.extent());
    SUCCEEDS(MPI_Type_vector(count, length, stride, part.type, &model.type));
    return model;
  }

  [[nodiscard]] TypeModel hvector(const TypeModel& part) {
    TypeModel model;
    const int count = below(5);
    const int length = below(4);
    const MPI_Aint stride = (length * part.extent() + below(9)) * (below(4) == 0 ? -1 : 1);
    for (int i = 0; i < count; ++i) model.append_block(part, length, i * stride);
    SUCCEEDS(MPI_Type_create_hvector(count, length, stride, part.type, &model.type));
    return model;
  }

  /// All four indexed types. `equal`: all blocks have one length.
  [[nodiscard]] TypeModel indexed(const TypeModel& part, bool equal) {
    TypeModel model;
    const bool in_bytes = below(2) == 0;
    const int count = below(6);
    const int length = below(4);
    std::vector<int> lengths(static_cast<std::size_t>(count), length);
    std::vector<int> places(static_cast<std::size_t>(count));
    std::vector<MPI_Aint> displacements(static_cast<std::size_t>(count));
    std::vector<std::size_t> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (below(3) == 0) std::ranges::shuffle(order, random_);
    int place = below(5) - 3;
    MPI_Aint displacement = below(50) - 30;
    for (const std::size_t i : order) {
      if (!equal) lengths[i] = below(4);
      places[i] = place;
      displacements[i] = displacement;
      place += lengths[i] + (below(2) == 0 ? below(3) : 0);
      displacement += lengths[i] * part.extent() + (below(2) == 0 ? below(9) : 0);
    }
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      model.append_block(part, lengths[i], in_bytes ? displacements[i] : places[i] * part.extent());
    }
    if (equal && in_bytes) {
      SUCCEEDS(MPI_Type_create_hindexed_block(count, length, displacements.data(), part.type, &model.type));
    } else if (equal) {
      SUCCEEDS(MPI_Type_create_indexed_block(count, length, places.data(), part.type, &model.type));
    } else if (in_bytes) {
      SUCCEEDS(MPI_Type_create_hindexed(count, lengths.data(), displacements.data(), part.type, &model.type));
    } else {
      SUCCEEDS(MPI_Type_indexed(count, lengths.data(), places.data(), part.type, &model.type));
    }
    return model;
  }

  [[nodiscard]] TypeModel structure(const TypeModel& first, int depth) {
    TypeModel model;
    std::vector<TypeModel> parts = {first};
    for (int i = below(3); i > 0; --i) parts.push_back(make(depth - 1));
    std::vector<int> lengths;
    std::vector<MPI_Aint> displacements;
    std::vector<MPI_Datatype> types;
    MPI_Aint free = below(30) - 20;  // the first byte that no part has taken
    for (const TypeModel& part : parts) {
      const int length = below(3);
      const MPI_Aint displacement = free - std::min<MPI_Aint>(part.true_lower(), part.lower());
      model.append_block(part, length, displacement);
      lengths.push_back(length);
      displacements.push_back(displacement);
      types.push_back(part.type);
      free = displacement + std::max(part.true_upper(), part.lower()) + length * part.extent() + below(9);
    }
    SUCCEEDS(MPI_Type_create_struct(static_cast<int>(parts.size()), lengths.data(), displacements.data(),
                                    types.data(), &model.type));
    return model;
  }

  [[nodiscard]] TypeModel subarray(const TypeModel& part) {
    TypeModel model;
    const int dimensions = 1 + below(3);
    const bool c = below(2) == 0;
    std::vector<int> sizes;
    std::vector<int> subsizes;
    std::vector<int> starts;
    int cells = 1;
    for (int i = 0; i < dimensions; ++i) {
      sizes.push_back(1 + below(4));
      subsizes.push_back(1 + below(sizes.back()));
      starts.push_back(below(sizes.back() - subsizes.back() + 1));
      cells *= sizes.back();
    }
    // All cells in the order of memory; those of the block are taken.
    for (int cell = 0; cell < cells; ++cell) {
      int rest = cell;
      bool inside = true;
      for (int i = 0; i < dimensions; ++i) {
        const auto at = static_cast<std::size_t>(c ? dimensions - 1 - i : i);
        const int index = rest % sizes[at];
        rest /= sizes[at];
        inside = inside && index >= starts[at] && index < starts[at] + subsizes[at];
      }
      if (inside) model.append(part, cell * part.extent());
    }
    model.markers = {0, cells * part.extent()};
    SUCCEEDS(MPI_Type_create_subarray(dimensions, sizes.data(), subsizes.data(), starts.data(),
                                      c ? MPI_ORDER_C : MPI_ORDER_FORTRAN, part.type, &model.type));
    return model;
  }

  [[nodiscard]] TypeModel darray(const TypeModel& part) {
    TypeModel model;
    const int dimensions = 1 + below(2);
    const bool c = below(2) == 0;
    std::vector<int> sizes;
    std::vector<int> kinds;
    std::vector<int> arguments;
    std::vector<int> grid;
    int cells = 1;
    int processes = 1;
    for (int i = 0; i < dimensions; ++i) {
      sizes.push_back(1 + below(7));
      kinds.push_back(std::vector<int>{MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC,
                                       MPI_DISTRIBUTE_NONE}[static_cast<std::size_t>(below(3))]);
      grid.push_back(kinds.back() == MPI_DISTRIBUTE_NONE ? 1 : 1 + below(3));
      const int least = (sizes.back() + grid.back() - 1) / grid.back();
      const int given = kinds.back() == MPI_DISTRIBUTE_BLOCK ? least + below(2) : 1 + below(3);
      const bool usual = kinds.back() == MPI_DISTRIBUTE_NONE || below(2) == 0;
      arguments.push_back(usual ? MPI_DISTRIBUTE_DFLT_DARG : given);
      cells *= sizes.back();
      processes *= grid.back();
    }
    const int rank = below(processes);
    for (int cell = 0; cell < cells; ++cell) {
      int rest = cell;
      std::vector<int> index(static_cast<std::size_t>(dimensions));
      for (int i = 0; i < dimensions; ++i) {
        const auto at = static_cast<std::size_t>(c ? dimensions - 1 - i : i);
        index[at] = rest % sizes[at];
        rest /= sizes[at];
      }
      int owner = 0;  // of the cell; the grid of processes is always in the order of C
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        int block = arguments[i];
        if (block == MPI_DISTRIBUTE_DFLT_DARG) {
          block = kinds[i] == MPI_DISTRIBUTE_CYCLIC ? 1 : (sizes[i] + grid[i] - 1) / grid[i];
        }
        owner = owner * grid[i] + index[i] / block % grid[i];
      }
      if (owner == rank) model.append(part, cell * part.extent());
    }
    model.markers = {0, cells * part.extent()};
    SUCCEEDS(MPI_Type_create_darray(processes, rank, dimensions, sizes.data(), kinds.data(), arguments.data(),
                                    grid.data(), c ? MPI_ORDER_C : MPI_ORDER_FORTRAN, part.type,
                                    &model.type));
    return model;
  }

  [[nodiscard]] TypeModel resized_once(const TypeModel& part) {
    TypeModel model = part;
    const MPI_Aint lower = part.true_lower() - below(20) + 5;
    const MPI_Aint extent = part.true_upper() - part.true_lower() + below(20);
    model.markers = {lower, lower + extent};
    SUCCEEDS(MPI_Type_create_resized(part.type, lower, extent, &model.type));
    return model;
  }

  [[nodiscard]] static TypeModel duplicate(const TypeModel& part) {
    TypeModel model = part;
    SUCCEEDS(MPI_Type_dup(part.type, &model.type));
    return model;
  }

  std::mt19937 random_;
  std::vector<MPI_Datatype> made_;
};

}  // namespace mpi_test
