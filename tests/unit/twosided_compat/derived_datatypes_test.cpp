// Derived datatypes: bounds, large counts, contents, mistakes, and lifetimes.

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "mpi.h"

namespace {

/// A datatype that is freed at the end of the test.
class Type {
 public:
  Type() = default;
  ~Type() {
    if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
  }
  Type(const Type&) = delete;
  Type& operator=(const Type&) = delete;
  /// Returns where a call stores the handle.
  MPI_Datatype* place() { return &type_; }
  operator MPI_Datatype() const { return type_; }  // NOLINT(google-explicit-constructor): as a handle

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

void expect_bounds(MPI_Datatype type, MPI_Count size, MPI_Count lower, MPI_Count extent, MPI_Count true_lower,
                   MPI_Count true_extent) {
  MPI_Count got = -1;
  MPI_Count got_extent = -1;
  EXPECT_EQ(MPI_Type_size_c(type, &got), MPI_SUCCESS);
  EXPECT_EQ(got, size);
  EXPECT_EQ(MPI_Type_get_extent_x(type, &got, &got_extent), MPI_SUCCESS);
  EXPECT_EQ(got, lower);
  EXPECT_EQ(got_extent, extent);
  EXPECT_EQ(MPI_Type_get_true_extent_x(type, &got, &got_extent), MPI_SUCCESS);
  EXPECT_EQ(got, true_lower);
  EXPECT_EQ(got_extent, true_extent);
}

TEST(DerivedDatatypes, NegativeStridesAndBounds) {
  Type vector;
  ASSERT_EQ(MPI_Type_vector(3, 2, -4, MPI_INT, vector.place()), MPI_SUCCESS);
  expect_bounds(vector, 24, -32, 40, -32, 40);
  Type padded;
  const std::array lengths = {1, 1};
  const std::array<MPI_Aint, 2> places = {0, 8};
  const std::array types = {MPI_DOUBLE, MPI_CHAR};
  ASSERT_EQ(MPI_Type_create_struct(2, lengths.data(), places.data(), types.data(), padded.place()),
            MPI_SUCCESS);
  expect_bounds(padded, 9, 0, 16, 0, 9);
  Type array;
  ASSERT_EQ(MPI_Type_contiguous(3, padded, array.place()), MPI_SUCCESS);
  expect_bounds(array, 27, 0, 48, 0, 41);
  Type resized;
  ASSERT_EQ(MPI_Type_create_resized(padded, -8, 40, resized.place()), MPI_SUCCESS);
  expect_bounds(resized, 9, -8, 40, 0, 9);
  // The bounds that the program has set count alone, also in a type with other parts.
  Type both;
  const std::array<MPI_Aint, 2> far = {100, 0};
  const std::array<MPI_Datatype, 2> parts = {resized, MPI_INT};
  ASSERT_EQ(MPI_Type_create_struct(2, lengths.data(), far.data(), parts.data(), both.place()), MPI_SUCCESS);
  expect_bounds(both, 13, 92, 40, 0, 109);
}

TEST(DerivedDatatypes, NothingInThem) {
  Type none;
  ASSERT_EQ(MPI_Type_contiguous(0, MPI_INT, none.place()), MPI_SUCCESS);
  expect_bounds(none, 0, 0, 0, 0, 0);
  Type indexed;
  const std::array lengths = {0, 0};
  const std::array places = {5, 9};
  ASSERT_EQ(MPI_Type_indexed(2, lengths.data(), places.data(), MPI_INT, indexed.place()), MPI_SUCCESS);
  expect_bounds(indexed, 0, 0, 0, 0, 0);
  Type indexed_without;
  ASSERT_EQ(MPI_Type_indexed(0, nullptr, nullptr, MPI_INT, indexed_without.place()), MPI_SUCCESS);
  Type wide;
  ASSERT_EQ(MPI_Type_create_resized(none, 4, 12, wide.place()), MPI_SUCCESS);
  expect_bounds(wide, 0, 4, 12, 0, 0);
  Type three;
  ASSERT_EQ(MPI_Type_contiguous(3, wide, three.place()), MPI_SUCCESS);
  expect_bounds(three, 0, 4, 36, 0, 0);
  MPI_Status status = {};
  int count = -1;
  EXPECT_EQ(MPI_Get_count(&status, none, &count), MPI_SUCCESS);
  EXPECT_EQ(count, 0);
  EXPECT_EQ(MPI_Get_elements(&status, none, &count), MPI_SUCCESS);
  EXPECT_EQ(count, 0);
}

TEST(DerivedDatatypes, CountsBeyondInt) {
  constexpr MPI_Count kMany = MPI_Count{1} << 40U;
  Type contiguous;
  ASSERT_EQ(MPI_Type_contiguous_c(kMany, MPI_DOUBLE, contiguous.place()), MPI_SUCCESS);
  expect_bounds(contiguous, 8 * kMany, 0, 8 * kMany, 0, 8 * kMany);
  int size = 0;
  EXPECT_EQ(MPI_Type_size(contiguous, &size), MPI_SUCCESS);
  EXPECT_EQ(size, MPI_UNDEFINED);
  Type vector;
  ASSERT_EQ(MPI_Type_vector_c(kMany, 1, 4, MPI_INT, vector.place()), MPI_SUCCESS);
  expect_bounds(vector, 4 * kMany, 0, 16 * (kMany - 1) + 4, 0, 16 * (kMany - 1) + 4);
  MPI_Status status = {};
  MPI_Count elements = 0;
  ASSERT_EQ(MPI_Status_set_elements_c(&status, vector, kMany - 3), MPI_SUCCESS);
  EXPECT_EQ(MPI_Get_elements_c(&status, vector, &elements), MPI_SUCCESS);
  EXPECT_EQ(elements, kMany - 3);
  // More than 64 bits can say.
  MPI_Datatype too_large = MPI_DATATYPE_NULL;
  EXPECT_EQ(MPI_Type_contiguous_c(kMany, contiguous, &too_large), MPI_ERR_ARG);
  EXPECT_EQ(MPI_Type_create_hvector_c(3, 1, MPI_Count{1} << 62U, MPI_INT, &too_large), MPI_ERR_ARG);
  EXPECT_EQ(MPI_Type_vector_c(3, 1, MPI_Count{1} << 62U, MPI_INT, &too_large), MPI_ERR_ARG);
  EXPECT_EQ(MPI_Type_create_resized_c(MPI_INT, MPI_Count{1} << 62U, MPI_Count{1} << 62U, &too_large),
            MPI_ERR_ARG);
  EXPECT_EQ(too_large, MPI_DATATYPE_NULL);
}

/// Checks the contents of a type whose arguments were large. All types are made of MPI_INT.
void expect_large_contents(MPI_Datatype type, int combiner, const std::vector<int>& integers,
                           const std::vector<MPI_Count>& counts) {
  MPI_Count number_of_integers = -1;
  MPI_Count number_of_addresses = -1;
  MPI_Count number_of_counts = -1;
  MPI_Count number_of_types = -1;
  int got_combiner = -1;
  ASSERT_EQ(MPI_Type_get_envelope_c(type, &number_of_integers, &number_of_addresses, &number_of_counts,
                                    &number_of_types, &got_combiner),
            MPI_SUCCESS);
  EXPECT_EQ(got_combiner, combiner);
  EXPECT_EQ(number_of_addresses, 0);
  ASSERT_EQ(static_cast<std::size_t>(number_of_integers), integers.size());
  ASSERT_EQ(static_cast<std::size_t>(number_of_counts), counts.size());
  ASSERT_EQ(number_of_types, 1);
  std::vector<int> got_integers(integers.size() + 1);
  std::vector<MPI_Count> got_counts(counts.size());
  MPI_Datatype part = MPI_DATATYPE_NULL;
  ASSERT_EQ(MPI_Type_get_contents_c(type, number_of_integers, 0, number_of_counts, 1, got_integers.data(),
                                    nullptr, got_counts.data(), &part),
            MPI_SUCCESS);
  got_integers.pop_back();
  EXPECT_EQ(got_integers, integers);
  EXPECT_EQ(got_counts, counts);
  EXPECT_EQ(part, MPI_INT);
  // The plain form has no place for large counts.
  int number = -1;
  EXPECT_EQ(MPI_Type_get_envelope(type, &number, &number, &number, &number), MPI_ERR_TYPE);
  EXPECT_EQ(MPI_Type_get_contents(type, 9, 9, 1, got_integers.data(), nullptr, &part), MPI_ERR_TYPE);
}

TEST(DerivedDatatypes, ContentsOfTheLargeForms) {
  const std::array<MPI_Count, 2> lengths = {1, 2};
  const std::array<MPI_Count, 2> places = {3, 40};
  Type contiguous;
  ASSERT_EQ(MPI_Type_contiguous_c(5, MPI_INT, contiguous.place()), MPI_SUCCESS);
  expect_large_contents(contiguous, MPI_COMBINER_CONTIGUOUS, {}, {5});
  Type vector;
  ASSERT_EQ(MPI_Type_vector_c(2, 3, 4, MPI_INT, vector.place()), MPI_SUCCESS);
  expect_large_contents(vector, MPI_COMBINER_VECTOR, {}, {2, 3, 4});
  Type hvector;
  ASSERT_EQ(MPI_Type_create_hvector_c(2, 3, 44, MPI_INT, hvector.place()), MPI_SUCCESS);
  expect_large_contents(hvector, MPI_COMBINER_HVECTOR, {}, {2, 3, 44});
  Type indexed;
  ASSERT_EQ(MPI_Type_indexed_c(2, lengths.data(), places.data(), MPI_INT, indexed.place()), MPI_SUCCESS);
  expect_large_contents(indexed, MPI_COMBINER_INDEXED, {}, {2, 1, 2, 3, 40});
  expect_bounds(indexed, 12, 12, 156, 12, 156);
  Type hindexed;
  ASSERT_EQ(MPI_Type_create_hindexed_c(2, lengths.data(), places.data(), MPI_INT, hindexed.place()),
            MPI_SUCCESS);
  expect_large_contents(hindexed, MPI_COMBINER_HINDEXED, {}, {2, 1, 2, 3, 40});
  Type indexed_block;
  ASSERT_EQ(MPI_Type_create_indexed_block_c(2, 3, places.data(), MPI_INT, indexed_block.place()),
            MPI_SUCCESS);
  expect_large_contents(indexed_block, MPI_COMBINER_INDEXED_BLOCK, {}, {2, 3, 3, 40});
  Type hindexed_block;
  ASSERT_EQ(MPI_Type_create_hindexed_block_c(2, 3, places.data(), MPI_INT, hindexed_block.place()),
            MPI_SUCCESS);
  expect_large_contents(hindexed_block, MPI_COMBINER_HINDEXED_BLOCK, {}, {2, 3, 3, 40});
  Type structure;
  const std::array types = {MPI_INT};
  ASSERT_EQ(MPI_Type_create_struct_c(1, lengths.data(), places.data(), types.data(), structure.place()),
            MPI_SUCCESS);
  expect_large_contents(structure, MPI_COMBINER_STRUCT, {}, {1, 1, 3});
  Type resized;
  ASSERT_EQ(MPI_Type_create_resized_c(MPI_INT, -2, 20, resized.place()), MPI_SUCCESS);
  expect_large_contents(resized, MPI_COMBINER_RESIZED, {}, {-2, 20});
  Type subarray;
  const std::array<MPI_Count, 2> sizes = {4, 5};
  const std::array<MPI_Count, 2> starts = {2, 1};
  ASSERT_EQ(MPI_Type_create_subarray_c(2, sizes.data(), lengths.data(), starts.data(), MPI_ORDER_C, MPI_INT,
                                       subarray.place()),
            MPI_SUCCESS);
  expect_large_contents(subarray, MPI_COMBINER_SUBARRAY, {2, MPI_ORDER_C}, {4, 5, 1, 2, 2, 1});
  expect_bounds(subarray, 8, 0, 80, 44, 8);
  Type darray;
  const std::array kinds = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
  const std::array arguments = {MPI_DISTRIBUTE_DFLT_DARG, 2};
  const std::array grid = {2, 1};
  ASSERT_EQ(MPI_Type_create_darray_c(2, 1, 2, sizes.data(), kinds.data(), arguments.data(), grid.data(),
                                     MPI_ORDER_FORTRAN, MPI_INT, darray.place()),
            MPI_SUCCESS);
  expect_large_contents(darray, MPI_COMBINER_DARRAY,
                        {2, 1, 2, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_DFLT_DARG, 2, 2,
                         1, MPI_ORDER_FORTRAN},
                        {4, 5});
}

TEST(DerivedDatatypes, Mistakes) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const std::array negative = {1, -1};
  const std::array<MPI_Aint, 2> places = {0, 8};
  const std::array indices = {0, 8};
  EXPECT_EQ(MPI_Type_contiguous(-1, MPI_INT, &type), MPI_ERR_COUNT);
  EXPECT_EQ(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &type), MPI_ERR_TYPE);
  EXPECT_EQ(MPI_Type_contiguous(1, MPI_INT, nullptr), MPI_ERR_ARG);
  EXPECT_EQ(MPI_Type_vector(-1, 1, 1, MPI_INT, &type), MPI_ERR_COUNT);
  EXPECT_EQ(MPI_Type_vector(1, -1, 1, MPI_INT, &type), MPI_ERR_ARG);
  EXPECT_EQ(MPI_Type_create_hvector(1, -1, 1, MPI_INT, &type), MPI_ERR_ARG);
  EXPECT_EQ(MPI_Type_indexed(2, negative.data(), indices.data(), MPI_INT, &type), MPI_ERR_ARG);
  EXPECT_EQ(MPI_Type_indexed(2, nullptr, indices.data(), MPI_INT, &type), MPI_ERR_ARG);
  EXPECT_EQ(MPI_Type_create_hindexed(2, negative.data(), places.data(), MPI_INT, &type), MPI_ERR_ARG);
  EXPECT_EQ(MPI_Type_create_indexed_block(2, -3, indices.data(), MPI_INT, &type), MPI_ERR_ARG);
  EXPECT_EQ(MPI_Type_create_hindexed_block(-2, 3, places.data(), MPI_INT, &type), MPI_ERR_COUNT);
  const std::array types = {MPI_INT, MPI_DATATYPE_NULL};
  const std::array ones = {1, 1};
  EXPECT_EQ(MPI_Type_create_struct(2, ones.data(), places.data(), types.data(), &type), MPI_ERR_TYPE);
  EXPECT_EQ(MPI_Type_create_struct(2, negative.data(), places.data(), types.data(), &type), MPI_ERR_ARG);
  const std::array sizes = {4, 4};
  const std::array outside = {1, 5};
  const std::array starts = {0, 0};
  EXPECT_EQ(
      MPI_Type_create_subarray(2, sizes.data(), outside.data(), starts.data(), MPI_ORDER_C, MPI_INT, &type),
      MPI_ERR_ARG);
  EXPECT_EQ(MPI_Type_create_subarray(2, sizes.data(), ones.data(), starts.data(), 7, MPI_INT, &type),
            MPI_ERR_ARG);
  EXPECT_EQ(
      MPI_Type_create_subarray(0, sizes.data(), ones.data(), starts.data(), MPI_ORDER_C, MPI_INT, &type),
      MPI_ERR_ARG);
  const std::array kinds = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE};
  const std::array arguments = {1, MPI_DISTRIBUTE_DFLT_DARG};
  const std::array grid = {2, 1};
  // A block of 1 for each of 2 processes leaves 2 of the 4 indices without a process.
  EXPECT_EQ(MPI_Type_create_darray(2, 0, 2, sizes.data(), kinds.data(), arguments.data(), grid.data(),
                                   MPI_ORDER_C, MPI_INT, &type),
            MPI_ERR_ARG);
  EXPECT_EQ(type, MPI_DATATYPE_NULL);

  // A type must be committed before it moves data.
  ASSERT_EQ(MPI_Type_vector(2, 1, 2, MPI_INT, &type), MPI_SUCCESS);
  std::array<int, 4> data = {};
  MPI_Request request = MPI_REQUEST_NULL;
  EXPECT_EQ(MPI_Send(data.data(), 1, type, 0, 0, MPI_COMM_SELF), MPI_ERR_TYPE);
  EXPECT_EQ(MPI_Irecv(data.data(), 1, type, 0, 0, MPI_COMM_SELF, &request), MPI_ERR_TYPE);
  EXPECT_EQ(MPI_Bcast(data.data(), 1, type, 0, MPI_COMM_SELF), MPI_ERR_TYPE);
  int position = 0;
  EXPECT_EQ(MPI_Pack(data.data(), 1, type, data.data(), 8, &position, MPI_COMM_SELF), MPI_ERR_TYPE);
  EXPECT_EQ(MPI_Type_commit(&type), MPI_SUCCESS);
  EXPECT_EQ(MPI_Send(data.data(), -1, type, 0, 0, MPI_COMM_SELF), MPI_ERR_COUNT);
  EXPECT_EQ(MPI_Send(nullptr, 1, type, 0, 0, MPI_COMM_SELF), MPI_ERR_BUFFER);
  EXPECT_EQ(MPI_Reduce_local(data.data() + 2, data.data(), 1, type, MPI_SUM), MPI_ERR_OP);
  int integers = -1;
  int combiner = -1;
  ASSERT_EQ(MPI_Type_get_envelope(type, &integers, &integers, &integers, &combiner), MPI_SUCCESS);
  MPI_Datatype part = MPI_DATATYPE_NULL;
  EXPECT_EQ(MPI_Type_get_contents(type, 2, 0, 1, &integers, nullptr, &part),
            MPI_ERR_ARG);  // it has 3 integers
  EXPECT_EQ(MPI_Type_get_contents(MPI_INT, 2, 0, 1, &integers, nullptr, &part), MPI_ERR_TYPE);
  EXPECT_EQ(MPI_Type_free(&type), MPI_SUCCESS);
}

// A type lives as long as another one that was made of it.
TEST(DerivedDatatypes, OutliveTheirHandles) {
  MPI_Datatype inner = MPI_DATATYPE_NULL;
  Type outer;
  ASSERT_EQ(MPI_Type_vector(2, 1, 3, MPI_SHORT, &inner), MPI_SUCCESS);
  ASSERT_EQ(MPI_Type_contiguous(2, inner, outer.place()), MPI_SUCCESS);
  ASSERT_EQ(MPI_Type_set_name(inner, "inner"), MPI_SUCCESS);
  ASSERT_EQ(MPI_Type_free(&inner), MPI_SUCCESS);
  int count = 0;
  for (int round = 0; round < 2; ++round) {
    ASSERT_EQ(MPI_Type_get_contents(outer, 1, 0, 1, &count, nullptr, &inner), MPI_SUCCESS);
    EXPECT_EQ(count, 2);
    expect_bounds(inner, 4, 0, 8, 0, 8);
    char name[MPI_MAX_OBJECT_NAME];
    ASSERT_EQ(MPI_Type_get_name(inner, name, &count), MPI_SUCCESS);
    EXPECT_STREQ(name, "inner");
    ASSERT_EQ(MPI_Type_free(&inner), MPI_SUCCESS);
  }
}

TEST(DerivedDatatypes, CopiesAreCommittedAsTheirOriginal) {
  Type original;
  Type copy;
  Type later;
  std::array<int, 4> data = {1, 2, 3, 4};
  std::array<int, 2> packed = {};
  int position = 0;
  ASSERT_EQ(MPI_Type_vector(2, 1, 2, MPI_INT, original.place()), MPI_SUCCESS);
  ASSERT_EQ(MPI_Type_dup(original, copy.place()), MPI_SUCCESS);
  EXPECT_EQ(MPI_Pack(data.data(), 1, copy, packed.data(), 8, &position, MPI_COMM_SELF), MPI_ERR_TYPE);
  ASSERT_EQ(MPI_Type_commit(original.place()), MPI_SUCCESS);
  ASSERT_EQ(MPI_Type_dup(original, later.place()), MPI_SUCCESS);
  EXPECT_EQ(MPI_Pack(data.data(), 1, later, packed.data(), 8, &position, MPI_COMM_SELF), MPI_SUCCESS);
  EXPECT_EQ(packed, (std::array{1, 3}));
  int combiner = 0;
  int none = -1;
  ASSERT_EQ(MPI_Type_get_envelope(later, &none, &none, &none, &combiner), MPI_SUCCESS);
  EXPECT_EQ(combiner, MPI_COMBINER_DUP);
}

/// Checks a type that was chosen by precision: it is `same`, without its name, and says what chose it.
void expect_chosen(MPI_Datatype type, MPI_Datatype same, int combiner, const std::vector<int>& arguments) {
  EXPECT_NE(type, same);
  int size = -1;
  int wanted = 0;
  EXPECT_EQ(MPI_Type_size(type, &size), MPI_SUCCESS);
  EXPECT_EQ(MPI_Type_size(same, &wanted), MPI_SUCCESS);
  EXPECT_EQ(size, wanted);
  int integers = -1;
  int none = -1;
  int found = -1;
  EXPECT_EQ(MPI_Type_get_envelope(type, &integers, &none, &none, &found), MPI_SUCCESS);
  EXPECT_EQ(found, combiner);
  ASSERT_EQ(static_cast<std::size_t>(integers), arguments.size());
  std::vector<int> contents(arguments.size());
  EXPECT_EQ(MPI_Type_get_contents(type, integers, 0, 0, contents.data(), nullptr, nullptr), MPI_SUCCESS);
  EXPECT_EQ(contents, arguments);
  MPI_Datatype freed = type;
  EXPECT_EQ(MPI_Type_free(&freed), MPI_ERR_TYPE);
}

TEST(DerivedDatatypes, FortranTypesByPrecision) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  EXPECT_EQ(MPI_Type_create_f90_real(6, MPI_UNDEFINED, &type), MPI_SUCCESS);
  expect_chosen(type, MPI_REAL4, MPI_COMBINER_F90_REAL, {6, MPI_UNDEFINED});
  EXPECT_EQ(MPI_Type_create_f90_real(6, 100, &type), MPI_SUCCESS);
  expect_chosen(type, MPI_REAL8, MPI_COMBINER_F90_REAL, {6, 100});
  MPI_Datatype again = MPI_DATATYPE_NULL;
  EXPECT_EQ(MPI_Type_create_f90_real(6, 100, &again), MPI_SUCCESS);
  EXPECT_EQ(again, type) << "the same arguments give the same handle";
  const double one = 1.5;
  double sum = 0;
  EXPECT_EQ(MPI_Allreduce(&one, &sum, 1, type, MPI_SUM, MPI_COMM_SELF), MPI_SUCCESS);
  EXPECT_EQ(sum, 1.5);
  EXPECT_EQ(MPI_Type_create_f90_complex(16, MPI_UNDEFINED, &type), MPI_SUCCESS);
  expect_chosen(type, MPI_COMPLEX32, MPI_COMBINER_F90_COMPLEX, {16, MPI_UNDEFINED});
  EXPECT_EQ(MPI_Type_create_f90_integer(5, &type), MPI_SUCCESS);
  expect_chosen(type, MPI_INTEGER4, MPI_COMBINER_F90_INTEGER, {5});
  EXPECT_EQ(MPI_Type_create_f90_integer(39, &type), MPI_ERR_ARG);
  EXPECT_EQ(MPI_Type_create_f90_real(34, MPI_UNDEFINED, &type), MPI_ERR_ARG);
  EXPECT_EQ(MPI_Type_create_f90_real(MPI_UNDEFINED, MPI_UNDEFINED, &type), MPI_ERR_ARG);
}

}  // namespace
