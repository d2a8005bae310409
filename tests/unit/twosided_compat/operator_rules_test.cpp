// Which operators are defined for which datatypes, and the operators of a program.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mpi.h"

namespace {

/// The datatypes of each class of the standard's table of operators.
struct ClassOfTypes {
  std::string
      operators;  // a letter for each group: a sum, product; m min, max; b bitwise; l logical; p located
  std::vector<MPI_Datatype> types;
};

const std::vector<ClassOfTypes>& classes_of_types() {
  static const std::vector<ClassOfTypes> kClasses = {
      {"ambl", {MPI_SHORT,          MPI_INT,           MPI_LONG,          MPI_LONG_LONG,
                MPI_UNSIGNED_SHORT, MPI_UNSIGNED,      MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG,
                MPI_SIGNED_CHAR,    MPI_UNSIGNED_CHAR, MPI_INT8_T,        MPI_INT16_T,
                MPI_INT32_T,        MPI_INT64_T,       MPI_UINT8_T,       MPI_UINT16_T,
                MPI_UINT32_T,       MPI_UINT64_T,      MPI_CHAR,          MPI_AINT,
                MPI_COUNT,          MPI_OFFSET}},
      {"amb", {MPI_INTEGER, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8, MPI_INTEGER16}},
      {"am", {MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION, MPI_REAL4, MPI_REAL8}},
      {"l",
       {MPI_C_BOOL, MPI_CXX_BOOL, MPI_LOGICAL, MPI_LOGICAL1, MPI_LOGICAL2, MPI_LOGICAL4, MPI_LOGICAL8,
        MPI_LOGICAL16}},
      {"a",
       {MPI_COMPLEX, MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX,
        MPI_CXX_FLOAT_COMPLEX, MPI_CXX_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX, MPI_DOUBLE_COMPLEX,
        MPI_COMPLEX8, MPI_COMPLEX16}},
      {"b", {MPI_BYTE}},
      {"p",
       {MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT, MPI_2INT, MPI_SHORT_INT, MPI_LONG_DOUBLE_INT, MPI_2REAL,
        MPI_2DOUBLE_PRECISION, MPI_2INTEGER}},
      {"", {MPI_WCHAR, MPI_CHARACTER, MPI_PACKED}}};
  return kClasses;
}

struct GroupOfOperators {
  char letter;
  std::vector<MPI_Op> operators;
};

TEST(MpiOperatorRules, OperatorsAreDefinedForTheClassesOfTheStandard) {
  const std::vector<GroupOfOperators> groups = {
      {'a', {MPI_SUM, MPI_PROD}},           {'m', {MPI_MIN, MPI_MAX}},
      {'b', {MPI_BAND, MPI_BOR, MPI_BXOR}}, {'l', {MPI_LAND, MPI_LOR, MPI_LXOR}},
      {'p', {MPI_MINLOC, MPI_MAXLOC}},      {'-', {MPI_REPLACE, MPI_NO_OP, MPI_OP_NULL}}};
  alignas(64) std::byte in[64] = {};
  alignas(64) std::byte inout[64] = {};
  for (const ClassOfTypes& types : classes_of_types()) {
    for (const MPI_Datatype type : types.types) {
      for (const GroupOfOperators& group : groups) {
        const bool defined = types.operators.find(group.letter) != std::string::npos;
        for (const MPI_Op op : group.operators) {
          EXPECT_EQ(MPI_Reduce_local(in, inout, 1, type, op), defined ? MPI_SUCCESS : MPI_ERR_OP)
              << "type " << MPI_Type_toint(type) << ", operator " << MPI_Op_toint(op);
        }
      }
    }
  }
}

// The standard reserves MPI_CHAR for text, but MPICH and Open MPI combine it, and programs rely on that.
TEST(MpiOperatorRules, CharactersOfCAreIntegersWithTheSignOfChar) {
  const char in = -3;  // with or without a sign, as the compiler's char has it
  char inout = 5;
  EXPECT_EQ(MPI_Reduce_local(&in, &inout, 1, MPI_CHAR, MPI_SUM), MPI_SUCCESS);
  EXPECT_EQ(inout, 2);
  inout = 5;
  EXPECT_EQ(MPI_Reduce_local(&in, &inout, 1, MPI_CHAR, MPI_MIN), MPI_SUCCESS);
  EXPECT_EQ(inout, std::min<char>(in, 5));
}

TEST(MpiOperatorRules, WrongArguments) {
  int in = 1;
  int inout = 2;
  EXPECT_EQ(MPI_Reduce_local(&in, &inout, 1, MPI_DATATYPE_NULL, MPI_SUM), MPI_ERR_TYPE);
  EXPECT_EQ(MPI_Reduce_local(&in, &inout, -1, MPI_INT, MPI_SUM), MPI_ERR_COUNT);
  EXPECT_EQ(MPI_Reduce_local(&in, &in, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
  EXPECT_EQ(MPI_Reduce_local(MPI_IN_PLACE, &inout, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
  EXPECT_EQ(inout, 2);
  MPI_Op sum = MPI_SUM;
  EXPECT_EQ(MPI_Op_free(&sum), MPI_ERR_OP);
  MPI_Op null = MPI_OP_NULL;
  EXPECT_EQ(MPI_Op_free(&null), MPI_ERR_OP);
  EXPECT_EQ(MPI_Op_create(nullptr, 1, &sum), MPI_ERR_ARG);
}

MPI_Datatype seen_type = MPI_DATATYPE_NULL;

void subtract(void* in, void* inout, int* length, MPI_Datatype* type) {
  seen_type = *type;
  for (int i = 0; i < *length; ++i)
    static_cast<int*>(inout)[i] = static_cast<int*>(in)[i] - static_cast<int*>(inout)[i];
}
void subtract_large(void* in, void* inout, MPI_Count* length, MPI_Datatype* type) {
  int small = static_cast<int>(*length);
  subtract(in, inout, &small, type);
}

TEST(MpiOperatorRules, OperatorsOfTheProgram) {
  for (const bool large : {false, true}) {
    MPI_Op op = MPI_OP_NULL;
    ASSERT_EQ(large ? MPI_Op_create_c(subtract_large, 0, &op) : MPI_Op_create(subtract, 0, &op), MPI_SUCCESS);
    int commutes = 1;
    EXPECT_EQ(MPI_Op_commutative(op, &commutes), MPI_SUCCESS);
    EXPECT_EQ(commutes, 0);
    const int in[3] = {10, 20, 30};
    int inout[3] = {1, 2, 3};
    EXPECT_EQ(
        large ? MPI_Reduce_local(in, inout, 2, MPI_INT, op) : MPI_Reduce_local_c(in, inout, 2, MPI_INT, op),
        MPI_SUCCESS);
    EXPECT_EQ(inout[0], 9);
    EXPECT_EQ(inout[1], 18);
    EXPECT_EQ(inout[2], 3);
    EXPECT_EQ(seen_type, MPI_INT);
    EXPECT_EQ(MPI_Op_fromint(MPI_Op_toint(op)), op);
    EXPECT_EQ(MPI_Op_free(&op), MPI_SUCCESS);
    EXPECT_EQ(op, MPI_OP_NULL);
  }
  int commutes = 0;
  EXPECT_EQ(MPI_Op_commutative(MPI_SUM, &commutes), MPI_SUCCESS);
  EXPECT_EQ(commutes, 1);
}

}  // namespace
