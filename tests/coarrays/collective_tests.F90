! The collective subroutines for elements of each type. Descriptors do not tell real(10) from real(16), so
! co_sum, co_min and co_max take the latter only.
module collective_tests
  use checks, only: check
  implicit none
  private
  public :: test_collectives

  type :: vector
    real(8) :: x, y, z
  end type vector
  type :: dynamic
    integer :: number
    real, allocatable :: values(:)
  end type dynamic

  type :: wide
    integer :: number
    real(8), allocatable :: values(:)
  end type wide

contains

  subroutine test_collectives()
    call test_integer_1()
    call test_integer_2()
    call test_integer_4()
    call test_integer_8()
    call test_integer_16()
    call test_real_4()
    call test_real_8()
    call test_real_16()
    call test_complex_4()
    call test_complex_8()
    call test_complex_16()
    call test_strings()
    call test_reductions()
    call test_broadcasts()
    call test_broadcasts_of_components()
  end subroutine test_collectives

  subroutine test_strings()
    character(3) :: word, words(2)
    character(2, 4) :: wide
    integer :: me, images
    me = this_image()
    images = num_images()
    word = 'x'//achar(64 + me)
    call co_max(word)
    call check(word == 'x'//achar(64 + images), 'co_max of characters')
    words = [achar(64 + me)//'zz', 'b'//achar(96 + me)//' ']
    call co_min(words)
    call check(all(words == ['Azz', 'ba ']), 'co_min of characters')
    wide = char(1000 + me, 4)
    call co_max(wide)
    call check(wide == char(1000 + images, 4), 'co_max of characters of kind 4')
    word = 'abc'
    if (me /= images) word = ''
    call co_broadcast(word, images)
    call check(word == 'abc', 'co_broadcast of characters')
  end subroutine test_strings

  subroutine test_reductions()
    integer :: factorial, values(3, 3), me, images, i
    integer(8) :: long
    real(8) :: product
    complex(4) :: turned
    complex(8) :: turned_more
    logical :: all_true
    character(4) :: word
    type(vector) :: sum
    me = this_image()
    images = num_images()
    factorial = me
    call co_reduce(factorial, multiply)
    call check(factorial == nint(gamma(images + 1d0)), 'co_reduce of integers')
    factorial = me
    call co_reduce(factorial, multiply_values, result_image=images)
    if (me == images) call check(factorial == nint(gamma(images + 1d0)), 'co_reduce by a function of values')
    values = me
    call co_reduce(values(1:3:2, :), multiply)
    call check(all(values(1:3:2, :) == nint(gamma(images + 1d0))) .and. all(values(2, :) == me), &
      'co_reduce of a section')
    long = me
    call co_reduce(long, larger_long)
    call check(long == images, 'co_reduce of long integers')
    product = me
    call co_reduce(product, multiply_reals)
    call check(nint(product) == nint(gamma(images + 1d0)), 'co_reduce of reals')
    turned = (0, 1)
    call co_reduce(turned, multiply_complex)
    call check(abs(turned - (0, 1)**images) < 1e-5, 'co_reduce of complex numbers')
    turned_more = (0, 1)
    call co_reduce(turned_more, multiply_complex_8)
    call check(abs(turned_more - (0, 1)**images) < 1e-5, 'co_reduce of complex numbers of kind 8')
    all_true = me /= images
    call co_reduce(all_true, both)
    call check(.not. all_true, 'co_reduce of logicals')
    word = achar(64 + me)//'bc'
    call co_reduce(word, later)
    call check(word == achar(64 + images)//'bc', 'co_reduce of characters')
    sum = vector(me, 2 * me, 3 * me)
    call co_reduce(sum, add_vectors)
    i = images * (images + 1) / 2
    call check(nint(sum%x) == i .and. nint(sum%y) == 2 * i .and. nint(sum%z) == 3 * i, &
      'co_reduce of a derived type')
  end subroutine test_reductions

  subroutine test_broadcasts()
    type(vector) :: vectors(3)
    type(dynamic) :: object
    integer :: me, images, i
    me = this_image()
    images = num_images()
    vectors = [(vector(me, i, me * i), i=1, 3)]
    call co_broadcast(vectors(3:1:-2), images)
    call check(nint(vectors(3)%x) == images .and. nint(vectors(1)%z) == images, &
      'co_broadcast of a derived type')
    call check(nint(vectors(2)%x) == me, 'co_broadcast beside a section')
    object%number = me
    allocate (object%values(4))
    object%values = me
    call co_broadcast(object, images)
    call check(all(nint(object%values) == images), 'co_broadcast of an allocatable component')
  end subroutine test_broadcasts

  ! The compiler leaves a part of a component's descriptor as that of the logicals has left it on the stack.
  subroutine test_broadcasts_of_components()
    type(wide) :: object
    logical :: flags(4)
    integer :: me, images
    me = this_image()
    images = num_images()
    object%number = me
    allocate (object%values(4))
    object%values = me
    flags = me == images
    call co_broadcast(flags, images)
    call co_broadcast(object, images)
    call check(all(flags), 'co_broadcast of logicals')
    call check(all(nint(object%values) == images), 'co_broadcast of a wide component behind narrow elements')
  end subroutine test_broadcasts_of_components

  pure integer function multiply(a, b)
    integer, intent(in) :: a, b
    multiply = a * b
  end function multiply

  pure integer function multiply_values(a, b)
    integer, value :: a, b
    multiply_values = a * b
  end function multiply_values

  pure integer(8) function larger_long(a, b)
    integer(8), intent(in) :: a, b
    larger_long = max(a, b)
  end function larger_long

  pure real(8) function multiply_reals(a, b)
    real(8), intent(in) :: a, b
    multiply_reals = a * b
  end function multiply_reals

  pure complex(4) function multiply_complex(a, b)
    complex(4), intent(in) :: a, b
    multiply_complex = a * b
  end function multiply_complex

  pure complex(8) function multiply_complex_8(a, b)
    complex(8), intent(in) :: a, b
    multiply_complex_8 = a * b
  end function multiply_complex_8

  pure logical function both(a, b)
    logical, intent(in) :: a, b
    both = a .and. b
  end function both

  pure function later(a, b)
    character(4), intent(in) :: a, b
    character(4) :: later
    later = merge(a, b, a > b)
  end function later

  pure type(vector) function add_vectors(a, b)
    type(vector), intent(in) :: a, b
    add_vectors = vector(a%x + b%x, a%y + b%y, a%z + b%z)
  end function add_vectors

#define NAME test_integer_1
#define TEXT 'integer_1'
#define TYPE integer(1)
#define VALUE(N_) int(N_, 1)
#define SAME ==
#define ORDERED
#include "reduction_test.inc"
#undef NAME
#undef TEXT
#undef TYPE
#undef VALUE
#undef SAME
#undef ORDERED

#define NAME test_integer_2
#define TEXT 'integer_2'
#define TYPE integer(2)
#define VALUE(N_) int(N_, 2)
#define SAME ==
#define ORDERED
#include "reduction_test.inc"
#undef NAME
#undef TEXT
#undef TYPE
#undef VALUE
#undef SAME
#undef ORDERED

#define NAME test_integer_4
#define TEXT 'integer_4'
#define TYPE integer(4)
#define VALUE(N_) int(N_, 4)
#define SAME ==
#define ORDERED
#include "reduction_test.inc"
#undef NAME
#undef TEXT
#undef TYPE
#undef VALUE
#undef SAME
#undef ORDERED

#define NAME test_integer_8
#define TEXT 'integer_8'
#define TYPE integer(8)
#define VALUE(N_) int(N_, 8)
#define SAME ==
#define ORDERED
#include "reduction_test.inc"
#undef NAME
#undef TEXT
#undef TYPE
#undef VALUE
#undef SAME
#undef ORDERED

#define NAME test_integer_16
#define TEXT 'integer_16'
#define TYPE integer(16)
#define VALUE(N_) int(N_, 16)
#define SAME ==
#define ORDERED
#include "reduction_test.inc"
#undef NAME
#undef TEXT
#undef TYPE
#undef VALUE
#undef SAME
#undef ORDERED

#define NAME test_real_4
#define TEXT 'real_4'
#define TYPE real(4)
#define VALUE(N_) real(N_, 4)
#define SAME ==
#define ORDERED
#include "reduction_test.inc"
#undef NAME
#undef TEXT
#undef TYPE
#undef VALUE
#undef SAME
#undef ORDERED

#define NAME test_real_8
#define TEXT 'real_8'
#define TYPE real(8)
#define VALUE(N_) real(N_, 8)
#define SAME ==
#define ORDERED
#include "reduction_test.inc"
#undef NAME
#undef TEXT
#undef TYPE
#undef VALUE
#undef SAME
#undef ORDERED

#define NAME test_real_16
#define TEXT 'real_16'
#define TYPE real(16)
#define VALUE(N_) real(N_, 16)
#define SAME ==
#define ORDERED
#include "reduction_test.inc"
#undef NAME
#undef TEXT
#undef TYPE
#undef VALUE
#undef SAME
#undef ORDERED

#define NAME test_complex_4
#define TEXT 'complex_4'
#define TYPE complex(4)
#define VALUE(N_) cmplx(N_, -N_, 4)
#define SAME ==
#include "reduction_test.inc"
#undef NAME
#undef TEXT
#undef TYPE
#undef VALUE
#undef SAME

#define NAME test_complex_8
#define TEXT 'complex_8'
#define TYPE complex(8)
#define VALUE(N_) cmplx(N_, -N_, 8)
#define SAME ==
#include "reduction_test.inc"
#undef NAME
#undef TEXT
#undef TYPE
#undef VALUE
#undef SAME

#define NAME test_complex_16
#define TEXT 'complex_16'
#define TYPE complex(16)
#define VALUE(N_) cmplx(N_, -N_, 16)
#define SAME ==
#include "reduction_test.inc"
#undef NAME
#undef TEXT
#undef TYPE
#undef VALUE
#undef SAME

end module collective_tests
