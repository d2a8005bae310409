! Assignments between coarrays and local arrays of other types and kinds, against the same assignments within
! an image.
module conversion_tests
  use checks, only: check
  implicit none
  private
  public :: test_conversions

  integer, parameter :: length = 5

  ! A coarray of each type, and the values that image i gives it.
  integer(1), save :: a_i1(length)[*]
  integer(2), save :: a_i2(length)[*]
  integer(4), save :: a_i4(length)[*]
  integer(8), save :: a_i8(length)[*]
  integer(16), save :: a_i16(length)[*]
  real(4), save :: a_r4(length)[*]
  real(8), save :: a_r8(length)[*]
  real(10), save :: a_r10(length)[*]
  real(16), save :: a_r16(length)[*]
  complex(4), save :: a_c4(length)[*]
  complex(8), save :: a_c8(length)[*]
  complex(16), save :: a_c16(length)[*]
  character(6), save :: narrow(3)[*]
  character(4, 4), save :: wide(3)[*]
  logical(1), save :: a_l1(length)[*]
  logical(8), save :: a_l8(length)[*]

contains

  subroutine test_conversions()
    call test_numbers()
    call test_characters()
    call test_logicals()
  end subroutine test_conversions

! Gets from `k` into another type, and puts to `r`, in the reverse order of elements.
#define GET(D,S) l_/**/D = a_/**/S(:)[k]; v_/**/S = k * numbers; w_/**/D = v_/**/S; call check(all(l_/**/D == w_/**/D), 'a conversion in a get: D S')
#define PUT(D,S) v_/**/S = me * numbers; sync all; a_/**/D(length:1:-1)[r] = v_/**/S; sync all; v_/**/S = l * numbers; w_/**/D = v_/**/S; call check(all(a_/**/D(length:1:-1) == w_/**/D), 'a conversion in a put: D S')
#define ALL_FROM(DO,S) DO(i1,S); DO(i2,S); DO(i4,S); DO(i8,S); DO(i16,S); DO(r4,S); DO(r8,S); DO(r10,S); DO(r16,S); DO(c4,S); DO(c8,S); DO(c16,S)

  subroutine test_numbers()
    real(8), parameter :: numbers(length) = [0.75d0, -1.25d0, 3.5d0, -4d0, 7.0625d0]
    integer(1) :: l_i1(length), v_i1(length), w_i1(length)
    integer(2) :: l_i2(length), v_i2(length), w_i2(length)
    integer(4) :: l_i4(length), v_i4(length), w_i4(length)
    integer(8) :: l_i8(length), v_i8(length), w_i8(length)
    integer(16) :: l_i16(length), v_i16(length), w_i16(length)
    real(4) :: l_r4(length), v_r4(length), w_r4(length)
    real(8) :: l_r8(length), v_r8(length), w_r8(length)
    real(10) :: l_r10(length), v_r10(length), w_r10(length)
    real(16) :: l_r16(length), v_r16(length), w_r16(length)
    complex(4) :: l_c4(length), v_c4(length), w_c4(length)
    complex(8) :: l_c8(length), v_c8(length), w_c8(length)
    complex(16) :: l_c16(length), v_c16(length), w_c16(length)
    integer :: me, images, k, l, r

    me = this_image()
    images = num_images()
    r = mod(me, images) + 1
    l = mod(me + images - 2, images) + 1
    k = l
    a_i1 = me * numbers
    a_i2 = me * numbers
    a_i4 = me * numbers
    a_i8 = me * numbers
    a_i16 = me * numbers
    a_r4 = me * numbers
    a_r8 = me * numbers
    a_r10 = me * numbers
    a_r16 = me * numbers
    a_c4 = me * numbers
    a_c8 = me * numbers
    a_c16 = me * numbers
    sync all
    ALL_FROM(GET,i1)
    ALL_FROM(GET,i8)
    ALL_FROM(GET,i16)
    ALL_FROM(GET,r4)
    ALL_FROM(GET,r8)
    ALL_FROM(GET,r16)
    ALL_FROM(GET,c8)
    ALL_FROM(PUT,i2)
    ALL_FROM(PUT,i4)
    ALL_FROM(PUT,r10)
    ALL_FROM(PUT,r8)
    ALL_FROM(PUT,c4)
    ALL_FROM(PUT,c16)
    ! From one image to another.
    sync all
    a_r4 = me * numbers
    sync all
    a_i8(:)[r] = a_r4(:)[me]
    sync all
    v_r4 = l * numbers
    w_i8 = v_r4
    call check(all(a_i8 == w_i8), 'a conversion between two images')
  end subroutine test_numbers

  subroutine test_characters()
    character(6) :: narrow_here(3)
    character(9) :: longer(3)
    character(2) :: shorter(3)
    character(5, 4) :: wide_here(3)
    integer :: r
    r = mod(this_image(), num_images()) + 1
    narrow = [character(6) :: 'abcdef', 'gh', '']
    wide = [4_'wxyz', 4_'uv  ', char(945, 4)//4_'1  ']
    sync all
    longer = narrow(:)[r]
    call check(all(longer == [character(9) :: 'abcdef', 'gh', '']), 'longer characters')
    shorter = narrow(:)[r]
    call check(all(shorter == [character(2) :: 'ab', 'gh', '']), 'shorter characters')
    wide_here = narrow(:)[r]
    call check(all(wide_here == [4_'abcde', 4_'gh   ', 4_'     ']), 'characters of kind 4 from kind 1')
    narrow_here = wide(:)[r]
    call check(all(narrow_here == [character(6) :: 'wxyz', 'uv', '?1']), 'characters of kind 1 from kind 4')
    sync all
    narrow(:)[r] = wide_here
    sync all
    call check(all(narrow == [character(6) :: 'abcde', 'gh', '']), 'characters put')
    sync all
    wide(:)[r] = 'm'
    sync all
    call check(all(wide == 4_'m   '), 'a character put to all elements')
    sync all
  end subroutine test_characters

  subroutine test_logicals()
    logical(8) :: l8(length)
    integer :: r
    r = mod(this_image(), num_images()) + 1
    a_l1 = [.true., .false., .false., .true., .true.]
    sync all
    l8 = a_l1(:)[r]
    call check(all(l8 .eqv. [.true._8, .false._8, .false._8, .true._8, .true._8]), &
      'logicals of kind 8 from kind 1')
    sync all
    a_l8(:)[r] = .not. a_l1
    sync all
    call check(all(a_l8 .neqv. l8), 'logicals put to another kind')
  end subroutine test_logicals

end module conversion_tests
