// The calls that make datatypes of others, except those of arrays (array_types.cpp).

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/datatypes/datatypes.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma::mpi {

int make_datatype(TypeLayout layout, TypeContents contents, MPI_Datatype* newtype) {
  if (layout.overflows()) {
    return failure(MPI_ERR_ARG,
                   "the datatype has more bytes, or greater displacements, than 64 bits can say");
  }
  *newtype = (new Datatype(std::move(layout), std::move(contents)))->handle<MPI_Datatype>();
  return MPI_SUCCESS;
}

namespace {

int check_count(MPI_Count count) {
  return count >= 0 ? MPI_SUCCESS : failure(MPI_ERR_COUNT, fmt::format("the count is {}", count));
}

int check_block_length(MPI_Count length) {
  return length >= 0 ? MPI_SUCCESS : failure(MPI_ERR_ARG, fmt::format("a block length is {}", length));
}

/// Returns a layout whose numbers do not fit, if `value` * `factor` does not, and else moves `layout` so far.
TypeLayout moved_by(const TypeLayout& layout, MPI_Count value, MPI_Count factor) {
  MPI_Count distance = 0;
  if (__builtin_mul_overflow(value, factor, &distance)) return layout.overflown();
  return layout.moved(distance);
}

/// Repeats one block after another of the same type. Blocks of one length share their map.
class BlockMaker {
 public:
  explicit BlockMaker(const Datatype& type) : type_(type) {}
  [[nodiscard]] const TypeLayout& of(MPI_Count length) {
    if (length != length_) {
      block_ = type_.layout().repeated(length, type_.bounds().extent);
      length_ = length;
    }
    return block_;
  }

 private:
  const Datatype& type_;
  MPI_Count length_ = 0;
  TypeLayout block_;  // of no elements
};

/// Makes the type of a call whose blocks have lengths and displacements of their own. `unit` is the number of
/// bytes that displacements count in, and `length_of` returns a block's length.
template <class Displaced, class LengthOf>
int make_blocks(MPI_Count count, const LengthOf& length_of, const Displaced& displacements, MPI_Count unit,
                const Datatype& type, TypeContents contents, MPI_Datatype* newtype) {
  BlockMaker blocks(type);
  std::vector<TypeLayout> parts;
  parts.reserve(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    if (length_of(i) == 0) continue;
    parts.push_back(moved_by(blocks.of(length_of(i)), displacements[i], unit));
  }
  return make_datatype(TypeLayout::joined(std::move(parts)), std::move(contents), newtype);
}

/// Checks the arrays that the indexed types have.
template <class Displaced>
int check_blocks(MPI_Count count, const Counts& lengths, const Displaced& displacements) {
  RMA_TRY(check_count(count));
  if (count > 0 && (lengths.is_null() || displacements.is_null()))
    return failure(MPI_ERR_ARG, "an array is null");
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    RMA_TRY(check_block_length(lengths[i]));
  }
  return MPI_SUCCESS;
}

template <class Displaced>
int check_equal_blocks(MPI_Count count, MPI_Count length, const Displaced& displacements) {
  RMA_TRY(check_count(count));
  if (count > 0 && displacements.is_null()) return failure(MPI_ERR_ARG, "array_of_displacements is null");
  return check_block_length(length);
}

}  // namespace

int type_contiguous(MPI_Count count, MPI_Datatype oldtype, MPI_Datatype* newtype, Form form) {
  RMA_TRY_ASSIGN(type, find_datatype(oldtype));
  RMA_TRY(check_count(count));
  TypeContents contents(MPI_COMBINER_CONTIGUOUS, form);
  contents.add_count(count).add_type(*type);
  return make_datatype(type->layout().repeated(count, type->bounds().extent), std::move(contents), newtype);
}

namespace {

/// Makes a vector type whose stride is `stride` times `unit` bytes.
int make_vector(MPI_Count count, MPI_Count length, MPI_Count stride, MPI_Count unit, const Datatype& type,
                TypeContents contents, MPI_Datatype* newtype) {
  MPI_Count distance = 0;
  TypeLayout block = type.layout().repeated(length, type.bounds().extent);
  if (__builtin_mul_overflow(stride, unit, &distance)) block = block.overflown();
  return make_datatype(block.repeated(count, distance), std::move(contents), newtype);
}

}  // namespace

int type_vector(MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype,
                MPI_Datatype* newtype, Form form) {
  RMA_TRY_ASSIGN(type, find_datatype(oldtype));
  RMA_TRY(check_count(count));
  RMA_TRY(check_block_length(blocklength));
  TypeContents contents(MPI_COMBINER_VECTOR, form);
  contents.add_count(count).add_count(blocklength).add_count(stride).add_type(*type);
  return make_vector(count, blocklength, stride, type->bounds().extent, *type, std::move(contents), newtype);
}

int type_create_hvector(MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype,
                        MPI_Datatype* newtype, Form form) {
  RMA_TRY_ASSIGN(type, find_datatype(oldtype));
  RMA_TRY(check_count(count));
  RMA_TRY(check_block_length(blocklength));
  TypeContents contents(MPI_COMBINER_HVECTOR, form);
  contents.add_count(count).add_count(blocklength).add_address(stride).add_type(*type);
  return make_vector(count, blocklength, stride, 1, *type, std::move(contents), newtype);
}

int type_indexed(MPI_Count count, Counts lengths, Counts displacements, MPI_Datatype oldtype,
                 MPI_Datatype* newtype, Form form) {
  RMA_TRY_ASSIGN(type, find_datatype(oldtype));
  RMA_TRY(check_blocks(count, lengths, displacements));
  TypeContents contents(MPI_COMBINER_INDEXED, form);
  contents.add_count(count).add_counts(lengths, count).add_counts(displacements, count).add_type(*type);
  return make_blocks(
      count, [&](std::size_t i) { return lengths[i]; }, displacements, type->bounds().extent, *type,
      std::move(contents), newtype);
}

int type_create_hindexed(MPI_Count count, Counts lengths, Displacements displacements, MPI_Datatype oldtype,
                         MPI_Datatype* newtype, Form form) {
  RMA_TRY_ASSIGN(type, find_datatype(oldtype));
  RMA_TRY(check_blocks(count, lengths, displacements));
  TypeContents contents(MPI_COMBINER_HINDEXED, form);
  contents.add_count(count).add_counts(lengths, count).add_addresses(displacements, count).add_type(*type);
  return make_blocks(
      count, [&](std::size_t i) { return lengths[i]; }, displacements, 1, *type, std::move(contents),
      newtype);
}

int type_create_indexed_block(MPI_Count count, MPI_Count blocklength, Counts displacements,
                              MPI_Datatype oldtype, MPI_Datatype* newtype, Form form) {
  RMA_TRY_ASSIGN(type, find_datatype(oldtype));
  RMA_TRY(check_equal_blocks(count, blocklength, displacements));
  TypeContents contents(MPI_COMBINER_INDEXED_BLOCK, form);
  contents.add_count(count).add_count(blocklength).add_counts(displacements, count).add_type(*type);
  return make_blocks(
      count, [&](std::size_t) { return blocklength; }, displacements, type->bounds().extent, *type,
      std::move(contents), newtype);
}

int type_create_hindexed_block(MPI_Count count, MPI_Count blocklength, Displacements displacements,
                               MPI_Datatype oldtype, MPI_Datatype* newtype, Form form) {
  RMA_TRY_ASSIGN(type, find_datatype(oldtype));
  RMA_TRY(check_equal_blocks(count, blocklength, displacements));
  TypeContents contents(MPI_COMBINER_HINDEXED_BLOCK, form);
  contents.add_count(count).add_count(blocklength).add_addresses(displacements, count).add_type(*type);
  return make_blocks(
      count, [&](std::size_t) { return blocklength; }, displacements, 1, *type, std::move(contents), newtype);
}

int type_create_struct(MPI_Count count, Counts lengths, Displacements displacements,
                       const MPI_Datatype types[], MPI_Datatype* newtype, Form form) {
  RMA_TRY(check_blocks(count, lengths, displacements));
  if (count > 0 && types == nullptr) return failure(MPI_ERR_ARG, "array_of_types is null");
  TypeContents contents(MPI_COMBINER_STRUCT, form);
  contents.add_count(count).add_counts(lengths, count).add_addresses(displacements, count);
  std::vector<TypeLayout> parts;
  parts.reserve(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    RMA_TRY_ASSIGN(type, find_datatype(types[i]));
    contents.add_type(*type);
    if (lengths[i] == 0) continue;
    parts.push_back(type->layout().repeated(lengths[i], type->bounds().extent).moved(displacements[i]));
  }
  return make_datatype(TypeLayout::joined(std::move(parts)), std::move(contents), newtype);
}

int type_create_resized(MPI_Datatype oldtype, MPI_Count lower, MPI_Count extent, MPI_Datatype* newtype,
                        Form form) {
  RMA_TRY_ASSIGN(type, find_datatype(oldtype));
  TypeContents contents(MPI_COMBINER_RESIZED, form);
  contents.add_address(lower).add_address(extent).add_type(*type);
  return make_datatype(type->layout().resized(lower, extent), std::move(contents), newtype);
}

int type_dup(MPI_Datatype oldtype, MPI_Datatype* newtype) {
  RMA_TRY_ASSIGN(type, find_datatype(oldtype));
  TypeContents contents(MPI_COMBINER_DUP, Form::kPlain);
  contents.add_type(*type);
  auto* const copy = new Datatype(type->layout(), std::move(contents));
  if (type->is_committed()) copy->commit();
  if (const int code = copy->attributes.copy_from(type->attributes, oldtype); code != MPI_SUCCESS) {
    copy->remove_reference();
    return code;
  }
  *newtype = copy->handle<MPI_Datatype>();
  return MPI_SUCCESS;
}

}  // namespace librma::mpi
