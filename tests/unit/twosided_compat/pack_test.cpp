// Packing, also in the representation external32, and counts of elements in parts of a type.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "mpi.h"

namespace {

struct Mixed {
  char letter;
  double number;
  std::array<int, 2> pair;
};

/// Returns the type of a Mixed, which the caller frees.
MPI_Datatype mixed_type() {
  const std::array lengths = {1, 1, 2};
  const std::array<MPI_Aint, 3> places = {offsetof(Mixed, letter), offsetof(Mixed, number),
                                          offsetof(Mixed, pair)};
  const std::array types = {MPI_CHAR, MPI_DOUBLE, MPI_INT};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  EXPECT_EQ(MPI_Type_create_struct(3, lengths.data(), places.data(), types.data(), &type), MPI_SUCCESS);
  EXPECT_EQ(MPI_Type_commit(&type), MPI_SUCCESS);
  return type;
}

TEST(Pack, SeveralPiecesInOneBuffer) {
  MPI_Datatype type = mixed_type();
  const std::array<Mixed, 2> out = {Mixed{'a', 1.5, {1, 2}}, Mixed{'b', 2.5, {3, 4}}};
  const short extra = 77;
  MPI_Count size = 0;
  ASSERT_EQ(MPI_Pack_size_c(2, type, MPI_COMM_SELF, &size), MPI_SUCCESS);
  EXPECT_EQ(size, 2 * 17);
  std::vector<char> packed(static_cast<std::size_t>(size) + sizeof extra);
  const auto room = static_cast<MPI_Count>(packed.size());
  MPI_Count position = 0;
  ASSERT_EQ(MPI_Pack_c(&extra, 1, MPI_SHORT, packed.data(), room, &position, MPI_COMM_SELF), MPI_SUCCESS);
  ASSERT_EQ(MPI_Pack_c(out.data(), 2, type, packed.data(), room, &position, MPI_COMM_SELF), MPI_SUCCESS);
  EXPECT_EQ(position, room);
  EXPECT_EQ(MPI_Pack_c(&extra, 1, MPI_CHAR, packed.data(), room, &position, MPI_COMM_SELF), MPI_ERR_TRUNCATE);
  EXPECT_EQ(MPI_Pack_c(&extra, 1, MPI_CHAR, packed.data(), room, nullptr, MPI_COMM_SELF), MPI_ERR_ARG);
  position = -1;
  EXPECT_EQ(MPI_Pack_c(&extra, 1, MPI_CHAR, packed.data(), room, &position, MPI_COMM_SELF), MPI_ERR_ARG);

  short extra_in = 0;
  std::array<Mixed, 2> in = {};
  position = 0;
  ASSERT_EQ(MPI_Unpack_c(packed.data(), room, &position, &extra_in, 1, MPI_SHORT, MPI_COMM_SELF),
            MPI_SUCCESS);
  ASSERT_EQ(MPI_Unpack_c(packed.data(), room, &position, in.data(), 2, type, MPI_COMM_SELF), MPI_SUCCESS);
  EXPECT_EQ(extra_in, extra);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(in[i].letter, out[i].letter);
    EXPECT_EQ(in[i].number, out[i].number);
    EXPECT_EQ(in[i].pair, out[i].pair);
  }
  EXPECT_EQ(MPI_Unpack_c(packed.data(), room, &position, &extra_in, 1, MPI_SHORT, MPI_COMM_SELF),
            MPI_ERR_TRUNCATE);
  EXPECT_EQ(MPI_Type_free(&type), MPI_SUCCESS);
}

/// Checks what one value is in external32, and that it comes back.
template <class T>
void expect_external(MPI_Datatype type, T value, const std::vector<unsigned char>& expected) {
  MPI_Count size = -1;
  ASSERT_EQ(MPI_Pack_external_size_c("external32", 1, type, &size), MPI_SUCCESS);
  ASSERT_EQ(static_cast<std::size_t>(size), expected.size());
  std::vector<unsigned char> packed(expected.size());
  MPI_Count position = 0;
  ASSERT_EQ(MPI_Pack_external_c("external32", &value, 1, type, packed.data(), size, &position), MPI_SUCCESS);
  EXPECT_EQ(position, size);
  EXPECT_EQ(packed, expected);
  T back = {};
  position = 0;
  ASSERT_EQ(MPI_Unpack_external_c("external32", packed.data(), size, &position, &back, 1, type), MPI_SUCCESS);
  EXPECT_EQ(position, size);
  EXPECT_EQ(back, value);
}

TEST(External32, TypesWhoseSizesDiffer) {
  expect_external<long>(MPI_LONG, -2, {0xFF, 0xFF, 0xFF, 0xFE});
  expect_external<unsigned long>(MPI_UNSIGNED_LONG, 0xFEDCBA98U, {0xFE, 0xDC, 0xBA, 0x98});
  expect_external<long long>(MPI_LONG_LONG, -2, {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE});
  expect_external<wchar_t>(MPI_WCHAR, L'\x20AC', {0x20, 0xAC});
  expect_external<double>(MPI_DOUBLE, 1.0, {0x3F, 0xF0, 0, 0, 0, 0, 0, 0});
  // 1.5 as a number of 128 bits: sign and exponent 0x3FFF, then the fraction .1 in binary.
  std::vector<unsigned char> wide(16);
  wide[0] = 0x3F;
  wide[1] = 0xFF;
  wide[2] = 0x80;
  expect_external<long double>(MPI_LONG_DOUBLE, 1.5L, wide);
  expect_external<bool>(MPI_C_BOOL, true, {1});
  expect_external<std::array<float, 2>>(MPI_C_FLOAT_COMPLEX, {1.0F, -2.0F},
                                        {0x3F, 0x80, 0, 0, 0xC0, 0, 0, 0});
}

TEST(External32, Mistakes) {
  const long large = 1L << 40U;
  const long double nan = std::numeric_limits<long double>::quiet_NaN();
  std::array<unsigned char, 16> packed = {};
  MPI_Count position = 0;
  EXPECT_EQ(MPI_Pack_external_c("external32", &large, 1, MPI_LONG, packed.data(), 16, &position),
            MPI_ERR_CONVERSION);
  EXPECT_EQ(position, 0);
  std::array<char, MPI_MAX_ERROR_STRING> text = {};
  int length = 0;
  ASSERT_EQ(MPI_Error_string(MPI_ERR_CONVERSION, text.data(), &length), MPI_SUCCESS);
  EXPECT_EQ(std::string_view(text.data()).find("program"), std::string_view::npos)
      << "it is not to blame: " << text.data();
  EXPECT_EQ(MPI_Pack_external_c("native", &large, 1, MPI_LONG, packed.data(), 16, &position),
            MPI_ERR_UNSUPPORTED_DATAREP);
  EXPECT_EQ(MPI_Pack_external_c("external32", &large, 1, MPI_LONG_LONG, packed.data(), 7, &position),
            MPI_ERR_TRUNCATE);
  EXPECT_EQ(MPI_Pack_external_c("external32", nullptr, 1, MPI_LONG, packed.data(), 16, &position),
            MPI_ERR_BUFFER);
  ASSERT_EQ(MPI_Pack_external_c("external32", &nan, 1, MPI_LONG_DOUBLE, packed.data(), 16, &position),
            MPI_SUCCESS);
  long double back = 0;
  position = 0;
  ASSERT_EQ(MPI_Unpack_external_c("external32", packed.data(), 16, &position, &back, 1, MPI_LONG_DOUBLE),
            MPI_SUCCESS);
  EXPECT_TRUE(std::isnan(back));
}

TEST(External32, DerivedTypes) {
  MPI_Datatype type = mixed_type();
  const Mixed out = {'x', 1.0, {1, -1}};
  std::array<unsigned char, 17> packed = {};
  MPI_Aint position = 0;
  ASSERT_EQ(MPI_Pack_external("external32", &out, 1, type, packed.data(), 17, &position), MPI_SUCCESS);
  EXPECT_EQ(packed, (std::array<unsigned char, 17>{'x', 0x3F, 0xF0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xFF, 0xFF,
                                                   0xFF, 0xFF}));
  EXPECT_EQ(MPI_Type_free(&type), MPI_SUCCESS);
}

TEST(Elements, OfPartsOfAStruct) {
  MPI_Datatype type = mixed_type();
  const auto elements_in = [&](int bytes) {
    MPI_Status status = {};
    int count = -1;
    EXPECT_EQ(MPI_Status_set_elements(&status, MPI_BYTE, bytes), MPI_SUCCESS);
    EXPECT_EQ(MPI_Get_elements(&status, type, &count), MPI_SUCCESS);
    return count;
  };
  EXPECT_EQ(elements_in(0), 0);
  EXPECT_EQ(elements_in(1), 1);
  EXPECT_EQ(elements_in(8), MPI_UNDEFINED);
  EXPECT_EQ(elements_in(9), 2);
  EXPECT_EQ(elements_in(13), 3);
  EXPECT_EQ(elements_in(17), 4);
  EXPECT_EQ(elements_in(17 + 9), 6);
  EXPECT_EQ(MPI_Type_free(&type), MPI_SUCCESS);
}

}  // namespace
