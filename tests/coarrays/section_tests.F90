! Gets and puts of elements, sections, vector subscripts and scalars, for elements of each type. The bounds
! and sections are random.
module section_tests
  use checks, only: check, draw, draw_range, seed_numbers
  implicit none
  private
  public :: test_sections

  type :: pair
    integer :: number
    real(8) :: third
  end type pair
  interface operator(==)
    module procedure same_pair
  end interface

contains

  subroutine test_sections()
    integer :: round
    do round = 1, 4
      call test_integer_1(round * 100 + 0)
      call test_integer_2(round * 100 + 1)
      call test_integer_4(round * 100 + 2)
      call test_integer_8(round * 100 + 3)
      call test_integer_16(round * 100 + 4)
      call test_real_4(round * 100 + 5)
      call test_real_8(round * 100 + 6)
      call test_real_10(round * 100 + 7)
      call test_real_16(round * 100 + 8)
      call test_complex_4(round * 100 + 9)
      call test_complex_8(round * 100 + 10)
      call test_complex_16(round * 100 + 11)
      call test_logical_1(round * 100 + 12)
      call test_logical_4(round * 100 + 13)
      call test_logical_8(round * 100 + 14)
      call test_character_1(round * 100 + 15)
      call test_character_4(round * 100 + 16)
      call test_derived(round * 100 + 17)
    end do
  end subroutine test_sections

  elemental logical function same_pair(one, other)
    type(pair), intent(in) :: one, other
    same_pair = one%number == other%number .and. one%third == other%third
  end function same_pair

  elemental function number_text(number) result(text)
    integer, intent(in) :: number
    character(5) :: text
    text = achar(48 + mod(number, 10))//achar(48 + mod(number / 10, 10))// &
      achar(48 + mod(number / 100, 10))//'x'
  end function number_text

  elemental function number_text_4(number) result(text)
    integer, intent(in) :: number
    character(3, 4) :: text
    text = char(1000 + number, 4)//char(48 + mod(number, 10), 4)
  end function number_text_4

#define NAME test_integer_1
#define VALUES values_integer_1
#define TEXT 'integer_1'
#define TYPE integer(1)
#define VALUE(N_) int(mod(N_, 100), 1)
#define SAME ==
#include "section_test.inc"
#undef NAME
#undef VALUES
#undef TEXT
#undef TYPE
#undef VALUE
#undef SAME

#define NAME test_integer_2
#define VALUES values_integer_2
#define TEXT 'integer_2'
#define TYPE integer(2)
#define VALUE(N_) int(N_, 2)
#define SAME ==
#include "section_test.inc"
#undef NAME
#undef VALUES
#undef TEXT
#undef TYPE
#undef VALUE
#undef SAME

#define NAME test_integer_4
#define VALUES values_integer_4
#define TEXT 'integer_4'
#define TYPE integer(4)
#define VALUE(N_) int(N_, 4)
#define SAME ==
#include "section_test.inc"
#undef NAME
#undef VALUES
#undef TEXT
#undef TYPE
#undef VALUE
#undef SAME

#define NAME test_integer_8
#define VALUES values_integer_8
#define TEXT 'integer_8'
#define TYPE integer(8)
#define VALUE(N_) int(N_, 8) * 4294967296_8
#define SAME ==
#include "section_test.inc"
#undef NAME
#undef VALUES
#undef TEXT
#undef TYPE
#undef VALUE
#undef SAME

#define NAME test_integer_16
#define VALUES values_integer_16
#define TEXT 'integer_16'
#define TYPE integer(16)
#define VALUE(N_) int(N_, 16) * 18446744073709551616_16
#define SAME ==
#include "section_test.inc"
#undef NAME
#undef VALUES
#undef TEXT
#undef TYPE
#undef VALUE
#undef SAME

#define NAME test_real_4
#define VALUES values_real_4
#define TEXT 'real_4'
#define TYPE real(4)
#define VALUE(N_) real(N_, 4) / 3
#define SAME ==
#include "section_test.inc"
#undef NAME
#undef VALUES
#undef TEXT
#undef TYPE
#undef VALUE
#undef SAME

#define NAME test_real_8
#define VALUES values_real_8
#define TEXT 'real_8'
#define TYPE real(8)
#define VALUE(N_) real(N_, 8) / 3
#define SAME ==
#include "section_test.inc"
#undef NAME
#undef VALUES
#undef TEXT
#undef TYPE
#undef VALUE
#undef SAME

#define NAME test_real_10
#define VALUES values_real_10
#define TEXT 'real_10'
#define TYPE real(10)
#define VALUE(N_) real(N_, 10) / 3
#define SAME ==
#include "section_test.inc"
#undef NAME
#undef VALUES
#undef TEXT
#undef TYPE
#undef VALUE
#undef SAME

#define NAME test_real_16
#define VALUES values_real_16
#define TEXT 'real_16'
#define TYPE real(16)
#define VALUE(N_) real(N_, 16) / 3
#define SAME ==
#include "section_test.inc"
#undef NAME
#undef VALUES
#undef TEXT
#undef TYPE
#undef VALUE
#undef SAME

#define NAME test_complex_4
#define VALUES values_complex_4
#define TEXT 'complex_4'
#define TYPE complex(4)
#define VALUE(N_) cmplx(N_, -N_, 4)
#define SAME ==
#include "section_test.inc"
#undef NAME
#undef VALUES
#undef TEXT
#undef TYPE
#undef VALUE
#undef SAME

#define NAME test_complex_8
#define VALUES values_complex_8
#define TEXT 'complex_8'
#define TYPE complex(8)
#define VALUE(N_) cmplx(N_, -N_, 8)
#define SAME ==
#include "section_test.inc"
#undef NAME
#undef VALUES
#undef TEXT
#undef TYPE
#undef VALUE
#undef SAME

#define NAME test_complex_16
#define VALUES values_complex_16
#define TEXT 'complex_16'
#define TYPE complex(16)
#define VALUE(N_) cmplx(N_, -N_, 16)
#define SAME ==
#include "section_test.inc"
#undef NAME
#undef VALUES
#undef TEXT
#undef TYPE
#undef VALUE
#undef SAME

#define NAME test_logical_1
#define VALUES values_logical_1
#define TEXT 'logical_1'
#define TYPE logical(1)
#define VALUE(N_) logical(mod(N_, 3) == 0, 1)
#define SAME .eqv.
#include "section_test.inc"
#undef NAME
#undef VALUES
#undef TEXT
#undef TYPE
#undef VALUE
#undef SAME

#define NAME test_logical_4
#define VALUES values_logical_4
#define TEXT 'logical_4'
#define TYPE logical(4)
#define VALUE(N_) logical(mod(N_, 3) == 0, 4)
#define SAME .eqv.
#include "section_test.inc"
#undef NAME
#undef VALUES
#undef TEXT
#undef TYPE
#undef VALUE
#undef SAME

#define NAME test_logical_8
#define VALUES values_logical_8
#define TEXT 'logical_8'
#define TYPE logical(8)
#define VALUE(N_) logical(mod(N_, 3) == 0, 8)
#define SAME .eqv.
#include "section_test.inc"
#undef NAME
#undef VALUES
#undef TEXT
#undef TYPE
#undef VALUE
#undef SAME

#define NAME test_character_1
#define VALUES values_character_1
#define TEXT 'character_1'
#define TYPE character(5)
#define VALUE(N_) number_text(N_)
#define SAME ==
#include "section_test.inc"
#undef NAME
#undef VALUES
#undef TEXT
#undef TYPE
#undef VALUE
#undef SAME

#define NAME test_character_4
#define VALUES values_character_4
#define TEXT 'character_4'
#define TYPE character(3, 4)
#define VALUE(N_) number_text_4(N_)
#define SAME ==
#include "section_test.inc"
#undef NAME
#undef VALUES
#undef TEXT
#undef TYPE
#undef VALUE
#undef SAME

#define NAME test_derived
#define VALUES values_derived
#define TEXT 'derived'
#define TYPE type(pair)
#define VALUE(N_) pair(N_, real(N_, 8) / 3)
#define SAME ==
#include "section_test.inc"
#undef NAME
#undef VALUES
#undef TEXT
#undef TYPE
#undef VALUE
#undef SAME

end module section_tests
