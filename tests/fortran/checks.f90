! Helpers of the tests: counting failures, and random numbers from a seed. Every rank runs every test. A rank
! that finds a failure goes on, so that it takes part in the collective calls of the others.
module checks
  use, intrinsic :: iso_fortran_env, only: error_unit, int64
  use rma
  implicit none
  private
  public :: group_begins, expect, expect_success, expect_failure, seed_draws, draw, failures

  integer :: failures = 0
  integer(int64) :: seed = 20, state = 1
  character(len=32) :: group = ''
  integer, parameter :: shown = 5

contains

  ! Reads the seed: LIBRMA_TEST_SEED, else always the same.
  subroutine group_begins(name)
    character(len=*), intent(in) :: name
    character(len=32) :: text
    integer :: status
    group = name
    call get_environment_variable('LIBRMA_TEST_SEED', text, status=status)
    if (status == 0) read (text, *) seed
    if (rma_rank() == 0) print '(a, i0)', 'LIBRMA_TEST_SEED=', seed
  end subroutine group_begins

  subroutine expect(good, what)
    logical, intent(in) :: good
    character(len=*), intent(in) :: what
    if (good) return
    failures = failures + 1
    if (failures > shown) return
    write (error_unit, '(a, i0, a, i0, 5a, i0, a)') 'rank ', rma_rank(), ' of ', rma_size(), ', ', &
      trim(group), ': ', trim(what), ' (LIBRMA_TEST_SEED=', seed, ')'
  end subroutine expect

  subroutine expect_success(stat, errmsg, what)
    integer, intent(in) :: stat
    character(len=*), intent(in) :: errmsg, what
    if (stat /= RMA_SUCCESS) call expect(.false., what // ': ' // trim(errmsg))
  end subroutine expect_success

  ! Checks that the call failed with this status, and that its text has these words.
  subroutine expect_failure(stat, errmsg, expected, words)
    integer, intent(in) :: stat, expected
    character(len=*), intent(in) :: errmsg, words
    call expect(stat == expected, 'status ' // rma_strerror(stat) // ', expected ' // &
      rma_strerror(expected) // ': ' // trim(errmsg))
    call expect(index(errmsg, words) > 0, "'" // words // "' in: " // trim(errmsg))
  end subroutine expect_failure

  ! Starts draws that follow only from the seed and `key`.
  subroutine seed_draws(key)
    integer, intent(in) :: key
    integer :: skipped, ignored
    state = seed * 1000003_int64 + key + 1
    do skipped = 1, 8
      ignored = draw(0, 1)
    end do
  end subroutine seed_draws

  ! Returns a number from..to, both included. A linear congruence over 31 bits, of which the upper ones are
  ! used.
  integer function draw(from, to)
    integer, intent(in) :: from, to
    state = mod(abs(mod(state, 2147483648_int64)) * 1103515245_int64 + 12345_int64, 2147483648_int64)
    draw = from + int(mod(state / 1024, int(to - from + 1, int64)))
  end function draw
end module checks
