// How datatypes lie in files whose representation is not that of the memory: they are made again, of
// predefined types that have the representation's sizes.

#include "twosided_compat/files/type_in_file.hpp"

#include <fmt/format.h>

#include <vector>

#include "twosided_compat/calls.hpp"
#include "util/try.hpp"

namespace librma::mpi {
namespace {

/// Reads the arguments of the call that made a datatype, in their order.
class Arguments {
 public:
  explicit Arguments(const TypeContents& contents) : contents_(contents) {}

  /// An argument that is an int in both forms of the call.
  [[nodiscard]] int number() { return contents_.integers()[next_integer_++]; }
  [[nodiscard]] MPI_Count count() { return is_large() ? large() : number(); }
  [[nodiscard]] MPI_Count address() { return is_large() ? large() : contents_.addresses()[next_address_++]; }
  [[nodiscard]] std::vector<int> numbers(MPI_Count n) {
    std::vector<int> values;
    for (; n > 0; --n) values.push_back(number());
    return values;
  }
  [[nodiscard]] std::vector<MPI_Count> counts(MPI_Count n) {
    std::vector<MPI_Count> values;
    for (; n > 0; --n) values.push_back(count());
    return values;
  }
  [[nodiscard]] std::vector<MPI_Count> addresses(MPI_Count n) {
    std::vector<MPI_Count> values;
    for (; n > 0; --n) values.push_back(address());
    return values;
  }

 private:
  [[nodiscard]] bool is_large() const { return !contents_.large_counts().empty(); }
  [[nodiscard]] MPI_Count large() { return contents_.large_counts()[next_large_++]; }

  const TypeContents& contents_;
  std::size_t next_integer_ = 0;
  std::size_t next_address_ = 0;
  std::size_t next_large_ = 0;
};

using Types = std::vector<MPI_Datatype>;

/// The constructors of blocks.
int make_blocks_again(int combiner, Arguments& arguments, const Types& types, MPI_Datatype* made) {
  const MPI_Count count = arguments.count();
  if (combiner == MPI_COMBINER_INDEXED_BLOCK || combiner == MPI_COMBINER_HINDEXED_BLOCK) {
    const MPI_Count length = arguments.count();
    const bool in_bytes = combiner == MPI_COMBINER_HINDEXED_BLOCK;
    const std::vector<MPI_Count> places = in_bytes ? arguments.addresses(count) : arguments.counts(count);
    return in_bytes ? type_create_hindexed_block(count, length, places.data(), types[0], made, Form::kLarge)
                    : type_create_indexed_block(count, length, places.data(), types[0], made, Form::kLarge);
  }
  const std::vector<MPI_Count> lengths = arguments.counts(count);
  const bool in_bytes = combiner != MPI_COMBINER_INDEXED;
  const std::vector<MPI_Count> places = in_bytes ? arguments.addresses(count) : arguments.counts(count);
  if (combiner == MPI_COMBINER_STRUCT)
    return type_create_struct(count, lengths.data(), places.data(), types.data(), made, Form::kLarge);
  return in_bytes ? type_create_hindexed(count, lengths.data(), places.data(), types[0], made, Form::kLarge)
                  : type_indexed(count, lengths.data(), places.data(), types[0], made, Form::kLarge);
}

int make_vector_again(int combiner, Arguments& arguments, MPI_Datatype type, MPI_Datatype* made) {
  const MPI_Count count = arguments.count();
  const MPI_Count length = arguments.count();
  if (combiner == MPI_COMBINER_VECTOR)
    return type_vector(count, length, arguments.count(), type, made, Form::kLarge);
  return type_create_hvector(count, length, arguments.address(), type, made, Form::kLarge);
}

int make_array_again(int combiner, Arguments& arguments, MPI_Datatype type, MPI_Datatype* made) {
  if (combiner == MPI_COMBINER_SUBARRAY) {
    const int dimensions = arguments.number();
    const std::vector<MPI_Count> sizes = arguments.counts(dimensions);
    const std::vector<MPI_Count> parts = arguments.counts(dimensions);
    const std::vector<MPI_Count> starts = arguments.counts(dimensions);
    return type_create_subarray(dimensions, sizes.data(), parts.data(), starts.data(), arguments.number(),
                                type, made, Form::kLarge);
  }
  const int size = arguments.number();
  const int rank = arguments.number();
  const int dimensions = arguments.number();
  const std::vector<MPI_Count> sizes = arguments.counts(dimensions);
  const std::vector<int> kinds = arguments.numbers(dimensions);
  const std::vector<int> values = arguments.numbers(dimensions);
  const std::vector<int> grid = arguments.numbers(dimensions);
  return type_create_darray(size, rank, dimensions, sizes.data(), kinds.data(), values.data(), grid.data(),
                            arguments.number(), type, made, Form::kLarge);
}

/// Makes a type by the call that made another one, of other types.
int make_again(const TypeContents& contents, const Types& types, MPI_Datatype* made) {
  Arguments arguments(contents);
  switch (contents.combiner()) {
    case MPI_COMBINER_DUP:
      return type_dup(types[0], made);
    case MPI_COMBINER_CONTIGUOUS:
      return type_contiguous(arguments.count(), types[0], made, Form::kLarge);
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
      return make_vector_again(contents.combiner(), arguments, types[0], made);
    case MPI_COMBINER_SUBARRAY:
    case MPI_COMBINER_DARRAY:
      return make_array_again(contents.combiner(), arguments, types[0], made);
    case MPI_COMBINER_RESIZED: {
      const MPI_Count lower = arguments.address();
      return type_create_resized(types[0], lower, arguments.address(), made, Form::kLarge);
    }
    default:
      return make_blocks_again(contents.combiner(), arguments, types, made);
  }
}

/// Takes over the handle of a type that was just made.
int take_made(int code, MPI_Datatype handle, HeldType& made) {
  RMA_TRY(code);
  auto* const type = find<Datatype>(handle);
  made = HeldType(*type);
  return type->remove_handle();
}

int make_predefined(Datatype& type, const BytesInFile& bytes_in_file, HeldType& made) {
  MPI_Count bytes = 0;
  RMA_TRY(bytes_in_file(type, bytes));
  if (bytes == type.size() && bytes == type.bounds().extent) {
    made = HeldType(type);
    return MPI_SUCCESS;
  }
  MPI_Datatype handle = MPI_DATATYPE_NULL;
  const int code = type_contiguous(bytes, MPI_BYTE, &handle, Form::kLarge);
  return take_made(code, handle, made);
}

}  // namespace

int make_type_in_file(Datatype& type, const BytesInFile& bytes_in_file, HeldType& made) {
  const TypeContents* const contents = type.contents();
  // The types of Fortran that precision and range have chosen have contents, and no types among them.
  if (contents == nullptr || contents->types().empty()) {
    // A derived type without types among its arguments has no data.
    if (type.predefined() != nullptr) return make_predefined(type, bytes_in_file, made);
    made = HeldType(type);
    return MPI_SUCCESS;
  }
  std::vector<HeldType> parts(contents->types().size());
  Types handles;
  bool differs = false;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    RMA_TRY(make_type_in_file(*contents->types()[i], bytes_in_file, parts[i]));
    differs = differs || parts[i].get() != contents->types()[i];
    handles.push_back(parts[i]->handle<MPI_Datatype>());
  }
  if (!differs) {
    made = HeldType(type);
    return MPI_SUCCESS;
  }
  MPI_Datatype handle = MPI_DATATYPE_NULL;
  const int code = make_again(*contents, handles, &handle);
  return take_made(code, handle, made);
}

}  // namespace librma::mpi
