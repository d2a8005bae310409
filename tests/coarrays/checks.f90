! Checks, and random numbers that all images draw alike.
module checks
  use, intrinsic :: iso_fortran_env, only: error_unit, int64
  implicit none
  private
  public :: check, seed_numbers, draw, draw_range

  integer(int64) :: state = 1
  integer :: seed = 0

  ! The kinds that comparisons of logical arrays have.
  interface check
    module procedure check_default, check_1, check_8
  end interface check

contains

  ! Ends the job unless `right`. Prints the seed with which the numbers of the test were drawn.
  subroutine check_default(right, text)
    logical, intent(in) :: right
    character(*), intent(in) :: text
    if (right) return
    write (error_unit, '(a, i0, 3a, i0)') 'image ', this_image(), ': ', text, ', seed ', seed
    error stop 'a check failed'
  end subroutine check_default

  subroutine check_1(right, text)
    logical(1), intent(in) :: right
    character(*), intent(in) :: text
    call check_default(logical(right), text)
  end subroutine check_1

  subroutine check_8(right, text)
    logical(8), intent(in) :: right
    character(*), intent(in) :: text
    call check_default(logical(right), text)
  end subroutine check_8

  subroutine seed_numbers(number)
    integer, intent(in) :: number
    seed = number
    state = number
  end subroutine seed_numbers

  ! Returns a number from `least` to `most`. D. Lehmer's generator.
  integer function draw(least, most)
    integer, intent(in) :: least, most
    state = mod(state * 48271_int64 + 11, 2147483647_int64)
    draw = least + int(mod(state / 7, int(most - least + 1, int64)))
  end function draw

  ! Draws a range first : last : step of subscripts from `lower` to `upper`, of any direction. It is rarely
  ! empty.
  subroutine draw_range(lower, upper, range)
    integer, intent(in) :: lower, upper
    integer, intent(out) :: range(3)
    range(1) = draw(lower, upper)
    range(2) = draw(lower, upper)
    range(3) = draw(1, 3)
    if (range(2) < range(1) .and. draw(1, 8) > 1) range(3) = -range(3)
  end subroutine draw_range

end module checks
