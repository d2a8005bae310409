// The arguments of the calls that made a datatype, and the calls that return them.

#include "twosided_compat/datatypes/type_contents.hpp"

#include <algorithm>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/datatypes/datatypes.hpp"
#include "twosided_compat/objects/errors.hpp"
#include "util/try_assign.hpp"

namespace librma::mpi {

TypeContents::~TypeContents() {
  for (Datatype* const type : types_) type->remove_reference();
}

TypeContents& TypeContents::add_int(int value) {
  integers_.push_back(value);
  return *this;
}

TypeContents& TypeContents::add_ints(const int* values, int count) {
  integers_.insert(integers_.end(), values, values + count);
  return *this;
}

TypeContents& TypeContents::add_count(MPI_Count value) {
  if (form_ == Form::kLarge) {
    large_counts_.push_back(value);
  } else {
    integers_.push_back(static_cast<int>(value));
  }
  return *this;
}

TypeContents& TypeContents::add_counts(const Counts& values, MPI_Count count) {
  for (MPI_Count i = 0; i < count; ++i) add_count(values[static_cast<std::size_t>(i)]);
  return *this;
}

TypeContents& TypeContents::add_address(MPI_Count value) {
  (form_ == Form::kLarge ? large_counts_ : addresses_).push_back(value);
  return *this;
}

TypeContents& TypeContents::add_addresses(const Displacements& values, MPI_Count count) {
  for (MPI_Count i = 0; i < count; ++i) add_address(values[static_cast<std::size_t>(i)]);
  return *this;
}

TypeContents& TypeContents::add_type(Datatype& type) {
  types_.push_back(&type);
  type.add_reference();
  return *this;
}

namespace {

/// The numbers of arguments of each kind.
struct ArgumentCounts {
  MPI_Count integers = 0;
  MPI_Count addresses = 0;
  MPI_Count large_counts = 0;
  MPI_Count types = 0;
  int combiner = MPI_COMBINER_NAMED;
};

ArgumentCounts argument_counts(const Datatype& type) {
  const TypeContents* const contents = type.contents();
  if (contents == nullptr) return {};
  return {.integers = static_cast<MPI_Count>(contents->integers().size()),
          .addresses = static_cast<MPI_Count>(contents->addresses().size()),
          .large_counts = static_cast<MPI_Count>(contents->large_counts().size()),
          .types = static_cast<MPI_Count>(contents->types().size()),
          .combiner = contents->combiner()};
}

int made_large() {
  return failure(MPI_ERR_TYPE, "the datatype was made with large counts, so the call's form must be MPI_X_c");
}

template <class To, class From>
void store_all(To* to, const std::vector<From>& from) {
  std::copy(from.begin(), from.end(), to);
}

/// Stores the arguments. `large_counts` may be null if the type has no large counts.
int store_contents(MPI_Datatype handle, const ArgumentCounts& room, int integers[], MPI_Aint addresses[],
                   MPI_Count large_counts[], MPI_Datatype types[]) {
  RMA_TRY_ASSIGN(type, find_datatype(handle));
  const TypeContents* const contents = type->contents();
  if (contents == nullptr) return failure(MPI_ERR_TYPE, "a predefined datatype has no contents");
  const ArgumentCounts needed = argument_counts(*type);
  if (room.integers < needed.integers || room.addresses < needed.addresses || room.types < needed.types ||
      (large_counts != nullptr && room.large_counts < needed.large_counts)) {
    return failure(MPI_ERR_ARG, "an array is shorter than MPI_Type_get_envelope says");
  }
  if ((integers == nullptr && needed.integers != 0) || (addresses == nullptr && needed.addresses != 0) ||
      (types == nullptr && needed.types != 0)) {
    return failure(MPI_ERR_ARG, "an array is null");
  }
  store_all(integers, contents->integers());
  store_all(addresses, contents->addresses());
  if (large_counts != nullptr) store_all(large_counts, contents->large_counts());
  if (types == nullptr) return MPI_SUCCESS;
  for (Datatype* const part : contents->types()) {
    part->add_handle();  // the program frees the handles of derived types that it gets here
    *types++ = part->handle<MPI_Datatype>();
  }
  return MPI_SUCCESS;
}

}  // namespace

int type_get_envelope(MPI_Datatype handle, int* integers, int* addresses, int* types, int* combiner) {
  RMA_TRY_ASSIGN(type, find_datatype(handle));
  const ArgumentCounts counts = argument_counts(*type);
  if (counts.large_counts != 0) return made_large();
  *integers = narrowed(counts.integers);
  *addresses = narrowed(counts.addresses);
  *types = narrowed(counts.types);
  *combiner = counts.combiner;
  return MPI_SUCCESS;
}

int type_get_envelope_c(MPI_Datatype handle, MPI_Count* integers, MPI_Count* addresses,
                        MPI_Count* large_counts, MPI_Count* types, int* combiner) {
  RMA_TRY_ASSIGN(type, find_datatype(handle));
  const ArgumentCounts counts = argument_counts(*type);
  *integers = counts.integers;
  *addresses = counts.addresses;
  *large_counts = counts.large_counts;
  *types = counts.types;
  *combiner = counts.combiner;
  return MPI_SUCCESS;
}

int type_get_contents(MPI_Datatype handle, int max_integers, int max_addresses, int max_datatypes,
                      int array_of_integers[], MPI_Aint array_of_addresses[],
                      MPI_Datatype array_of_datatypes[]) {
  RMA_TRY_ASSIGN(type, find_datatype(handle));
  if (argument_counts(*type).large_counts != 0) return made_large();
  const ArgumentCounts room = {.integers = max_integers, .addresses = max_addresses, .types = max_datatypes};
  return store_contents(handle, room, array_of_integers, array_of_addresses, nullptr, array_of_datatypes);
}

int type_get_contents_c(MPI_Datatype handle, MPI_Count max_integers, MPI_Count max_addresses,
                        MPI_Count max_large_counts, MPI_Count max_datatypes, int array_of_integers[],
                        MPI_Aint array_of_addresses[], MPI_Count array_of_large_counts[],
                        MPI_Datatype array_of_datatypes[]) {
  RMA_TRY_ASSIGN(type, find_datatype(handle));
  if (array_of_large_counts == nullptr && argument_counts(*type).large_counts != 0)
    return failure(MPI_ERR_ARG, "array_of_large_counts is null");
  const ArgumentCounts room = {.integers = max_integers,
                               .addresses = max_addresses,
                               .large_counts = max_large_counts,
                               .types = max_datatypes};
  return store_contents(handle, room, array_of_integers, array_of_addresses, array_of_large_counts,
                        array_of_datatypes);
}

}  // namespace librma::mpi
